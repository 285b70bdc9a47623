import { inTime } from '../../base/in-time.js'
import { maskPath } from '../../core/requests/mask.js'
import { type AnsweredCall, type LoggedRequest, STRANGERS } from '../../core/requests/request.js'
import { isStorageFault } from '../../storage/engine/db.js'
import {
  insertRequests,
  removeRequestsBefore,
  removeRequestsBeyond,
} from '../../storage/requests/requests.js'
import type { Platform, RequestLog } from '../ctx.js'
import { createWaitingCalls } from './waiting.js'

const WRITE_MS = 1000
/** A statement of this many rows takes a few milliseconds. */
const ROWS_AT_ONCE = 500
const STOP_MS = 2000
const DAY_MS = 24 * 3_600_000

/** Rows of one account, and of strangers: a flood of calls must not fill the disk. */
export const MAX_STORED = 250_000
export const MAX_STORED_OF_STRANGERS = 10_000
/** Written rows after which an account's are counted. */
const COUNT_AFTER = 5000

export function createRequestLog({
  db,
  config,
  clock,
  loops,
  metrics,
}: Pick<Platform, 'db' | 'config' | 'clock' | 'loops' | 'metrics'>): RequestLog {
  const waiting = createWaitingCalls<AnsweredCall>((dropped) => metrics.requestsDropped.inc(dropped))
  /** By account, since its rows were last counted. */
  const written = new Map<string, number>()
  let isDue = false

  async function write() {
    isDue = false
    const calls = waiting.takeAll()
    for (let from = 0; from < calls.length; from += ROWS_AT_ONCE) {
      const part = calls.slice(from, from + ROWS_AT_ONCE)
      try {
        const rows = part.map(({ url, ...call }): LoggedRequest => ({ ...call, path: maskPath(url) }))
        await db.write((sql) => insertRequests(sql, rows))
      } catch (error) {
        const isLost = !isStorageFault(error)
        if (isLost) metrics.requestsDropped.inc(part.length)
        waiting.putBack(calls.slice(isLost ? from + ROWS_AT_ONCE : from))
        throw error
      }
      for (const { accountId } of part) written.set(accountId, (written.get(accountId) ?? 0) + 1)
    }
  }

  const loop = loops.create('request log', write)

  const flush = () => loop.run().catch(() => {})

  return {
    note(call) {
      waiting.add(call)
      if (isDue) return
      isDue = true
      clock.after(WRITE_MS, loop.ask)
    },
    flush,
    async removeOld() {
      await removeRequestsBefore(db, Date.now() - config.requestDays * DAY_MS)
      for (const [accountId, rows] of written) {
        const kept = accountId === STRANGERS ? MAX_STORED_OF_STRANGERS : MAX_STORED
        if (rows < Math.min(COUNT_AFTER, kept)) continue
        await removeRequestsBeyond(db, accountId, kept)
        written.delete(accountId)
      }
    },
    async stop() {
      // A database that does not answer must not keep the process.
      await inTime(flush(), STOP_MS, 'the request log was not written').catch(() => {})
      void loop.stop()
    },
  }
}
