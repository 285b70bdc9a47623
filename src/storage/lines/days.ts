import type { Sql, Writes } from '../engine/db.js'
import { findValue } from '../engine/query.js'

/** Number of messages that a line sent on a day. */
export async function findSentOn(sql: Sql, lineId: string, day: number): Promise<number> {
  const text = 'select sent from line_days where line_id = $1 and day = $2'
  return (await findValue<number>(sql, text, [lineId, day])) ?? 0
}

/** Adds to the day's count; a negative number subtracts, if it is still the same day. */
export async function countSends(sql: Writes, lineId: string, day: number, n: number): Promise<void> {
  if (n < 0)
    await sql.run('update line_days set sent = sent + $3 where line_id = $1 and day = $2', [lineId, day, n])
  if (n <= 0) return
  await sql.run(
    `insert into line_days (line_id, day, sent) values ($1, $2, $3) on conflict (line_id) do update set
       sent = case when line_days.day = excluded.day then line_days.sent else 0 end + excluded.sent, day = excluded.day`,
    [lineId, day, n],
  )
}
