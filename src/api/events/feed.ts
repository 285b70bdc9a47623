import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { createEventDesk, type Following } from '../../services/events/follow.js'
import { type Bookmark, startOf } from '../../services/events/start.js'
import type { Renderer } from '../../services/events/tail.js'
import { actorOf } from '../http/auth.js'
import { requireTime } from '../http/fields.js'
import { createOpenStreams } from '../http/open-streams.js'
import type { Routes } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'
import { createEventStream, SSE_HEADERS } from '../http/sse.js'

/** Streams of an account's events that can be resumed. */

const HEARTBEAT_MS = 15_000
const MAX_OPEN_MS = 15 * 60_000
/** Machine time: how long a stream that has ended may take to say so to a reader that takes nothing. */
const FAREWELL_MS = 5000
const MAX_WAITING_BYTES = 256 * 1024

export const Since = optional(
  string(
    'Begin in the past: after the event of this number, or at this time (ISO 8601). The header Last-Event-ID comes first',
  ),
)

export const FeedHeaders = Type.Object({
  'last-event-id': optional(string('The id of the last event that was received')),
})

/** Answers a request with the events of these types, as the renderer writes them. */
export type ServeFeed = (
  request: FastifyRequest,
  reply: FastifyReply,
  types: ReadonlySet<string>,
  bookmark: Bookmark,
) => Promise<never>

/** `mayStay` says whether the caller of an open request would still be let in. */
export function createFeed(
  app: Routes,
  ctx: Ctx,
  renderer: Renderer,
  mayStay: (request: FastifyRequest) => Promise<boolean>,
): ServeFeed {
  const streams = createOpenStreams(ctx, mayStay)
  const desk = createEventDesk(ctx, renderer)
  // A server that stops waits for its answers; these would go on for long.
  app.addHook('preClose', async () => streams.closeAll('the server stops; connect again with the last id'))

  return async (request, reply, types, bookmark) => {
    const { account, token } = actorOf(request)
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
  }
}

/** A client that comes back by itself names the last event it has and keeps its URL: the header is newer. */
export function bookmarkOf(lastEventId: string | undefined, since: string | undefined): Bookmark {
  if (lastEventId) return afterNumber('Last-Event-ID', lastEventId)
  if (since === undefined) return 'now'
  return /^[+-]?\d+$/.test(since) ? afterNumber('since', since) : { from: requireTime('since', since) }
}

function afterNumber(field: string, text: string): Bookmark {
  if (!/^\d{1,15}$/.test(text))
    throw new AppError('invalid', `${field}: must be the id of an event of this stream, a whole number`)
  return { field, after: Number(text) }
}

/** A comma-separated list of a query. */
export function namesIn(given: string | undefined): string[] {
  return (given ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
