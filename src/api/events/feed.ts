import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { createEventDesk, type Following } from '../../services/events/follow.js'
import { type Bookmark, startOf } from '../../services/events/start.js'
import type { Renderer } from '../../services/events/tail.js'
import { actorOf } from '../http/auth.js'
import { requireTime } from '../http/fields.js'
import { createOpenStreams, type MayStay } from '../http/open-streams.js'
import { type Routes, routesOf } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'
import { createEventStream, SSE_HEADERS } from '../http/sse.js'

/** Streams of an account's events that can be resumed. */

const HEARTBEAT_MS = 15_000
const MAX_OPEN_MS = 15 * 60_000
/** Real time: how long an ended stream waits for a reader that reads nothing. */
const FAREWELL_MS = 5000
const MAX_WAITING_BYTES = 256 * 1024

/** A stream of events that a client can resume. */
export interface Feed {
  url: string
  tag: string
  operationId: string
  summary: string
  /** Description of the `event` and `data` fields of the stream, for the API document. */
  contents: string
  /** More about the stream, for the API document. */
  remark?: string
  types: string
  item: TSchema
  renderer: Renderer
  /** The events to send for these names, which the caller chose. */
  eventsOf(names: readonly string[]): ReadonlySet<string>
}

export function registerFeed(app: Routes, ctx: Ctx, mayStay: MayStay, feed: Feed): void {
  const serve = createFeed(app, ctx, feed.renderer, mayStay)
  app.get(
    feed.url,
    routesOf(feed.tag, { access: 'account' })({
      operationId: feed.operationId,
      summary: feed.summary,
      description: [
        `Server-sent events: \`id\` is the sequence number of the event in the account, ${feed.contents}.`,
        'The stream begins now, or after the event that the header Last-Event-ID or `since` names. It neither skips nor repeats an event.',
        'Events that are no longer stored are reported as one `recovery.gap` with `from` and `to`. A comment follows every 15 seconds; some comments carry an `id`, so that the bookmark advances while no event is sent.',
        'The stream closes after 15 minutes, when its token expires, and when the reader is too slow. Connect again with the last id.',
        'Tokens confined to some lines are refused.',
        ...(feed.remark ? [feed.remark] : []),
      ].join(' '),
      querystring: Type.Object({
        types: optional(string(feed.types)),
        since: optional(
          string(
            'Begin in the past: after the event with this sequence number, or at this time (ISO 8601). The header Last-Event-ID takes precedence',
          ),
        ),
      }),
      headers: Type.Object({ 'last-event-id': optional(string('The id of the last event received')) }),
      response: {
        200: {
          description: 'Events until the stream closes',
          content: { 'text/event-stream': { schema: feed.item } },
        },
      },
    }),
    ({ query, headers }, reply) =>
      serve(reply, feed.eventsOf(namesIn(query.types)), bookmarkOf(headers['last-event-id'], query.since)),
  )
}

/** Throws when a name is unknown. */
export function checkTypes(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new AppError('invalid', `types: there is no ${unknown.join(', ')}. There are ${known.join(', ')}`)
}

/** Answers a request with the events of these types, as the renderer writes them. */
type ServeFeed = (reply: FastifyReply, types: ReadonlySet<string>, bookmark: Bookmark) => Promise<never>

function createFeed(app: Routes, ctx: Ctx, renderer: Renderer, mayStay: MayStay): ServeFeed {
  const streams = createOpenStreams(ctx, mayStay)
  const desk = createEventDesk(ctx, renderer)
  // A stopping server waits for its answers, and these would stay open for minutes.
  app.addHook('preClose', async () => streams.closeAll('the server stops; connect again with the last id'))

  return async (reply, types, bookmark) => {
    const { account, token } = actorOf(reply.request)
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
    const discharge = streams.admit(reply.request, finish)

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
      // The first bytes send the response head, and tell the reader its position.
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
    // The schema describes single events of the stream.
    return reply.headers(SSE_HEADERS).send(stream.body as never)
  }
}

/** A client that reconnects keeps its URL and sends its last event as a header, so the header is newer. */
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

/** The names in a comma-separated query parameter. */
function namesIn(given: string | undefined): string[] {
  return (given ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
