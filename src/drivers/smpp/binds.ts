import type { LineState } from '../../core/line.js'
import type { DriverClock } from '../host.js'
import type { Pdu } from './pdu.js'
import type { Reply, Request } from './requests.js'
import { type Bind, BindRefused, type Session, type Taken } from './session.js'
import { meaningOf } from './status.js'

export interface BindsOptions {
  /** One entry for each connection to be kept. */
  wanted: readonly Bind[]
  open(bind: Bind, deliver: (pdu: Pdu) => Promise<Taken>, closed: (reason: string) => void): Session
  deliver(pdu: Pdu): Promise<Taken>
  clock: DriverClock
  state(state: LineState, detail?: string): void
  /** From 0 up to 1. */
  chance(): number
}

/** The connections of a line, each of them opened again when it is lost. */
export interface Binds {
  /** Over the connection with the least to do. */
  request(pdu: Request): Promise<Reply>
  stop(): Promise<void>
}

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000

export function keepBinds(options: BindsOptions): Binds {
  const { clock } = options
  const places = options.wanted.map((bind) => ({
    bind,
    session: undefined as Session | undefined,
    isBound: false,
    failures: 0,
    cancel: () => {},
  }))
  type Place = (typeof places)[number]
  let stopping = false
  let trouble = 'not connected yet'

  function connect(place: Place) {
    if (stopping) return
    const session = options.open(place.bind, options.deliver, (reason) => lost(place, session, reason))
    place.session = session
    session.bound.then(
      () => {
        place.isBound = true
        place.failures = 0
        tell()
      },
      (error: Error) => {
        if (error instanceof BindRefused) trouble = error.message
        if (error instanceof BindRefused && isFinal(error.status)) place.failures = 99
      },
    )
  }

  function lost(place: Place, session: Session, reason: string) {
    if (place.session !== session) return
    place.session = undefined
    place.isBound = false
    if (stopping) return
    trouble = reason
    tell()
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(place.failures++, 10))
    // Between half of it and all: many that lost one carrier do not come back in one moment.
    place.cancel = clock.after(longest * (0.5 + options.chance() / 2), () => connect(place))
  }

  function tell() {
    const bound = places.filter((place) => place.isBound)
    const canSend = bound.some(({ bind }) => bind !== 'receiver')
    if (!canSend) options.state('OFFLINE', trouble)
    else if (bound.length < places.length) options.state('DEGRADED', trouble)
    else options.state('ONLINE')
  }

  for (const place of places) connect(place)

  return {
    request(pdu) {
      let best: Session | undefined
      for (const { session, isBound, bind } of places) {
        if (!session || !isBound || bind === 'receiver') continue
        if (!best || session.load() < best.load()) best = session
      }
      return best ? best.request(pdu) : Promise.resolve({ answer: undefined, left: false, reason: trouble })
    },
    async stop() {
      stopping = true
      for (const place of places) place.cancel()
      await Promise.all(places.map((place) => place.session?.stop()))
    },
  }
}

/** A wrong password does not become right by trying again soon. */
function isFinal(status: number): boolean {
  return meaningOf(status).verdict === 'never'
}
