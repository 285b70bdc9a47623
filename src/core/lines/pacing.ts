/**
 * A line's pace as a sliding log: never more than `perSecond` sends in any one second. A token bucket of the
 * same size would let twice as many through in some windows.
 */
interface Pace {
  /** Number of messages that may go now. */
  room(now: number): number
  take(now: number): void
  /** When the next message may go; `now` if there is room. */
  nextAt(now: number): number
}

export const PACE_WINDOW_MS = 1000

export function createPace(perSecond: number, recent: number[] = []): Pace {
  if (perSecond <= 0) {
    return { room: () => Number.POSITIVE_INFINITY, take: () => {}, nextAt: (now) => now }
  }
  const slots = new Float64Array(perSecond).fill(Number.NEGATIVE_INFINITY)
  let head = 0 // the oldest slot, the next to be reused
  const take = (now: number) => {
    slots[head] = now
    head = (head + 1) % perSecond
  }
  for (const time of recent.toSorted((a, b) => a - b).slice(-perSecond)) take(time)

  return {
    take,
    room(now) {
      let free = 0
      while (free < perSecond && slots[(head + free) % perSecond]! <= now - PACE_WINDOW_MS) free++
      return free
    },
    nextAt(now) {
      return Math.max(now, slots[head]! + PACE_WINDOW_MS)
    },
  }
}

const DAY_MS = 86_400_000

/** The UTC day of a time. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY_MS)
}

/** A line's limit for each UTC day. */
export interface DailyLimit {
  /** Number of messages that may still go today. */
  room(now: number): number
  /** Counts sent messages; a negative number takes back messages that did not leave. */
  count(now: number, n: number): void
  /** When the next day begins. */
  nextAt(now: number): number
}

export function createDailyLimit(limit: number, now: number, sentToday: number): DailyLimit {
  let day = dayOf(now)
  let sent = sentToday
  const turn = (time: number) => {
    if (dayOf(time) === day) return
    day = dayOf(time)
    sent = 0
  }
  return {
    room(time) {
      turn(time)
      return Math.max(0, limit - sent)
    },
    count(time, n) {
      turn(time)
      sent = Math.max(0, sent + n)
    },
    nextAt: (time) => (dayOf(time) + 1) * DAY_MS,
  }
}
