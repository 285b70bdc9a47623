import type { Reads } from '../engine/db.js'
import { HELD_THROUGH } from '../engine/incarnations.js'
import { WAITING_SINCE } from '../messages/queue.js'

/** The conditions that alerts tell of. Each statement reads what is wrong, not what is well. */

/** A place in the order of times. */
export interface TimePlace {
  at: number
  id: string
}

/** Lines that have been offline since this time or an earlier one, after a place. */
export function listOfflineLines(
  sql: Reads,
  until: number,
  after: TimePlace,
  limit: number,
): Promise<{ id: string; at: number }[]> {
  return sql.all(
    `select line_id as id, changed_at as at from line_states
     where state = 'OFFLINE' and changed_at <= $1 and (changed_at, line_id) > ($2, $3)
     order by changed_at, line_id limit $4`,
    [until, after.at, after.id, limit],
  )
}

/**
 * A line is offline for the accounts that use it, unless it is blocked: a block is told by an event of its own. The
 * state is read by its key: PostgreSQL would read all offline lines for each line, if there were few when it planned.
 */
const IS_OFFLINE = `l.removed_at is null and l.blocked_at is null
  and (select s.state from line_states s where s.line_id = l.id) = 'OFFLINE'`

/** Accounts that use these lines, if they are offline, and have not been told. */
export function listUntoldOfLines(
  sql: Reads,
  lineIds: readonly string[],
  limit: number,
): Promise<{ accountId: string; lineId: string; number: string }[]> {
  const list = sql.inList(1, lineIds)
  return sql.all(
    `select u.account_id as "accountId", l.id as "lineId", l.number from (
         select id as line_id, account_id from lines where id ${list.sql} and account_id is not null
         union all
         select line_id, account_id from line_members where line_id ${list.sql}) u
       join lines l on l.id = u.line_id
     where ${IS_OFFLINE} and not exists (select 1 from alerts a
       where a.account_id = u.account_id and a.kind = 'line.offline' and a.subject = l.id)
     limit $2`,
    [list.param, limit],
  )
}

/** SQL condition on an alert `a`: its line is still offline, and its account uses it. */
export const LINE_IS_OFFLINE = `exists (select 1 from lines l where l.id = a.subject and ${IS_OFFLINE}
  and (l.account_id = a.account_id
    or exists (select 1 from line_members m where m.line_id = l.id and m.account_id = a.account_id)))`

const QUEUED = 'from messages where next_action_at is not null and due_at is null'
/**
 * Messages at the front of a queue among which the oldest is searched: one that was scheduled is in front with its low
 * number, although it began to wait later.
 */
const FRONT = 10

/** Lines with waiting messages after a line, each with since when a message at the front of its queue has waited. */
export function listWaitingLines(
  sql: Reads,
  after: string,
  limit: number,
): Promise<{ lineId: string; since: number | null }[]> {
  return sql.all(
    `with recursive queued (line_id, n) as (
       select min(line_id), 1 ${QUEUED} and line_id > $1
       union all
       select (select min(line_id) ${QUEUED} and line_id > q.line_id), q.n + 1 from queued q
       where q.line_id is not null and q.n < $2)
     select q.line_id as "lineId", (select min(since) from (
         select ${WAITING_SINCE} as since ${QUEUED} and line_id = q.line_id and id > ${HELD_THROUGH}
         order by id limit ${FRONT}) front) as since
     from queued q where q.line_id is not null`,
    [after, limit],
  )
}

/**
 * Since when the oldest message of each account has been waiting for a line, among the first `limit` messages of its
 * queue. Messages of held conversations and messages in doubt after a restore wait on purpose and do not count.
 */
export function listLongestWaits(
  sql: Reads,
  lineId: string,
  now: number,
  limit: number,
): Promise<{ accountId: string; since: number }[]> {
  return sql.all(
    `select account_id as "accountId", min(since) as since from (
       select account_id, coalesce(group_id, contact) as conversation, ${WAITING_SINCE} as since
       ${QUEUED} and line_id = $1 and id > ${HELD_THROUGH} order by id limit $3) w
     where not exists (select 1 from conversation_holds h where h.line_id = $1
       and h.conversation = w.conversation and h.account_id = w.account_id and h.held_until > $2)
     group by account_id`,
    [lineId, now, limit],
  )
}
