import { type Static, Type } from 'typebox'
import { durationMs } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { PhoneMessage } from '../../core/sim/phone.js'
import type { Ctx } from '../../services/ctx.js'
import { createInboxWatch, LOOKED_AT } from '../../services/sim/inbox.js'
import { typingLines } from '../../services/sim/presence.js'
import { piecesOf } from '../../storage/engine/pieces.js'
import { findPhoneGroups } from '../../storage/sim/groups.js'
import { listInboxIds, readPhoneMessages } from '../../storage/sim/messages.js'
import { sendList } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { screenOf } from './phone-extras.js'
import { PhoneMessageWire, phoneMessageWire, Typing } from './phone-wire.js'
import { Params, phoneIn, sim } from './shared.js'

const MAX_WAIT_MS = 60_000
const PhoneMessages = Type.Array(PhoneMessageWire)

const Query = Type.Object({
  after: optional(integer('Only after this cursor, which an earlier answer had', { minimum: 0 })),
  limit: optional(integer('At most 1000; default 100', { minimum: 1 })),
  newest: optional(
    boolean(
      'Return the newest messages within the limit instead of the oldest; the order stays oldest first',
    ),
  ),
  direction: optional(
    oneOf<'in' | 'out'>(
      ['in', 'out'],
      'Only messages to the phone (in) or from it (out). Default: both in data, and only inbound ones in matched.',
    ),
  ),
  wait: optional(
    string(
      'Wait for a matching message for at most this time: seconds, or like 500ms or 10s; at most 60s. This is real time, even while the clock of the simulated world stands still.',
      { maxLength: 20 },
    ),
  ),
  match: optional(
    string(
      'A JavaScript regular expression that the text must match, at most 200 characters; it is applied to the first 2,000 characters of a text.',
    ),
  ),
  extract: optional(
    oneOf<'otp' | 'link' | 'regex'>(
      ['otp', 'link', 'regex'],
      'Extract something from the first 2,000 characters of the message; a message without it does not match. otp: the code of 4 to 8 digits nearest to a word like "code", or else of letters and digits, without dashes. link: the first http or https URL. regex: the first group of match, or the whole match.',
    ),
  ),
})

/** The messages on a phone, and waiting for one. Tests read codes with it. */
export function registerSimInbox(app: Routes, ctx: Ctx): void {
  const watch = createInboxWatch(ctx)
  app.addHook('preClose', async () => watch.close())

  /** Messages of one network on the wire. */
  async function show(owner: { network: string; accountId: string }, messages: readonly PhoneMessage[]) {
    const chats = await findPhoneGroups(
      ctx.db,
      messages.flatMap((message) => message.chatId ?? []),
    )
    const screen = await screenOf(ctx, owner, messages)
    return messages.map((message) => ({
      ...phoneMessageWire(message, chats.get(message.chatId ?? '')),
      ...screen(message),
    }))
  }

  app.get(
    '/sim/phones/:number/inbox',
    sim({
      operationId: 'listInbox',
      summary: 'List the messages on a phone, oldest first, or wait for one',
      description: `With wait, match or extract, the answer also has matched and extracted. Without after, matched is the newest message that matches, of the ${LOOKED_AT} newest; with after, the oldest that matches since then. The cursor of such an answer is just behind matched: give it to the next wait as after, and no message is handed out twice or left out. Without a match in time the answer is still 200, and both are null.`,
      params: Params,
      querystring: Query,
      response: {
        200: Type.Object({
          data: PhoneMessages,
          cursor: integer('For the next request, as after: behind matched, or without a search behind data'),
          typing: Typing,
          matched: optional(
            Type.Union([PhoneMessageWire, Type.Null()], {
              description: 'The matching message; null without one',
            }),
          ),
          extracted: optional(nullable('string', 'The extracted text; null without one')),
        }),
      },
    }),
    async (request, reply) => {
      const { direction, match, extract, newest = false } = request.query
      const given = request.query.after
      const after = Math.min(given ?? 0, Number.MAX_SAFE_INTEGER)
      const waitMs = waitOf(request.query)
      const { account, number } = await phoneIn(ctx, request)
      const owner = { network: account.id, accountId: account.id }
      const isSearch = waitMs !== undefined || match !== undefined || extract !== undefined
      const wanted = { after, oldest: given !== undefined, fromPhone: direction === 'out', match, extract }
      const found = isSearch
        ? await watch.find(account, number, wanted, waitMs ?? 0, (end) => reply.raw.once('close', end))
        : undefined
      const sql = ctx.db.aside(account.id)
      const messages = await listInboxIds(
        sql,
        { network: account.id, phone: number, now: ctx.clock.now(), afterId: after },
        Math.min(request.query.limit ?? 100, 1000),
        { ...(direction ? { fromPhone: direction === 'out' } : {}), newestFirst: newest },
      )
      if (newest) messages.reverse()
      const typing = await typingLines(ctx, account, number)
      const [matched = null] = found ? await show(owner, [found.message]) : []
      const rest = {
        cursor: (isSearch ? found?.message.id : messages.at(-1)?.id) ?? after,
        typing,
        ...(isSearch ? { matched, extracted: found ? (found.extracted ?? null) : null } : {}),
      }
      return sendList(reply, {
        owner: account.id,
        pieces: piecesOf(messages),
        rows: PhoneMessages,
        read: async (ids) => show(owner, await readPhoneMessages(sql, ids)),
        head: '{"data":',
        tail: () => `,${JSON.stringify(rest).slice(1)}`,
      })
    },
  )
}

function waitOf({ wait }: Static<typeof Query>): number | undefined {
  if (wait === undefined) return undefined
  const ms = durationMs(wait)
  if (ms === undefined || ms > MAX_WAIT_MS)
    throw new AppError('invalid', 'wait: must be seconds, or a time like 500ms or 10s, of at most 60s')
  return ms
}
