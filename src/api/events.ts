import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../core/errors.js'
import { EVENT_TYPES, type Event } from '../core/event.js'
import { STREAM_TYPES } from '../core/event-stream.js'
import type { Ctx } from '../ctx.js'
import { createEventDesk, type Following } from '../services/event-follow.js'
import { type Bookmark, startOf } from '../services/event-start.js'
import { findSubjects } from '../services/event-subjects.js'
import type { Renderer } from '../services/event-tail.js'
import { actorOf } from './auth.js'
import { EventWire, envelope, gapEnvelope } from './event-wire.js'
import { requireTime } from './fields.js'
import { createOpenStreams } from './open-streams.js'
import type { Routes } from './routes.js'
import { createEventStream, eventFrame, SSE_HEADERS } from './sse.js'

const HEARTBEAT_MS = 15_000
const MAX_OPEN_MS = 15 * 60_000
/** Machine time: how long a stream that has ended may take to say so to a reader that takes nothing. */
const FAREWELL_MS = 5000
const MAX_WAITING_BYTES = 256 * 1024

/** `mayStay` says whether the caller of an open request would still be let in. */
export function registerEvents(
  app: Routes,
  ctx: Ctx,
  mayStay: (request: FastifyRequest) => Promise<boolean>,
): void {
  const streams = createOpenStreams(ctx, mayStay)
  const desk = createEventDesk(ctx, createRenderer(ctx))

  app.get(
    '/api/v2/events',
    {
      config: { access: 'account' },
      schema: {
        tags: ['Events'],
        summary: 'Follow what happens in the account',
        description: [
          'Server-sent events: `id` is the number of the event in the account, `event` its type, `data` the envelope.',
          'Begins now, or after the event that the header Last-Event-ID or `since` names: nothing is lost in between and nothing comes twice.',
          'What is no longer kept is told as one `recovery.gap`. A comment every 15 seconds; some comments carry an `id`, so that the bookmark moves on when nothing is sent.',
          'The stream is closed after 15 minutes and with its token; a reader that is too slow is cut off. Connect again with the last id.',
          'Tokens that are confined to some lines are refused.',
        ].join(' '),
        querystring: Type.Object({
          types: Type.Optional(
            Type.String({
              description: `Types to send, comma-separated, or all. Without: ${STREAM_TYPES.join(', ')}. There are also ${EVENT_TYPES.filter((type) => !(STREAM_TYPES as readonly string[]).includes(type)).join(', ')}`,
            }),
          ),
          since: Type.Optional(
            Type.String({
              description:
                'Begin in the past: after the event of this number, or at this time (ISO 8601). The header Last-Event-ID comes first',
            }),
          ),
        }),
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({ description: 'The id of the last event that was received' }),
          ),
        }),
        response: {
          200: {
            description: 'Events until the stream is closed',
            content: { 'text/event-stream': { schema: EventWire } },
          },
        },
      },
    },
    async (request, reply) => {
      const { account, token } = actorOf(request)
      const types = typesOf(request.query.types)
      const bookmark = bookmarkOf(request.headers['last-event-id'], request.query.since)
      let following: Following | undefined
      let sent = 0
      let cancelTimer = () => {}
      const finish = (reason: string) => {
        cancelTimer()
        stream.comment(reason)
        stream.end()
        const late = setTimeout(() => reply.raw.destroy(), FAREWELL_MS).unref()
        reply.raw.once('close', () => clearTimeout(late))
      }
      const stream = createEventStream(() => {
        cancelTimer()
        following?.stop()
        discharge()
      }, MAX_WAITING_BYTES)
      const discharge = streams.admit(request, finish)

      const endsAt = Math.min(ctx.clock.now() + MAX_OPEN_MS, token?.expiresAt ?? Number.POSITIVE_INFINITY)
      const beat = () => {
        const now = ctx.clock.now()
        cancelTimer = ctx.clock.after(Math.min(HEARTBEAT_MS, endsAt - now), () => {
          if (ctx.clock.now() >= endsAt) return finish('closed; connect again with the last id')
          const position = following?.position() ?? sent
          stream.comment('heartbeat', position > sent ? position : undefined)
          sent = Math.max(sent, position)
          beat()
        })
      }
      try {
        const after = await startOf(ctx, account.id, bookmark)
        // The first bytes: the head of the answer goes out with them, and the reader knows where it stands.
        stream.comment('open', after)
        sent = after
        following = await desk.follow(account.id, after, {
          types,
          take(bytes, seq) {
            stream.write(bytes)
            sent = seq
          },
          ready: stream.ready,
          isGone: () => stream.body.destroyed || stream.body.readableEnded,
          fail: () => finish('closed; connect again with the last id'),
        })
      } catch (error) {
        stream.body.destroy()
        throw error
      }
      if (stream.body.destroyed) following.stop()
      else beat()
      // The schema describes the events in the stream.
      return reply.headers(SSE_HEADERS).send(stream.body as never)
    },
  )
  // A server that stops waits for its answers; these would go on for long.
  app.addHook('preClose', async () => streams.closeAll('the server stops; connect again with the last id'))
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
  const names = (given ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0) return new Set(STREAM_TYPES)
  const unknown = names.filter((name) => name !== 'all' && !(EVENT_TYPES as readonly string[]).includes(name))
  if (unknown.length > 0)
    throw new AppError(
      'invalid',
      `types: there is no ${unknown.join(', ')}. There are ${EVENT_TYPES.join(', ')}`,
    )
  return new Set(names.includes('all') ? EVENT_TYPES : names)
}

/** A client that comes back by itself names the last event it has and keeps its URL: the header is newer. */
function bookmarkOf(lastEventId: string | undefined, since: string | undefined): Bookmark {
  if (lastEventId) return afterNumber('Last-Event-ID', lastEventId)
  if (since === undefined) return 'now'
  return /^[+-]?\d+$/.test(since) ? afterNumber('since', since) : { from: requireTime('since', since) }
}

function afterNumber(field: string, text: string): Bookmark {
  if (!/^\d{1,15}$/.test(text))
    throw new AppError('invalid', `${field}: must be the id of an event of this stream, a whole number`)
  return { field, after: Number(text) }
}
