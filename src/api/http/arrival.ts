import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createPulse, type Moment } from '../../base/pulse.js'
import { type Arrival, requireFresh } from '../../services/arrival.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The earliest moment at which the request may have arrived. */
    arrivedAt: Moment | null
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
export function registerArrival(app: FastifyInstance): void {
  const pulse = createPulse()
  app.addHook('onClose', async () => pulse.stop())
  app.server.on('connection', (socket: Accepted) => {
    socket[ACCEPTED] = { since: pulse.unreadSince(), beat: pulse.beats() }
  })
  app.decorateRequest('arrivedAt', null)
  app.addHook('onRequest', (request, _reply, done) => {
    const accepted = (request.raw.socket as Accepted)[ACCEPTED]
    // A new connection is read one turn of the event loop after it was accepted; a beat may fall between the two.
    const isNew = accepted !== undefined && pulse.beats() - accepted.beat <= 1
    request.arrivedAt = isNew ? accepted.since : pulse.unreadSince()
    done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    try {
      if (!SAFE.has(request.method)) requireFresh(arrivalOf(request))
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
