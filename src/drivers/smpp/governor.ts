import type { DriverClock } from '../host.js'
import { ANY_TURN, createTurnQueue, type Turn } from './turn.js'

/**
 * Finds the rate that a carrier accepts. The carrier shows it by throttling: the number of messages accepted
 * between two refusals is its rate. The governor stays slightly below that rate and raises it again, faster the
 * longer no refusal comes.
 */
export interface Governor {
  /** Resolves to true when one more message may be submitted, to false when its time is up. */
  turn(turn?: Turn): Promise<boolean>
  /** The carrier accepted a message. */
  accepted(): void
  /** The carrier throttled a message. */
  throttled(): void
  /** Ends all waiting turns with false. */
  stop(): void
}

/** A turn ends after this long without any message accepted by the carrier. */
const MAX_STALL_MS = 5 * 60_000
const TICK_MS = 10
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000
/** After the first refusal the rate is unknown: it doubles at this interval until the second. */
const DOUBLING_MS = 100
const RAISING_MS = 500
const FIRST_STEP_RATIO = 0.03
const SAFETY_RATIO = 0.95
/** A refusal older than this says nothing about the current rate. */
const MEASURE_WINDOW_MS = 30_000
/** Messages a second at which the limit is lifted; no carrier is this fast. */
const UNLIMITED_RATE = 20_000

interface WaitingTurn {
  turn: Turn
  resolve(mayGo: boolean): void
}

export function createGovernor(clock: DriverClock, perSecond: number): Governor {
  const limit = perSecond > 0 ? perSecond : Number.POSITIVE_INFINITY
  let rate = limit
  /** The rate before the last increase. */
  let before = 0
  /** The next increase; undefined while the rate doubles. */
  let step: number | undefined
  let tokens = 1
  let filledAt = clock.now()
  let raisedAt = clock.now()
  let pause = MIN_PAUSE_MS
  let pausedUntil = 0
  let throttledAt = Number.NEGATIVE_INFINITY
  let acceptedCount = 0
  let hasAccepted = false
  /** When the carrier last accepted a message. */
  let acceptedAt = Number.NEGATIVE_INFINITY
  let ticking = false
  let stopped = false
  const queue = createTurnQueue<WaitingTurn>()

  function fill() {
    const now = clock.now()
    if (now < filledAt) return
    // At most two ticks' worth of tokens accumulate, because carriers measure over short spans.
    const most = Math.max(1, (rate * TICK_MS * 2) / 1000)
    tokens = Math.min(most, tokens + (rate * (now - filledAt)) / 1000)
    filledAt = now
    while (rate < limit) {
      const wait = step === undefined ? DOUBLING_MS : RAISING_MS
      if (now - raisedAt < wait) return
      raisedAt += wait
      raise()
    }
  }

  function raise() {
    before = rate
    rate += step ?? rate
    if (step !== undefined) step *= 2
    if (rate >= Math.min(limit, UNLIMITED_RATE)) rate = limit
  }

  function release() {
    fill()
    const now = clock.now()
    if (hasAccepted) acceptedAt = now
    hasAccepted = false
    const isOver = ({ since, until }: Turn) =>
      until <= now || now - Math.max(since, acceptedAt) >= MAX_STALL_MS
    for (const { resolve } of queue.takeOut(isOver)) resolve(false)
    if (now < pausedUntil) return
    while (queue.size() > 0 && (rate === Number.POSITIVE_INFINITY || tokens >= 1)) {
      tokens--
      queue.next()!.resolve(true)
    }
  }

  function tick() {
    if (ticking || queue.size() === 0) return
    ticking = true
    const wait = Math.max(TICK_MS, pausedUntil - clock.now())
    clock.after(wait, () => {
      ticking = false
      release()
      tick()
    })
  }

  /** Estimates the carrier's rate from this refusal. */
  function slowDown(now: number) {
    const passed = now - throttledAt
    if (passed > MEASURE_WINDOW_MS) {
      rate = Math.max(1, Math.min(rate, acceptedCount))
      step = undefined
      return
    }
    // While the rate doubled, it was below the carrier's limit most of the time, so the previous rate is the better
    // estimate.
    const sustained = step === undefined ? before * 0.9 : 0
    const measured = (acceptedCount * 1000) / Math.max(1, passed - pause)
    rate = Math.max(1, Math.min(rate * SAFETY_RATIO, Math.max(measured * SAFETY_RATIO, sustained)))
    step = Math.max(1, rate * FIRST_STEP_RATIO)
  }

  return {
    turn(turn = ANY_TURN) {
      const now = clock.now()
      if (stopped || now >= turn.until) return Promise.resolve(false)
      if (rate === Number.POSITIVE_INFINITY && queue.size() === 0 && now >= pausedUntil)
        return Promise.resolve(true)
      return new Promise((resolve) => {
        queue.add({ turn, resolve })
        release()
        tick()
      })
    },
    accepted() {
      acceptedCount++
      hasAccepted = true
    },
    throttled() {
      const now = clock.now()
      // Requests in flight at the first refusal are refused as well; they carry no new information.
      if (now < pausedUntil) return
      if (acceptedCount > 0 || rate === Number.POSITIVE_INFINITY) {
        slowDown(now)
        pause = MIN_PAUSE_MS
        throttledAt = now
        acceptedCount = 0
      }
      // A carrier that accepts nothing is full rather than slow: wait longer, then continue at the old rate.
      else pause = Math.min(MAX_PAUSE_MS, pause * 1.5)
      tokens = 0
      pausedUntil = filledAt = raisedAt = now + pause
    },
    stop() {
      stopped = true
      for (const { resolve } of queue.takeOut(() => true)) resolve(false)
    },
  }
}
