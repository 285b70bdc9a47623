import type { LineState } from '../../core/lines/line.js'
import type { DriverClock } from '../host.js'
import { meaningOf } from './codec/status.js'
import type { Reply, Request } from './requests.js'
import type { Bind, Session } from './session.js'
import { ANY_TURN, type Turn } from './turn.js'

export interface BindsOptions {
  /** One entry for each connection to keep open. */
  wanted: readonly Bind[]
  open(bind: Bind, closed: (reason: string, refused?: number) => void): Session
  clock: DriverClock
  state(state: LineState, detail?: string): void
  /** Random number from 0 to 1. */
  chance(): number
}

/** The connections of a line; a lost connection is opened again. */
export interface Binds {
  /**
   * Sends over the connection with the smallest load. A request that did not leave before its connection broke goes
   * over another.
   */
  request(pdu: Request, turn?: Turn): Promise<Reply>
  stop(): Promise<void>
}

const MIN_WAIT_MS = 1000
const MAX_WAIT_MS = 60_000
/** Retrying a refused login soon would not help. */
const REFUSED_WAIT_MS = 60_000
/** Gives the carrier time to notice that the earlier connection is gone. */
const ALREADY_BOUND_WAIT_MS = 10_000
const ALREADY_BOUND = 0x05
const BIND_FAILED = 0x0d
/** A connection that breaks sooner counts as a failed attempt. */
const MIN_LIFETIME_MS = 10_000

interface BindSlot {
  bind: Bind
  session: Session | undefined
  /** Time of the bind; undefined while not bound. */
  boundAt: number | undefined
  failures: number
  cancel(): void
}

export function keepBinds(options: BindsOptions): Binds {
  const { clock } = options
  const slots = options.wanted.map(
    (bind): BindSlot => ({ bind, session: undefined, boundAt: undefined, failures: 0, cancel: () => {} }),
  )
  const senders = slots.filter(({ bind }) => bind !== 'receiver')
  let stopping = false
  let trouble = 'not connected yet'
  let waiting: (() => void)[] = []

  function connect(slot: BindSlot) {
    if (stopping) return
    let session: Session | undefined
    try {
      session = options.open(slot.bind, (reason, refused) => {
        if (slot.session === session) handleLoss(slot, reason, refused)
      })
    } catch (error) {
      // Unusable settings, such as an invalid certificate.
      return handleLoss(slot, (error as Error).message)
    }
    slot.session = session
    session.bound.then(
      () => {
        slot.boundAt = clock.now()
        reportState()
      },
      () => {},
    )
  }

  function handleLoss(slot: BindSlot, reason: string, refused?: number) {
    const lasted = slot.boundAt === undefined ? 0 : clock.now() - slot.boundAt
    slot.session = undefined
    slot.boundAt = undefined
    if (stopping) return wake()
    if (lasted >= MIN_LIFETIME_MS) slot.failures = 0
    trouble = reason
    slot.cancel = clock.after(waitAfter(slot.failures++, refused, options.chance()), () => connect(slot))
    reportState()
  }

  function reportState() {
    const bound = slots.filter(({ boundAt }) => boundAt !== undefined)
    const canSend = bound.some(({ bind }) => bind !== 'receiver')
    // Connections in their first attempt are expected to come up.
    const isStarting = slots.some((slot) => slot.session && slot.boundAt === undefined && slot.failures === 0)
    if (bound.length === slots.length) options.state('ONLINE')
    else if (canSend && !isStarting) options.state('DEGRADED', trouble)
    else if (!canSend && !senders.some((slot) => slot.session)) options.state('OFFLINE', trouble)
    wake()
  }

  function wake() {
    for (const resolve of waiting.splice(0)) resolve()
  }

  function leastLoaded(): BindSlot | undefined {
    let best: BindSlot | undefined
    for (const slot of senders) {
      if (slot.boundAt === undefined) continue
      if (!best || slot.session!.load() < best.session!.load()) best = slot
    }
    return best
  }

  for (const slot of slots) connect(slot)

  return {
    async request(pdu, turn = ANY_TURN) {
      for (;;) {
        const slot = leastLoaded()
        if (slot) {
          const session = slot.session!
          const reply = await session.request(pdu, turn)
          if (reply.answer || reply.left || slot.session === session || stopping) return reply
          continue
        }
        if (stopping || clock.now() >= turn.until || !senders.some(({ session }) => session))
          return { answer: undefined, left: false, reason: trouble }
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
    async stop() {
      stopping = true
      for (const slot of slots) slot.cancel()
      wake()
      await Promise.all(slots.map((slot) => slot.session?.stop()))
      waiting = []
    },
  }
}

/** Random jitter, so that many lines that lost one carrier do not reconnect at the same moment. */
function waitAfter(failures: number, refused: number | undefined, chance: number): number {
  const growing = Math.min(MAX_WAIT_MS, MIN_WAIT_MS * 2 ** Math.min(failures, 10))
  if (refused === undefined) return growing * (0.5 + chance / 2)
  if (refused === ALREADY_BOUND) return Math.max(ALREADY_BOUND_WAIT_MS, growing) * (1 + chance / 2)
  const isFinal = refused === BIND_FAILED || meaningOf(refused).verdict === 'never'
  return (isFinal ? REFUSED_WAIT_MS : growing) * (1 + chance / 2)
}
