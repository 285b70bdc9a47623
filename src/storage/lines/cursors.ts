import type { Sql } from '../engine/db.js'
import { findValue } from '../engine/query.js'
import type { Lease } from './leases.js'

/** The driver's read position at the carrier, in the driver's format. */
export async function findCursor(sql: Sql, lineId: string): Promise<string | null> {
  return (await findValue<string>(sql, 'select value from line_cursors where line_id = $1', [lineId])) ?? null
}

/** Saves only while the line exists and this lease holds it; a new holder continues by itself. */
export async function saveCursor(sql: Sql, lease: Lease, value: string): Promise<void> {
  await sql.run(
    `insert into line_cursors (line_id, value)
     select lines.id, cast($3 as text) from lines join line_leases on line_leases.line_id = lines.id
     where lines.id = $1 and lines.removed_at is null and line_leases.epoch = $2
     on conflict (line_id) do update set value = excluded.value`,
    [lease.lineId, lease.epoch, value],
  )
}

export async function dropCursor(sql: Sql, lineId: string): Promise<void> {
  await sql.run('delete from line_cursors where line_id = $1', [lineId])
}
