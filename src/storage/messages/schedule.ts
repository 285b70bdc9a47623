import type { Param, Reads, Sql, Writes } from '../engine/db.js'
import { HELD_SINCE, HELD_THROUGH } from '../engine/incarnations.js'
import type { SizedRow } from '../engine/pieces.js'
import { findValue } from '../engine/query.js'

/** Without messages that may have been sent before the database was restored. */
const CERTAIN = `(id > ${HELD_THROUGH} or due_at > ${HELD_SINCE})`

export function findNextDue(sql: Sql): Promise<number | undefined> {
  return findValue(sql, `select min(due_at) from messages where due_at is not null and ${CERTAIN}`)
}

export interface SchedulePosition {
  dueAt: number
  id: number
}

export interface DueMessage extends SchedulePosition {
  accountId: string
}

/** Messages whose scheduled time has come, after this position, earliest first. */
export function listDue(
  sql: Sql,
  now: number,
  after: SchedulePosition,
  limit: number,
): Promise<DueMessage[]> {
  return sql.all(
    `select id, account_id as "accountId", due_at as "dueAt" from messages
     where due_at is not null and due_at <= $1 and (due_at, id) > ($2, $3) and ${CERTAIN} order by due_at, id limit $4`,
    [now, after.dueAt, after.id, limit],
  )
}

/** Ids and sizes of an account's scheduled messages, soonest first; optionally only on these lines. */
export async function listScheduled(
  sql: Reads,
  accountId: string,
  lineNumbers: ReadonlySet<string> | null,
  after: SchedulePosition | undefined,
  limit: number,
): Promise<(SchedulePosition & SizedRow<number>)[]> {
  const params: Param[] = [accountId, after?.dueAt ?? 0, after?.id ?? 0, limit]
  let lines = ''
  if (lineNumbers) {
    const list = sql.inList(5, [...lineNumbers])
    lines = `and line_number ${list.sql}`
    params.push(list.param)
  }
  const rows = await sql.all<SizedRow<number> & { due_at: number }>(
    `select id, due_at, octet_length(content) + coalesce(octet_length(extra), 0) as bytes
     from messages where account_id = $1 and due_at is not null and deleted_at is null
       and (due_at, id) > ($2, $3) ${lines} order by due_at, id limit $4`,
    params,
  )
  return rows.map(({ due_at: dueAt, ...row }) => ({ ...row, dueAt }))
}

/**
 * Fails the transaction with MissingValue if one of these messages is gone, for example because another process moved
 * it. On PostgreSQL an update waits for that process and then changes no row.
 */
export async function requireMessages(sql: Writes, ids: readonly number[]): Promise<void> {
  const list = sql.inIds(1, ids)
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where (select count(*) from messages where id ${list.sql}) < $2`,
    [list.param, ids.length],
  )
}

/**
 * Moves messages to the end of the queue, in this order. The queue is ordered by id, and nothing refers to the id
 * of a message without an attempt, so the messages get new ids.
 */
export async function moveToEnd(sql: Writes, ids: readonly number[]): Promise<void> {
  const next = sql.engine === 'postgres' ? 'default' : '(select max(id) + 1 from messages)'
  await Promise.all(ids.map((id) => sql.run(`update messages set id = ${next} where id = $1`, [id])))
}
