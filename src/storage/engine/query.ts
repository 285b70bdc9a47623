import type { Param, Reads, Sql } from './db.js'

/** The only column of the first row; undefined if there is no row or its value is null. */
export async function findValue<V extends Param>(
  sql: Reads,
  text: string,
  params?: readonly Param[],
): Promise<V | undefined> {
  const row = await sql.one<Record<string, V>>(text, params)
  return row && (Object.values(row)[0] ?? undefined)
}

/** The only column of all rows. */
export async function listValues<V extends Param>(
  sql: Reads,
  text: string,
  params?: readonly Param[],
): Promise<V[]> {
  const rows = await sql.all<Record<string, V>>(text, params)
  return rows.map((row) => Object.values(row)[0]!)
}

export async function exists(sql: Reads, text: string, params: readonly Param[]): Promise<boolean> {
  return (await sql.one(text, params)) !== undefined
}

/** Runs a statement; returns whether it changed a row. */
export async function hasChanged(sql: Sql, text: string, params: readonly Param[]): Promise<boolean> {
  return (await sql.run(text, params)) > 0
}

/** Locks the selected rows until the commit. SQLite runs one transaction at a time and needs no lock. */
export function forUpdate(sql: Pick<Sql, 'engine'>): string {
  return sql.engine === 'postgres' ? 'for update' : ''
}

/**
 * Call it after a read whose result is told to a client as stored: the commit then waits until a synchronous standby
 * has everything that was read. A commit whose own wait was cancelled can be read, but a failover would lose it.
 */
export async function confirmReads(sql: Sql): Promise<void> {
  if (sql.engine === 'postgres') await sql.run("select pg_logical_emit_message(true, 'trunkline', '')")
}
