import type { DriverClock } from '../host.js'
import { ANY_TURN, createTurnQueue, type Turn } from './turn.js'

/**
 * How fast a carrier lets us submit. It tells us by refusing: what it took between one refusal and the next is its
 * measure. We stay a little below that, and feel our way up again, faster the longer it does not refuse.
 */
export interface Governor {
  /** Resolves when one more may be submitted; false when it waits in vain. */
  turn(turn?: Turn): Promise<boolean>
  /** The carrier took one. */
  took(): void
  /** The carrier said "slower". */
  refused(): void
  /** Nobody is let through any more. */
  stop(): void
}

/** How long one waits for a carrier that takes nothing at all. */
const PATIENCE_MS = 5 * 60_000
const TICK_MS = 10
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
/** After a first refusal nothing is known yet: the rate doubles so often until the second. */
const DOUBLING_MS = 100
const RAISING_MS = 500
const FIRST_STEP = 0.03
const BELOW = 0.95
/** An older refusal measures nothing. */
const MEASURE_MS = 30_000
/** Faster than any carrier: no limit. */
const FREE = 20_000

interface Waiting {
  turn: Turn
  resolve(mayGo: boolean): void
}

export function createGovernor(clock: DriverClock, perSecond: number): Governor {
  const limit = perSecond > 0 ? perSecond : Number.POSITIVE_INFINITY
  let rate = limit
  /** The rate before it was last raised. */
  let before = 0
  /** By how much it is raised next; undefined while it doubles. */
  let step: number | undefined
  let tokens = 1
  let filledAt = clock.now()
  let raisedAt = clock.now()
  let pause = FIRST_PAUSE_MS
  let pausedUntil = 0
  let refusedAt = Number.NEGATIVE_INFINITY
  let taken = 0
  let hasTaken = false
  /** When it was last seen to take something. */
  let takingAt = Number.NEGATIVE_INFINITY
  let ticking = false
  let stopped = false
  const queue = createTurnQueue<Waiting>()

  function fill() {
    const now = clock.now()
    if (now < filledAt) return
    // No more than two ticks' worth is saved up: a carrier counts in short spans.
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
    if (rate >= Math.min(limit, FREE)) rate = limit
  }

  function release() {
    fill()
    const now = clock.now()
    if (hasTaken) takingAt = now
    hasTaken = false
    const isVain = ({ since, until }: Turn) => until <= now || now - Math.max(since, takingAt) >= PATIENCE_MS
    for (const { resolve } of queue.takeOut(isVain)) resolve(false)
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

  /** What the carrier takes, as far as this refusal tells. */
  function slowDown(now: number) {
    const passed = now - refusedAt
    if (passed > MEASURE_MS) {
      rate = Math.max(1, Math.min(rate, taken))
      step = undefined
      return
    }
    // While it doubled, the carrier was not asked for all it takes: then what it took before is the better measure.
    const sustained = step === undefined ? before * 0.9 : 0
    const measured = (taken * 1000) / Math.max(1, passed - pause)
    rate = Math.max(1, Math.min(rate * BELOW, Math.max(measured * BELOW, sustained)))
    step = Math.max(1, rate * FIRST_STEP)
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
    took() {
      taken++
      hasTaken = true
    },
    refused() {
      const now = clock.now()
      // What was under way when the carrier refused one is refused as well: that is nothing new.
      if (now < pausedUntil) return
      if (taken > 0 || rate === Number.POSITIVE_INFINITY) {
        slowDown(now)
        pause = FIRST_PAUSE_MS
        refusedAt = now
        taken = 0
      }
      // One that takes nothing at all is full, not slow: it gets more time, and then its old rate.
      else pause = Math.min(LONGEST_PAUSE_MS, pause * 1.5)
      tokens = 0
      pausedUntil = filledAt = raisedAt = now + pause
    },
    stop() {
      stopped = true
      for (const { resolve } of queue.takeOut(() => true)) resolve(false)
    },
  }
}
