import type { Sql, Writes } from '../engine/db.js'

/** Number of messages that each account sent from a line on a day. */
export async function findSentOn(sql: Sql, lineId: string, day: number): Promise<Map<string, number>> {
  const rows = await sql.all<{ account_id: string; sent: number }>(
    'select account_id, sent from line_days where line_id = $1 and day = $2',
    [lineId, day],
  )
  return new Map(rows.map(({ account_id, sent }) => [account_id, sent]))
}

/** Adds to the day's counts of accounts; negative numbers subtract, if it is still the same day. */
export async function countSends(
  sql: Writes,
  lineId: string,
  day: number,
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  // Sorted, so that two transactions never wait for each other.
  const rows = [...counts].filter(([, n]) => n !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
  await sql.insertMany(
    'line_days',
    { line_id: 'text', account_id: 'text', day: 'bigint', sent: 'bigint' },
    rows.map(([accountId, n]) => [lineId, accountId, day, n]),
    `on conflict (line_id, account_id) do update set
       sent = case when line_days.day = excluded.day and line_days.sent + excluded.sent > 0
           then line_days.sent + excluded.sent
         when excluded.sent > 0 then excluded.sent else 0 end,
       day = case when excluded.sent > 0 then excluded.day else line_days.day end
     where line_days.day = excluded.day or excluded.sent > 0`,
  )
}
