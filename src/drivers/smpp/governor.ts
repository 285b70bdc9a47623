import type { DriverClock } from '../host.js'

/**
 * How fast a carrier lets us submit. It tells us by refusing; then we take what it took of late as its measure,
 * stay a little below, and feel our way up again.
 */
export interface Governor {
  /** Resolves when one more may be submitted. */
  turn(): Promise<void>
  /** The carrier took one. */
  took(): void
  /** The carrier said "slower". */
  refused(): void
}

const TICK_MS = 10
const PAUSE_MS = 200
/** Refusals of one burst count once. */
const BURST_MS = 400
const DOWN = 0.9
const UP = 1.03
const MEASURED_MS = 1000

export function createGovernor(clock: DriverClock, perSecond: number): Governor {
  const limit = perSecond > 0 ? perSecond : Number.POSITIVE_INFINITY
  let rate = limit
  let tokens = 1
  let filledAt = clock.now()
  let pausedUntil = 0
  let refusedAt = Number.NEGATIVE_INFINITY
  let raisedAt = clock.now()
  let windowAt = clock.now()
  let taken = 0
  let takenBefore = 0
  let ticking = false
  const queue: (() => void)[] = []

  function measure() {
    const passed = clock.now() - windowAt
    if (passed < MEASURED_MS) return
    takenBefore = passed < 2 * MEASURED_MS ? taken : 0
    taken = 0
    windowAt = clock.now()
  }

  function fill() {
    const now = clock.now()
    // No more than a tick's worth is saved up: a carrier counts in short spans.
    const most = Math.max(1, (rate * TICK_MS * 2) / 1000)
    tokens = Math.min(most, tokens + (rate * (now - filledAt)) / 1000)
    filledAt = now
    if (rate < limit && now - raisedAt >= 1000) {
      rate = Math.min(limit, rate * UP + 1)
      raisedAt = now
    }
  }

  function release() {
    fill()
    if (clock.now() < pausedUntil) return
    while (queue.length > 0 && (tokens >= 1 || rate === Number.POSITIVE_INFINITY)) {
      tokens--
      queue.shift()!()
    }
  }

  function tick() {
    if (ticking || queue.length === 0) return
    ticking = true
    const wait = Math.max(TICK_MS, pausedUntil - clock.now())
    clock.after(wait, () => {
      ticking = false
      release()
      tick()
    })
  }

  return {
    turn() {
      if (rate === Number.POSITIVE_INFINITY && queue.length === 0 && clock.now() >= pausedUntil)
        return Promise.resolve()
      return new Promise((resolve) => {
        queue.push(resolve)
        release()
        tick()
      })
    },
    took() {
      measure()
      taken++
    },
    refused() {
      measure()
      const now = clock.now()
      if (now - refusedAt < BURST_MS) return
      refusedAt = now
      raisedAt = now
      const known = Math.max(taken, takenBefore)
      rate = Math.max(1, Math.min(rate, known) * DOWN)
      tokens = 0
      filledAt = now
      pausedUntil = now + PAUSE_MS
    },
  }
}
