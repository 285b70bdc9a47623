import { createBoundedMap } from '../../base/bounded-map.js'
import type { Clock } from '../../base/clock.js'
import { createLimiter } from '../../base/limiter.js'
import type { Config } from '../../config.js'
import { type LimitedAccount, type Limits, overBudget, payerOf } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'

/** Counts in memory what accounts use of this process, and refuses what goes over a budget. */
export interface Meters {
  countRequest(account: LimitedAccount): void
  /** Counts a list or a search. `name` is the account, or what is counted beside it. */
  countList(name: string, limits: Limits): void
  /** Counts bytes in memory until they are released. Null: the request has no account, only the process counts. */
  hold(account: LimitedAccount | null, bytes: number): Held
  /** Returns the function to call when the stream ends. */
  openStream(account: LimitedAccount): () => void
  used(account: LimitedAccount): { requests: number; lists: number; memory: number; streams: number }
}

export interface Held {
  grow(bytes: number): void
  release(): void
}

/** Accounts whose rate is remembered. A forgotten account starts with its full allowance of one second. */
const ACCOUNTS_KEPT = 10_000
const LIST_WINDOW_MS = 10_000

export function createMeters(
  { clock, config }: { clock: Clock; config: Pick<Config, 'maxBytesInFlight'> },
  liveNodes: () => number,
): Meters {
  const allowances = createBoundedMap<string, { left: number; at: number }>(ACCOUNTS_KEPT)
  const lists = createLimiter(Number.POSITIVE_INFINITY, LIST_WINDOW_MS, clock.now)
  const memory = createCounts()
  const streams = createCounts()
  let held = 0
  /** This process's part of a rate. */
  const share = (limit: number) => limit / liveNodes()

  return {
    countRequest(account) {
      const payer = payerOf(account)
      const limit = share(account.limits.requests)
      const now = performance.now()
      let allowance = allowances.get(payer)
      if (!allowance) {
        allowance = { left: limit, at: now }
        allowances.set(payer, allowance)
      }
      // Tests set this clock back.
      const passed = Math.max(0, now - allowance.at)
      allowance.left = Math.min(limit, allowance.left + (passed * limit) / 1000)
      allowance.at = now
      if (allowance.left < 1)
        throw overBudget('requests', account.limits.requests, ((1 - allowance.left) * 1000) / limit)
      allowance.left--
    },
    countList(name, limits) {
      const wait = lists.take(name, Math.floor(share(limits.lists)) || Math.min(1, limits.lists))
      if (wait > 0) throw overBudget('lists', limits.lists, wait)
    },
    hold(account, first) {
      const payer = account && payerOf(account)
      let own = 0
      const hold = {
        grow(bytes: number) {
          if (account && memory.of(payer!) + bytes > account.limits.memory)
            throw overBudget('memory', account.limits.memory)
          if (held + bytes > config.maxBytesInFlight) throw processFull()
          own += bytes
          held += bytes
          if (payer) memory.add(payer, bytes)
        },
        release() {
          held -= own
          if (payer) memory.add(payer, -own)
          own = 0
        },
      }
      hold.grow(first)
      return hold
    },
    openStream(account) {
      const payer = payerOf(account)
      if (streams.of(payer) >= account.limits.streams) throw overBudget('streams', account.limits.streams)
      streams.add(payer, 1)
      let isOpen = true
      return () => {
        if (isOpen) streams.add(payer, -1)
        isOpen = false
      }
    },
    used(account) {
      const payer = payerOf(account)
      const { left, at } = allowances.get(payer) ?? { left: Number.POSITIVE_INFINITY, at: 0 }
      const limit = share(account.limits.requests)
      const now = Math.min(limit, left + (Math.max(0, performance.now() - at) * limit) / 1000)
      return {
        requests: Math.round(limit - now),
        lists: lists.count(account.id),
        memory: memory.of(payer),
        streams: streams.of(payer),
      }
    },
  }
}

/** Numbers by name. A name whose number is 0 takes no room. */
function createCounts() {
  const counts = new Map<string, number>()
  const of = (name: string) => counts.get(name) ?? 0
  return {
    of,
    add(name: string, n: number) {
      const sum = of(name) + n
      if (sum > 0) counts.set(name, sum)
      else counts.delete(name)
    },
  }
}

function processFull(): AppError {
  return new AppError(
    'unavailable',
    'The server holds as many bytes of requests as it may (TRUNKLINE_MAX_BYTES_IN_FLIGHT). Try again.',
    { retryAfterMs: 1000 },
  )
}
