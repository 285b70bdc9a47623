import type { LineState } from '../../core/lines/line.js'
import type { DriverClock } from '../host.js'
import { meaningOf } from './codec/status.js'
import type { Reply, Request } from './requests.js'
import type { Bind, Session } from './session.js'
import { ANY_TURN, type Turn } from './turn.js'

export interface BindsOptions {
  /** One entry for each connection to be kept. */
  wanted: readonly Bind[]
  open(bind: Bind, closed: (reason: string, refused?: number) => void): Session
  clock: DriverClock
  state(state: LineState, detail?: string): void
  /** From 0 up to 1. */
  chance(): number
}

/** The connections of a line, each of them opened again when it is lost. */
export interface Binds {
  /** Over the connection with the least to do. What did not leave with one that broke goes over another. */
  request(pdu: Request, turn?: Turn): Promise<Reply>
  stop(): Promise<void>
}

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000
/** A wrong password does not become right by trying again soon. */
const REFUSED_WAIT_MS = 60_000
/** Until the carrier has noticed that an earlier connection is gone. */
const ALREADY_BOUND_WAIT_MS = 10_000
const ALREADY_BOUND = 0x05
const BIND_FAILED = 0x0d
/** A connection that did not last so long is no better than one that failed. */
const LASTING_MS = 10_000

interface Place {
  bind: Bind
  session: Session | undefined
  /** Since when it is bound. */
  boundAt: number | undefined
  failures: number
  cancel(): void
}

export function keepBinds(options: BindsOptions): Binds {
  const { clock } = options
  const places = options.wanted.map(
    (bind): Place => ({ bind, session: undefined, boundAt: undefined, failures: 0, cancel: () => {} }),
  )
  const senders = places.filter(({ bind }) => bind !== 'receiver')
  let stopping = false
  let trouble = 'not connected yet'
  let waiting: (() => void)[] = []

  function connect(place: Place) {
    if (stopping) return
    let session: Session | undefined
    try {
      session = options.open(place.bind, (reason, refused) => {
        if (place.session === session) lost(place, reason, refused)
      })
    } catch (error) {
      // Settings that no connection can be made with, such as a certificate that is none.
      return lost(place, (error as Error).message)
    }
    place.session = session
    session.bound.then(
      () => {
        place.boundAt = clock.now()
        tell()
      },
      () => {},
    )
  }

  function lost(place: Place, reason: string, refused?: number) {
    const lasted = place.boundAt === undefined ? 0 : clock.now() - place.boundAt
    place.session = undefined
    place.boundAt = undefined
    if (stopping) return wake()
    if (lasted >= LASTING_MS) place.failures = 0
    trouble = reason
    place.cancel = clock.after(waitAfter(place.failures++, refused, options.chance()), () => connect(place))
    tell()
  }

  function tell() {
    const bound = places.filter(({ boundAt }) => boundAt !== undefined)
    const canSend = bound.some(({ bind }) => bind !== 'receiver')
    // Those that are being opened for the first time are expected to come up.
    const isStarting = places.some(
      (place) => place.session && place.boundAt === undefined && place.failures === 0,
    )
    if (bound.length === places.length) options.state('ONLINE')
    else if (canSend && !isStarting) options.state('DEGRADED', trouble)
    else if (!canSend && !senders.some((place) => place.session)) options.state('OFFLINE', trouble)
    wake()
  }

  function wake() {
    for (const resolve of waiting.splice(0)) resolve()
  }

  function leastLoaded(): Place | undefined {
    let best: Place | undefined
    for (const place of senders) {
      if (place.boundAt === undefined) continue
      if (!best || place.session!.load() < best.session!.load()) best = place
    }
    return best
  }

  for (const place of places) connect(place)

  return {
    async request(pdu, turn = ANY_TURN) {
      for (;;) {
        const place = leastLoaded()
        if (place) {
          const session = place.session!
          const reply = await session.request(pdu, turn)
          if (reply.answer || reply.left || place.session === session || stopping) return reply
          continue
        }
        if (stopping || clock.now() >= turn.until || !senders.some(({ session }) => session))
          return { answer: undefined, left: false, reason: trouble }
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
    async stop() {
      stopping = true
      for (const place of places) place.cancel()
      wake()
      await Promise.all(places.map((place) => place.session?.stop()))
      waiting = []
    },
  }
}

/** Between half of it and all: many that lost one carrier do not come back in one moment. */
function waitAfter(failures: number, refused: number | undefined, chance: number): number {
  const growing = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10))
  if (refused === undefined) return growing * (0.5 + chance / 2)
  if (refused === ALREADY_BOUND) return Math.max(ALREADY_BOUND_WAIT_MS, growing) * (1 + chance / 2)
  const isFinal = refused === BIND_FAILED || meaningOf(refused).verdict === 'never'
  return (isFinal ? REFUSED_WAIT_MS : growing) * (1 + chance / 2)
}
