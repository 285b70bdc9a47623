import { createKeyedTurns } from '../../../base/turns.js'
import { overBudget } from '../../../core/accounts/budgets.js'
import { isNear } from '../../../core/alerts/alert.js'
import { topics } from '../../../core/topics.js'
import { countToday, midnightOf } from '../../../storage/accounts/usage.js'
import type { Sql } from '../../../storage/engine/db.js'
import { DAY_MS } from '../../../storage/messages/counts.js'

/** Refuses `more` messages of an account that has used up its day. Hints if it is near that. */
export async function checkDaily(
  sql: Sql,
  accountId: string,
  limit: number,
  now: number,
  more = 1,
): Promise<void> {
  const used = (await countToday(sql, accountId, now)) + more
  if (isNear(used, limit)) sql.announce(topics.quotas, accountId)
  if (used <= limit) return
  throw overBudget('daily', limit, midnightOf(now) + DAY_MS - now, { mayRetry: false })
}

/**
 * Like `checkDaily`, in the transaction that stores one message: of each account with a limit one transaction at a time
 * counts and stores, so the next one sees its message.
 */
export async function checkDailyOnce(sql: Sql, accountId: string, limit: number, now: number): Promise<void> {
  if (sql.engine === 'postgres')
    await sql.one('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`daily ${accountId}`])
  await checkDaily(sql, accountId, limit, now)
}

interface OneByOne<I, O> {
  add(item: I): Promise<O>
  /** Items that were added and have no result yet. */
  size(): number
}

/**
 * Runs the items of each account one by one. A transaction with `checkDailyOnce` waits for those of other processes,
 * which may stand still, and no other account may wait with it.
 */
export function createOneByOne<I extends { message: { accountId: string } }, O>(
  run: (items: I[]) => Promise<O[]>,
): OneByOne<I, O> {
  const turns = createKeyedTurns()
  let open = 0
  return {
    async add(item) {
      open++
      try {
        const [result] = await turns.inTurn(item.message.accountId, () => run([item]))
        return result!
      } finally {
        open--
      }
    },
    size: () => open,
  }
}
