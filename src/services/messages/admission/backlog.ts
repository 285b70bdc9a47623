import { createBoundedMap } from '../../../base/bounded-map.js'
import { DEFAULT_LIMITS, dailyLimitOf } from '../../../core/accounts/budgets.js'
import { perMillisecond } from '../../../core/lines/pacing.js'
import { listBacklogs } from '../../../storage/messages/counts.js'
import type { Backlog, Ctx, QueuePlace as Place, QueueState } from '../../ctx.js'

interface Entry {
  /** Stored messages that wait. */
  stored: number
  /** Messages that are being stored; a total that is read may not have them. */
  joining: number
  limit: number
  maxDaily: number | undefined
  /** Messages that have left since there are totals. */
  gone: number
  /** Messages for each millisecond while there were some; 0: not measured. */
  rate: number
  /** Since when the line is busy with the next message, by the world's clock. */
  busySince: number | undefined
  readAt: number
  version: number
  reading: Promise<void> | undefined
}

const ENTRIES_KEPT = 10_000
/** How long numbers hold, in real time. This process does not see the results of lines that another one drives. */
const KEEP_MS = 60_000
const KEEP_FOREIGN_MS = 2000
/** Assumed until the line was seen at work. */
const USUAL_RATE = 0.1
const SMOOTHING = 0.2

/** A result may be known before its send is settled. */
const lengthOf = ({ stored, joining }: Entry) => Math.max(0, stored + joining)

export function createBacklog(ctx: Pick<Ctx, 'db' | 'clock' | 'directory' | 'lines'>): Backlog {
  const entries = createBoundedMap<string, Entry>(ENTRIES_KEPT)

  function entryOf({ accountId, lineId }: Place): Entry {
    const key = `${accountId} ${lineId}`
    let entry = entries.get(key)
    if (!entry) {
      entry = {
        stored: 0,
        joining: 0,
        limit: 0,
        maxDaily: undefined,
        gone: 0,
        rate: 0,
        busySince: undefined,
        readAt: Number.NEGATIVE_INFINITY,
        version: -1,
        reading: undefined,
      }
      entries.set(key, entry)
    }
    return entry
  }

  /** Requests that wait for one entry share the query. */
  function read(send: Place, entry: Entry): Promise<void> {
    entry.reading ??= (async () => {
      try {
        const version = ctx.directory.version()
        const account = await ctx.directory.account(send.accountId)
        const isFirst = entry.readAt === Number.NEGATIVE_INFINITY
        const [found] = await listBacklogs(ctx.db, send.accountId, send.lineId)
        const { queued = 0, gone = 0 } = found ?? {}
        if (!isFirst && !isDrivenHere(send)) measure(entry, gone - entry.gone)
        entry.gone = gone
        entry.stored = queued
        const limits = account?.limits ?? DEFAULT_LIMITS
        entry.limit = limits.queued
        entry.maxDaily = dailyLimitOf(limits)
        entry.readAt = performance.now()
        entry.version = version
      } finally {
        entry.reading = undefined
      }
    })()
    return entry.reading
  }

  const isDrivenHere = ({ lineId }: Place) => ctx.lines.get(lineId) !== undefined

  function isFresh(send: Place, entry: Entry): boolean {
    const kept = isDrivenHere(send) ? KEEP_MS : KEEP_FOREIGN_MS
    return performance.now() - entry.readAt < kept && entry.version === ctx.directory.version()
  }

  /** The line has done `n` messages since it was last looked at. */
  function measure(entry: Entry, n: number) {
    const now = ctx.clock.now()
    if (entry.busySince !== undefined && now > entry.busySince && n > 0) {
      const rate = n / (now - entry.busySince)
      entry.rate = entry.rate === 0 ? rate : entry.rate + SMOOTHING * (rate - entry.rate)
    }
    entry.busySince = lengthOf(entry) > 0 ? now : undefined
  }

  function stateOf({ lineId }: Place, entry: Entry): QueueState {
    const length = lengthOf(entry)
    const driven = ctx.lines.get(lineId)
    const pace = driven ? perMillisecond(driven.line) : 0
    const seen = entry.rate || USUAL_RATE
    return { length, waitMs: Math.round(length / (pace > 0 ? Math.min(seen, pace) : seen)) }
  }

  return {
    refresh(send) {
      const entry = entryOf(send)
      return lengthOf(entry) < entry.limit && isFresh(send, entry) ? undefined : read(send, entry)
    },
    maxDaily: (send) => entryOf(send).maxDaily,
    join(send) {
      const entry = entryOf(send)
      if (lengthOf(entry) >= entry.limit) return undefined
      entry.busySince ??= ctx.clock.now()
      entry.joining++
      return stateOf(send, entry)
    },
    settle(send, waits) {
      const entry = entryOf(send)
      entry.joining = Math.max(0, entry.joining - 1)
      // A total that was read in between may have the message already; it is read again before a refusal.
      if (waits) entry.stored++
    },
    finish(send, n) {
      const entry = entryOf(send)
      entry.stored -= n
      measure(entry, n)
    },
    state(send) {
      const entry = entryOf(send)
      return { ...stateOf(send, entry), limit: entry.limit }
    },
  }
}
