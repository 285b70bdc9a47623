import type { Line, PaceUnit } from './line.js'

const UNIT_MS: Record<PaceUnit, number> = { second: 1000, minute: 60_000, hour: 3_600_000 }

type Rate = Pick<Line, 'pace' | 'paceUnit'>

/**
 * How many messages may go in which time. Those of a minute or an hour are spread evenly: 100 an hour is one in 36
 * seconds.
 */
export function windowOf({ pace, paceUnit }: Rate): { size: number; ms: number } {
  if (paceUnit === 'second' || pace === 0) return { size: pace, ms: UNIT_MS.second }
  return { size: 1, ms: Math.ceil(UNIT_MS[paceUnit] / pace) }
}

/** How far back the sends of a line are looked up: they are found among those of all lines. */
const MOST_LOOK_BACK_MS = 60_000

/**
 * For how long sends of the past count. A line slower than one message a minute may send one early after another
 * process took it over.
 */
export function lookBackOf(rate: Rate): number {
  return Math.min(windowOf(rate).ms, MOST_LOOK_BACK_MS)
}

/** 0 is unlimited. */
export function perMillisecond({ pace, paceUnit }: Rate): number {
  return pace / UNIT_MS[paceUnit]
}

/** A pace in words, such as "10 messages a second" or "100 messages an hour". */
export function paceInWords({ pace, paceUnit }: Rate): string {
  return `${pace} ${pace === 1 ? 'message' : 'messages'} ${paceUnit === 'hour' ? 'an' : 'a'} ${paceUnit}`
}

/**
 * A line's pace as a sliding log: never more sends than its window has in any time of that length. A token bucket of
 * the same size would let twice as many through in some windows.
 */
interface Pace {
  /** Number of messages that may go now. */
  room(now: number): number
  take(now: number): void
  /** When the next message may go; `now` if there is room. */
  nextAt(now: number): number
}

export function createPace(rate: Rate, recent: number[] = []): Pace {
  const { size, ms } = windowOf(rate)
  if (size === 0) {
    return { room: () => Number.POSITIVE_INFINITY, take: () => {}, nextAt: (now) => now }
  }
  const slots = new Float64Array(size).fill(Number.NEGATIVE_INFINITY)
  let head = 0 // the oldest slot, the next to be reused
  const take = (now: number) => {
    slots[head] = now
    head = (head + 1) % size
  }
  for (const time of recent.toSorted((a, b) => a - b).slice(-size)) take(time)

  return {
    take,
    room(now) {
      let free = 0
      while (free < size && slots[(head + free) % size]! <= now - ms) free++
      return free
    },
    nextAt(now) {
      return Math.max(now, slots[head]! + ms)
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
