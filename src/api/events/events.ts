import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { EVENT_TYPES, type Event } from '../../core/events/event.js'
import { STREAM_TYPES } from '../../core/events/stream.js'
import type { Ctx } from '../../services/ctx.js'
import { findSubjects } from '../../services/events/subjects.js'
import type { Renderer } from '../../services/events/tail.js'
import { routesOf } from '../http/route.js'
import type { Routes } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'
import { eventFrame } from '../http/sse.js'
import { bookmarkOf, createFeed, FeedHeaders, namesIn, Since } from './feed.js'
import { EventWire, envelope, gapEnvelope } from './wire.js'

const route = routesOf('Events', { access: 'account' })

/** `mayStay` says whether the caller of an open request would still be let in. */
export function registerEvents(
  app: Routes,
  ctx: Ctx,
  mayStay: (request: FastifyRequest) => Promise<boolean>,
): void {
  const serve = createFeed(app, ctx, createRenderer(ctx), mayStay)

  app.get(
    '/api/v2/events',
    route({
      summary: 'Follow what happens in the account',
      description: [
        'Server-sent events: `id` is the number of the event in the account, `event` its type, `data` the envelope.',
        'Begins now, or after the event that the header Last-Event-ID or `since` names: nothing is lost in between and nothing comes twice.',
        'What is no longer kept is told as one `recovery.gap`. A comment every 15 seconds; some comments carry an `id`, so that the bookmark moves on when nothing is sent.',
        'The stream is closed after 15 minutes and with its token; a reader that is too slow is cut off. Connect again with the last id.',
        'Tokens that are confined to some lines are refused.',
      ].join(' '),
      querystring: Type.Object({
        types: optional(
          string(
            `Types to send, comma-separated, or all. Without: ${STREAM_TYPES.join(', ')}. There are also ${EVENT_TYPES.filter((type) => !(STREAM_TYPES as readonly string[]).includes(type)).join(', ')}`,
          ),
        ),
        since: Since,
      }),
      headers: FeedHeaders,
      response: {
        200: {
          description: 'Events until the stream is closed',
          content: { 'text/event-stream': { schema: EventWire } },
        },
      },
    }),
    (request, reply) =>
      serve(
        request,
        reply,
        typesOf(request.query.types),
        bookmarkOf(request.headers['last-event-id'], request.query.since),
      ),
  )
}

function createRenderer(ctx: Ctx): Renderer {
  const bytesOf = (wire: { type: string }, seq: number) => Buffer.from(eventFrame(wire.type, wire, seq))
  return {
    async events(accountId: string, events: readonly Event[]) {
      const account = events.length > 0 ? await ctx.directory.account(accountId) : undefined
      if (!account) return []
      const subjects = await findSubjects(ctx.db, events)
      return events.map((event) => ({
        seq: event.seq,
        type: event.type,
        bytes: bytesOf(envelope(event, subjects, account), event.seq),
      }))
    },
    gap: (gap) => ({ seq: gap.to, type: null, bytes: bytesOf(gapEnvelope(gap, ctx.clock.now()), gap.to) }),
  }
}

function typesOf(given: string | undefined): ReadonlySet<string> {
  const names = namesIn(given)
  if (names.length === 0) return new Set(STREAM_TYPES)
  const unknown = names.filter((name) => name !== 'all' && !(EVENT_TYPES as readonly string[]).includes(name))
  if (unknown.length > 0)
    throw new AppError(
      'invalid',
      `types: there is no ${unknown.join(', ')}. There are ${EVENT_TYPES.join(', ')}`,
    )
  return new Set(names.includes('all') ? EVENT_TYPES : names)
}
