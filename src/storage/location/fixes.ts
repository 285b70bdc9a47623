import type { Sql } from '../engine/db.js'

/** Last reported locations by number, in the carrier's format. */
export async function listFixes<T>(sql: Sql, lineId: string, number: string | null): Promise<Map<string, T>> {
  const rows = await sql.all<{ number: string; fix: string }>(
    `select number, fix from location_fixes where line_id = $1 ${number === null ? '' : 'and number = $2'} order by number`,
    [lineId, ...(number === null ? [] : [number])],
  )
  return new Map(rows.map((row) => [row.number, JSON.parse(row.fix)]))
}

export async function saveFix(sql: Sql, lineId: string, number: string, fix: unknown): Promise<void> {
  await sql.run(
    `insert into location_fixes (line_id, number, fix) values ($1, $2, $3)
     on conflict (line_id, number) do update set fix = excluded.fix`,
    [lineId, number, JSON.stringify(fix)],
  )
}

export async function deleteFix(sql: Sql, lineId: string, number: string): Promise<void> {
  await sql.run('delete from location_fixes where line_id = $1 and number = $2', [lineId, number])
}
