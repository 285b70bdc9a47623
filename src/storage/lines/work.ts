import type { Sql } from '../engine/db.js'
import { listValues } from '../engine/query.js'

/**
 * Lines with work that may wait unnoticed, because its hint was lost or it was committed behind a cursor: messages,
 * actions, profile changes and parked receipts. One statement for all lines; its cost grows with the lines that have
 * work, not with lines or messages, because the recursion takes one step of the index for each line.
 */
export function listLinesWithWork(sql: Sql, now: number): Promise<string[]> {
  const queued = 'from messages where next_action_at is not null and due_at is null'
  return listValues(
    sql,
    `with recursive queued (line_id) as (
       select min(line_id) ${queued}
       union all
       select (select min(line_id) ${queued} and line_id > q.line_id) from queued q where q.line_id is not null)
     select line_id from queued where line_id is not null
     union select line_id from line_actions where taken_at is null and expires_at > $1
     union select line_id from profile_requests where done_at is null
     union select line_id from parked_receipts`,
    [now],
  )
}
