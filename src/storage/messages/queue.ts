import type { Db, Sql } from '../engine/db.js'
import { HELD_THROUGH } from '../engine/incarnations.js'
import { listValues } from '../engine/query.js'
import type { Hold } from './holds.js'

/** A message in a line's queue, oldest first. Scheduled messages join the queue at their time. */
export interface QueueEntry {
  id: number
  handle: string
  accountId: string
  contact: string
  groupId: string | null
  nextActionAt: number
}

export interface QueueRow extends QueueEntry {
  version: number
}

const QUEUED = `select id, handle, account_id as "accountId", contact, group_id as "groupId",
    next_action_at as "nextActionAt", version from messages
  where line_id = $1 and next_action_at is not null and due_at is null and id > ${HELD_THROUGH}`

export function listQueue(sql: Sql, lineId: string, afterId: number, limit: number): Promise<QueueRow[]> {
  return sql.all(`${QUEUED} and id > $2 order by id limit $3`, [lineId, afterId, limit])
}

/** A shorter wait is not worth a query: it is that of an ordinary retry. */
const LONG_WAIT_MS = 60_000

/**
 * Makes messages due whose waiting time was written by a clock that was ahead: the message or its last attempt has a
 * time later than `now`. Without this a clock that was a day ahead would stop the message for a day.
 */
export async function correctWaits(db: Db, rows: QueueRow[], now: number): Promise<QueueRow[]> {
  const late = rows.filter(({ nextActionAt }) => nextActionAt > now + LONG_WAIT_MS)
  if (late.length === 0) return rows
  const corrected = await db.tx((sql) => {
    const list = sql.inIds(
      2,
      late.map(({ id }) => id),
    )
    return listValues<number>(
      sql,
      `update messages set next_action_at = $1, version = version + 1
       where id ${list.sql} and next_action_at > $1 and due_at is null and (updated_at > $1 or exists (
         select 1 from attempts a where a.message_id = messages.id and coalesce(a.ended_at, a.wire_at) > $1))
       returning id`,
      [now, list.param],
    )
  })
  const due = new Set(corrected)
  return rows.map((row) => (due.has(row.id) ? { ...row, nextActionAt: now, version: row.version + 1 } : row))
}

/** The messages of a held conversation that wait for the end of its hold, after a message, oldest first. */
export function listHeld(sql: Sql, hold: Hold, after: number, limit: number): Promise<number[]> {
  return listValues(
    sql,
    `select id from messages where line_id = $1 and next_action_at is not null and due_at is null and coalesce(group_id, contact) = $2
       and account_id = $3 and status = 'REGISTERED' and next_action_at = $4 and id > $5 order by id limit $6`,
    [hold.lineId, hold.conversation, hold.accountId, hold.until, after, limit],
  )
}

/** The part of an account's queue on a line that the window had no room for; of one conversation, or of all. */
export function listQueueOf(
  sql: Sql,
  lineId: string,
  part: { accountId: string; conversation: string | null; from: number; limit: number },
): Promise<QueueRow[]> {
  const { accountId, conversation, from, limit } = part
  const params = [lineId, accountId, from, limit]
  const text = `${QUEUED} and account_id = $2 and id >= $3`
  if (conversation === null) return sql.all(`${text} order by id limit $4`, params)
  return sql.all(`${text} and coalesce(group_id, contact) = $5 order by id limit $4`, [
    ...params,
    conversation,
  ])
}

/**
 * Number of the account's messages ahead of this one on the line and in its conversation, among the last `limit` of the
 * line. Other accounts of a shared line take turns with it.
 */
export async function countBefore(
  sql: Sql,
  { lineId, accountId, id }: { lineId: string; accountId: string; id: number },
  conversation: string,
  limit: number,
): Promise<{ onLine: number; inConversation: number; firstId: number | null }> {
  const row = await sql.one<{ onLine: number; inConversation: number; firstId: number | null }>(
    `select count(*) as "onLine", count(case when coalesce(group_id, contact) = $3 then 1 end) as "inConversation",
       min(case when coalesce(group_id, contact) = $3 then id end) as "firstId"
     from (select id, account_id, contact, group_id from messages
       where line_id = $1 and next_action_at is not null and due_at is null and id < $2 and id > ${HELD_THROUGH}
       order by id desc limit $4) earlier
     where account_id = $5`,
    [lineId, id, conversation, limit, accountId],
  )
  return row!
}

/** The queues of all lines, with their first message. */
export function countQueued(sql: Sql): Promise<{ lineId: string; n: number; firstId: number }[]> {
  return sql.all(
    `select line_id as "lineId", count(*) as n, min(id) as "firstId" from messages
     where next_action_at is not null and due_at is null group by line_id`,
  )
}

/** SQL: since when a message has been waiting: since it was accepted, or since the time it was scheduled for. */
export const WAITING_SINCE = `case when extra like '%"sendAt":%' then next_action_at else created_at end`

/** Since when these messages have been waiting. */
export function listWaitingSince(
  sql: Sql,
  ids: readonly number[],
): Promise<{ lineId: string; since: number }[]> {
  const list = sql.inIds(1, ids)
  return sql.all(
    `select line_id as "lineId", ${WAITING_SINCE} as since
     from messages where id ${list.sql}`,
    [list.param],
  )
}

/** Number of an account's waiting messages on a line, up to a limit, and the age of the first. */
export async function countWaiting(
  sql: Sql,
  lineId: string,
  accountId: string,
  limit: number,
): Promise<{ n: number; since: number | null }> {
  const row = await sql.one<{ n: number; since: number | null }>(
    `select count(*) as n, min(since) as since from (
       select account_id, ${WAITING_SINCE} as since
       from messages where line_id = $1 and next_action_at is not null and due_at is null order by id limit $3) w
     where account_id = $2`,
    [lineId, accountId, limit],
  )
  return row!
}
