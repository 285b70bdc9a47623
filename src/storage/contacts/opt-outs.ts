import type { Sql } from '../engine/db.js'
import { hasChanged, listValues } from '../engine/query.js'

/** Returns whether the opt-out is new. */
export function saveOptOut(sql: Sql, accountId: string, number: string, at: number): Promise<boolean> {
  return hasChanged(
    sql,
    'insert into opt_outs (account_id, number, opted_out_at) values ($1, $2, $3) on conflict (account_id, number) do nothing',
    [accountId, number, at],
  )
}

/** Returns whether there was an opt-out. */
export function deleteOptOut(sql: Sql, accountId: string, number: string): Promise<boolean> {
  return hasChanged(sql, 'delete from opt_outs where account_id = $1 and number = $2', [accountId, number])
}

/** The numbers that have opted out. */
export async function findOptOuts(
  sql: Sql,
  pairs: readonly { accountId: string; contact: string }[],
): Promise<(accountId: string, number: string) => boolean> {
  const found = new Set<string>()
  for (const accountId of new Set(pairs.map((pair) => pair.accountId))) {
    const numbers = pairs.flatMap((pair) => (pair.accountId === accountId ? pair.contact : []))
    const list = sql.listTable(2, numbers)
    // A cross join makes SQLite look up each number instead of walking all opt-outs.
    const optedOut = await listValues<string>(
      sql,
      `select o.number from ${list.sql} cross join opt_outs o where o.account_id = $1 and o.number = j.value`,
      [accountId, list.param],
    )
    for (const number of optedOut) found.add(`${accountId} ${number}`)
  }
  return (accountId, number) => found.size > 0 && found.has(`${accountId} ${number}`)
}
