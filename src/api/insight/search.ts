import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { parseSearch } from '../../core/insight/search.js'
import type { Ctx } from '../../services/ctx.js'
import { LOOKED_AT, searchMessages } from '../../services/insight/search.js'
import { actorOf } from '../http/auth.js'
import { NextCursor, pageQuery, positionsIn, positionText } from '../http/cursor.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, optional, string } from '../http/schemas.js'
import { recordsOf } from '../messages/records.js'
import { MessageRecord } from '../messages/wire.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines' })

const LANGUAGE = [
  'Words and "phrases" are searched in the text and in error texts. Filters: to:, from:, with: (the contact) and line: take a number, a prefix with its plus, or some of its digits;',
  'group: an id; is: failed, scheduled, queued, pending, sent, delivered, received, inbound, outbound or downgraded; has: media, reply, card, location, style or error; service: imessage, rcs, whatsapp or sms; text: a word or "phrase";',
  'after: and before: an age (10m, 2h, 7d) or a time in ISO 8601. All filters must match; prefix a filter with - to exclude matches. Example: to:+1202 is:failed after:2h -has:media "your code".',
].join(' ')

export function registerSearch(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/search',
    route({
      operationId: 'searchMessages',
      summary: 'Search messages',
      description: `Newest first. ${LANGUAGE} One request searches at most ${LOOKED_AT} messages; continue with next_cursor. At most 100 requests in 10 seconds per account. A token confined to some lines searches only those lines.`,
      querystring: Type.Object({
        q: optional(string('Search text; empty matches all messages', { maxLength: 1000 })),
        ...pageQuery(200, 50),
      }),
      response: {
        200: Type.Object({
          data: Type.Array(MessageRecord),
          looked_at: integer('Number of messages searched'),
          searched_back_to: nullable('string', 'Time of the oldest message searched; null without messages'),
          next_cursor: NextCursor,
        }),
      },
    }),
    async (request) => {
      const actor = actorOf(request)
      ctx.meters.countList(`search ${actor.account.id}`, actor.account.limits)
      const { q = '', limit = 50, cursor } = request.query
      const search = parseSearch(q, ctx.clock.now())
      const place = cursor === undefined ? undefined : positionsIn(cursor, 1)[0]
      const found = await searchMessages(ctx, actor, search, place, Math.min(limit, 200))
      return {
        data: await recordsOf(ctx, actor.account, found.messages),
        looked_at: found.looked,
        searched_back_to: found.lookedBackTo === undefined ? null : formatTime(found.lookedBackTo),
        next_cursor: found.next ? positionText(found.next) : null,
      }
    },
  )
}
