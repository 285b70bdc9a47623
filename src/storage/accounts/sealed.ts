import type { Sql } from '../engine/db.js'
import { findValue, forUpdate } from '../engine/query.js'

/** All columns with sealed text. Each table has `account_id`, `kid` and an index on (kid, id). */
export const SEALED: readonly SealedColumn[] = [
  { table: 'erasure_keys', column: 'sealed', id: 'id' },
  { table: 'line_secrets', column: 'sealed', id: 'line_id' },
  { table: 'totp_secrets', column: 'secret', id: 'id' },
  { table: 'webhook_endpoints', column: 'sealed', id: 'id' },
  { table: 'webhook_settings', column: 'sealed', id: 'account_id' },
]

export interface SealedColumn {
  table: string
  column: string
  /** Column of the row's id. */
  id: string
}

export interface SealedRow {
  id: string
  accountId: string
  sealed: string
}

/** The seal keys in use in a table; each costs one index step, whatever the number of rows. */
export async function listKids(sql: Sql, { table }: SealedColumn): Promise<string[]> {
  const kids: string[] = []
  for (let last = ''; ; ) {
    const kid = await findValue<string>(sql, `select min(kid) from ${table} where kid > $1`, [last])
    if (!kid) return kids
    kids.push(kid)
    last = kid
  }
}

/** Number of rows that are not sealed with this key. */
export async function countOthers(sql: Sql, { table }: SealedColumn, kid: string): Promise<number> {
  return (await findValue<number>(sql, `select count(*) from ${table} where kid <> $1`, [kid])) ?? 0
}

/** Locks rows sealed with a key, in order of ids, until the transaction ends. */
export function lockSealed(
  sql: Sql,
  { table, column, id }: SealedColumn,
  kid: string,
  after: string,
  limit: number,
): Promise<SealedRow[]> {
  return sql.all(
    `select ${id} as id, account_id as "accountId", ${column} as sealed from ${table} where kid = $1 and ${id} > $2
     order by ${id} limit $3 ${forUpdate(sql)}`,
    [kid, after, limit],
  )
}

export async function saveSealed(
  sql: Sql,
  { table, column, id }: SealedColumn,
  kid: string,
  rows: readonly SealedRow[],
): Promise<void> {
  await sql.updateMany(
    table,
    { [id]: 'text' },
    { [column]: 'text', kid: 'text' },
    rows.map((row) => [row.id, row.sealed, kid]),
  )
}
