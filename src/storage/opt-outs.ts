import type { Sql } from './db.js'

export async function saveOptOut(sql: Sql, accountId: string, number: string, at: number): Promise<void> {
  await sql.run(
    'insert into opt_outs (account_id, number, opted_out_at) values ($1, $2, $3) on conflict (account_id, number) do nothing',
    [accountId, number, at],
  )
}

export async function deleteOptOut(sql: Sql, accountId: string, number: string): Promise<void> {
  await sql.run('delete from opt_outs where account_id = $1 and number = $2', [accountId, number])
}

/** Which of these numbers have opted out, as `account number` pairs. */
export async function findOptOuts(
  sql: Sql,
  pairs: readonly { accountId: string; contact: string }[],
): Promise<(accountId: string, number: string) => boolean> {
  const numbers = sql.inList(1, [...new Set(pairs.map((pair) => pair.contact))])
  const accounts = sql.inList(2, [...new Set(pairs.map((pair) => pair.accountId))])
  const rows = await sql.all<{ account_id: string; number: string }>(
    `select account_id, number from opt_outs where account_id in ${accounts.sql} and number in ${numbers.sql}`,
    [numbers.param, accounts.param],
  )
  const found = new Set(rows.map((row) => `${row.account_id} ${row.number}`))
  return (accountId, number) => found.size > 0 && found.has(`${accountId} ${number}`)
}
