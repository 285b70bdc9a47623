import { createHash } from 'node:crypto'
import { overBudget } from '../../../core/accounts/budgets.js'
import { countToday, dayOf } from '../../../storage/accounts/usage.js'
import type { Sql } from '../../../storage/engine/db.js'
import { DAY_MS } from '../../../storage/messages/counts.js'

/** Refuses `more` messages of an account that has used up its day. */
export async function checkDaily(
  sql: Sql,
  accountId: string,
  limit: number,
  now: number,
  more = 1,
): Promise<void> {
  if ((await countToday(sql, accountId, now)) + more <= limit) return
  throw overBudget('daily', limit, dayOf(now) + DAY_MS - now, { mayRetry: false })
}

interface LimitedSend {
  message: { accountId: string }
  maxDaily?: number
}

/**
 * Like `checkDaily`, for all messages that a transaction is about to store. Of each account with a limit, one
 * transaction at a time counts and stores: the next one sees its messages.
 */
export async function checkDailyOnce(sql: Sql, items: readonly LimitedSend[], now: number): Promise<void> {
  const accounts = new Map<string, { limit: number; more: number }>()
  for (const { message, maxDaily: limit } of items)
    if (limit !== undefined)
      accounts.set(message.accountId, { limit, more: (accounts.get(message.accountId)?.more ?? 0) + 1 })
  // In a fixed order, so that two transactions cannot deadlock.
  for (const [accountId, { limit, more }] of [...accounts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (sql.engine === 'postgres')
      await sql.all('select pg_advisory_xact_lock($1::bigint)', [lockOf(accountId)])
    await checkDaily(sql, accountId, limit, now, more)
  }
}

function lockOf(accountId: string): string {
  return createHash('sha256').update(`daily ${accountId}`).digest().readBigInt64BE().toString()
}
