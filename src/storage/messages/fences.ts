import type { Writes } from '../engine/db.js'

/** Conditions of a transaction, best as its last statement: it fails with MissingValue where they do not hold. */

/** These messages are all still there. */
export async function requireMessages(sql: Writes, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const list = sql.inIds(1, ids)
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where (select count(*) from messages where id in ${list.sql}) < $2`,
    [list.param, new Set(ids).size],
  )
}

/** The same by their handles. */
export async function requireHandles(sql: Writes, handles: readonly string[]): Promise<void> {
  if (handles.length === 0) return
  const list = sql.inList(1, handles)
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where (select count(*) from messages where handle in ${list.sql}) < $2`,
    [list.param, new Set(handles).size],
  )
}
