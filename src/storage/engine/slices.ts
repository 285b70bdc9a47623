import type { Db, Param, Sql } from './db.js'

/** Rows that one transaction deletes: less than 20 ms on SQLite, where every other write waits for it. */
export const SLICE = 200

export interface RowSet {
  table: string
  where: string
  params: readonly Param[]
  /** Columns that identify a row, for tables that SQLite stores without row ids. */
  key?: string
}

/** Deletes up to `SLICE` of these rows. Returns the number of deleted rows. */
export function deleteSlice(sql: Sql, { table, where, params, key }: RowSet): Promise<number> {
  const first = (column: string) => `select ${column} from ${table} where ${where} limit ${SLICE}`
  const chosen =
    key !== undefined
      ? `(${key}) in (${first(key)})`
      : sql.engine === 'sqlite'
        ? `rowid in (${first('rowid')})`
        : `ctid = any (array(${first('ctid')}))`
  return sql.run(`delete from ${table} where ${where} and ${chosen}`, params)
}

/** Deletes rows in transactions of `SLICE` rows, so that other writes come between them. */
export async function deleteInSlices(db: Db, rows: RowSet): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await db.tx((sql) => deleteSlice(sql, rows))
    total += deleted
    if (deleted < SLICE) return total
  }
}
