import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { currentMoment, elapsedMs, type Moment } from '../../base/time.js'
import { type Arrival, requireFresh } from '../../services/arrival.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The earliest moment at which the request may have arrived. */
    arrivedAt: Moment | null
    /** When it was read, in milliseconds of `performance.now()`. */
    readAt: number
  }
}

/** Set by the `sendblue` SDKs: seconds, rounded down. */
const TIMEOUT_HEADER = 'x-stainless-timeout'
/** The default of the published SDKs. */
const PATIENCE_MS = 60_000

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const ACCEPTED = Symbol('accepted')
type Accepted = Socket & { [ACCEPTED]?: { since: Moment; beat: number } }

/** Notes when requests arrived, and refuses those whose client no longer waits. */
export function registerArrival(app: FastifyInstance, pulse: Pulse): void {
  const backlog = createBacklog(pulse)
  app.addHook('onClose', async () => pulse.stop())
  app.server.on('connection', (socket: Accepted) => {
    socket[ACCEPTED] = { since: backlog.waitingSince(), beat: pulse.beats() }
  })
  app.decorateRequest('arrivedAt', null)
  app.decorateRequest('readAt', 0)
  app.addHook('onRequest', (request, _reply, done) => {
    const accepted = (request.raw.socket as Accepted)[ACCEPTED]
    // A new connection is read one turn of the event loop after it was accepted; a beat may fall between the two.
    const isNew = accepted !== undefined && pulse.beats() - accepted.beat <= 1
    request.readAt = performance.now()
    request.arrivedAt = isNew ? accepted.since : pulse.unreadSince()
    done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    try {
      // A carrier's callback is news, which counts however late it is.
      const isNews = request.routeOptions.config.verbatim
      if (!isNews && !SAFE.has(request.method)) requireFresh(arrivalOf(request))
      done()
    } catch (error) {
      done(error as Error)
    }
  })
}

export function arrivalOf({ arrivedAt, headers }: FastifyRequest): Arrival | undefined {
  if (!arrivedAt) return undefined
  const seconds = headers[TIMEOUT_HEADER]
  const isGiven = typeof seconds === 'string' && /^\d{1,6}$/.test(seconds)
  // Rounded down to 0, a time-out is anything below a second.
  return { at: arrivedAt, patienceMs: isGiven ? Math.max(1, Number(seconds)) * 1000 : PATIENCE_MS }
}

/** Knows how long bytes may have waited in a socket, also in a process that was stopped and woke up. */
export interface Pulse {
  /** Bytes that the event loop reads now arrived after this moment. */
  unreadSince(): Moment
  beats(): number
  /** Whether the process stood still just now: what it has not read yet may have arrived long ago. */
  stoodStill(): boolean
  stop(): void
}

const BEAT_MS = 250
const STILL_MS = 1000

/**
 * The kernel does not say when bytes arrived, but the event loop reads every socket between two beats of a timer. So
 * bytes that are read now arrived after the beat before the last one. After a pause that beat lies before the pause,
 * whichever comes first: the beat or the sockets.
 */
export function createPulse(): Pulse {
  let last = currentMoment()
  let before = last
  let beats = 0
  const timer = setInterval(() => {
    before = last
    last = currentMoment()
    beats++
  }, BEAT_MS).unref()
  return {
    unreadSince: () => before,
    beats: () => beats,
    stoodStill: () => elapsedMs(before) > STILL_MS,
    stop: () => clearInterval(timer),
  }
}

/** Connections that the kernel keeps for a server until it accepts them; the default of Node.js. */
const BACKLOG = 511

/**
 * Knows how long a connection may have waited to be accepted. The event loop accepts one in each of its turns, so
 * after a pause the last ones are accepted many beats later. Until a turn has none left to accept, or the whole
 * backlog is through, each may be as old as the first.
 */
function createBacklog(pulse: Pulse) {
  let since: Moment | undefined
  let accepted = 0
  let before = 0

  function look() {
    if (accepted === before || accepted >= BACKLOG) since = undefined
    else setImmediate(look)
    before = accepted
  }

  return {
    /** For the connection that is accepted now. */
    waitingSince(): Moment {
      if (!since) {
        since = pulse.unreadSince()
        accepted = 0
        before = 0
        setImmediate(look)
      }
      accepted++
      return since
    },
  }
}
