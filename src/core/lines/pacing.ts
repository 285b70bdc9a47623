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

/** A line's limit for each UTC day, divided among its accounts so that none uses up another's share. */
export interface DailyLimit {
  /** Whether one more message of an account may go today, beside messages that are about to go. */
  hasRoom(now: number, accountId: string, going: readonly { accountId: string }[]): boolean
  /** Counts sent messages by account; negative numbers take back messages that did not leave. */
  count(now: number, counts: ReadonlyMap<string, number>): void
  /** Sets how many accounts the line has. */
  divide(accounts: number): void
  /** When the next day begins. */
  nextAt(now: number): number
}

/** What each of a line's accounts may send a day. */
export function shareOf(limit: number, accounts: number): number {
  return Math.max(1, Math.floor(limit / Math.max(1, accounts)))
}

export function createDailyLimit(
  limit: number,
  now: number,
  sentToday: ReadonlyMap<string, number>,
): DailyLimit {
  let day = dayOf(now)
  let sent = new Map(sentToday)
  let share = limit
  const turn = (time: number) => {
    if (dayOf(time) === day) return
    day = dayOf(time)
    sent = new Map()
  }
  return {
    hasRoom(time, accountId, going) {
      turn(time)
      const all = [...sent.values()].reduce((sum, n) => sum + n, going.length)
      const own = going.reduce((sum, one) => sum + (one.accountId === accountId ? 1 : 0), 0)
      return all < limit && (sent.get(accountId) ?? 0) + own < share
    },
    count(time, counts) {
      turn(time)
      for (const [accountId, n] of counts) sent.set(accountId, Math.max(0, (sent.get(accountId) ?? 0) + n))
    },
    divide(accounts) {
      share = shareOf(limit, accounts)
    },
    nextAt: (time) => (dayOf(time) + 1) * DAY_MS,
  }
}
