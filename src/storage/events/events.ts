import type { Event, NewEvent } from '../../core/events/event.js'
import { topics } from '../../core/topics.js'
import type { Columns, Row, Sql, Writes } from '../engine/db.js'

const COLUMNS = {
  account_id: 'text',
  // Given as the distance from the account's last number, which this transaction has just moved.
  seq: {
    type: 'bigint',
    as: '(select last_seq from event_counters c where c.account_id = {account_id}) - {seq}',
  },
  type: 'text',
  subject: 'text',
  at: 'bigint',
  data: 'text',
} as const satisfies Columns

/**
 * Appends events under the next numbers of their accounts. The counter's row stays locked until the commit, so
 * numbers become visible in their order and a reader who has seen n has seen everything before it. Accounts are
 * taken in the order of their ids, which keeps transactions of several accounts from deadlocking.
 */
export async function appendEvents(sql: Writes, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const left = new Map<string, number>()
  for (const { accountId } of events) left.set(accountId, (left.get(accountId) ?? 0) + 1)
  const counts = [...left.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = events.map((event) => {
    const back = left.get(event.accountId)! - 1
    left.set(event.accountId, back)
    return [event.accountId, back, event.type, event.subject, event.at, JSON.stringify(event.data)]
  })
  for (const [accountId] of counts) sql.announce(topics.events, accountId)
  await Promise.all([
    ...counts.map(([accountId, n]) =>
      sql.run('update event_counters set last_seq = last_seq + $2 where account_id = $1', [accountId, n]),
    ),
    sql.insertMany('events', COLUMNS, rows),
  ])
}

/** The log of an account after a number, oldest first. */
export async function listEvents(
  sql: Sql,
  accountId: string,
  afterSeq: number,
  limit: number,
): Promise<Event[]> {
  const rows = await sql.all(
    'select * from events where account_id = $1 and seq > $2 order by seq limit $3',
    [accountId, afterSeq, limit],
  )
  return rows.map(toEvent)
}

/** What the account's log says of these between two numbers, the first and the last, oldest first. */
export async function listEventsAbout(
  sql: Sql,
  accountId: string,
  subjects: readonly string[],
  from: number,
  to: number,
): Promise<Event[]> {
  const list = sql.inList(4, subjects)
  const rows = await sql.all(
    `select * from events where account_id = $1 and seq between $2 and $3 and subject in ${list.sql} order by seq`,
    [accountId, from, to, list.param],
  )
  return rows.map(toEvent)
}

/** The number of the account's latest event; 0 before the first. */
export async function findLastSeq(sql: Sql, accountId: string): Promise<number> {
  const row = await sql.one<{ last_seq: number }>(
    'select last_seq from event_counters where account_id = $1',
    [accountId],
  )
  return row?.last_seq ?? 0
}

/** The first event of an account with this number or a later one. */
export async function findEventFrom(
  sql: Sql,
  accountId: string,
  seq: number,
): Promise<{ seq: number; at: number } | undefined> {
  return sql.one('select seq, at from events where account_id = $1 and seq >= $2 order by seq limit 1', [
    accountId,
    seq,
  ])
}

/** Accounts whose oldest event is from before this time and was turned into deliveries, if they want any. */
export async function listAccountsWithOldEvents(sql: Sql, until: number, limit: number): Promise<string[]> {
  const rows = await sql.all<{ account_id: string }>(
    `select c.account_id from event_counters c
     where (select e.at from events e where e.account_id = c.account_id order by e.seq limit 1) < $1
       and not exists (select 1 from webhook_feeds f where f.account_id = c.account_id
         and f.seq < (select e.seq from events e where e.account_id = c.account_id order by e.seq limit 1))
     limit $2`,
    [until, limit],
  )
  return rows.map((row) => row.account_id)
}

/** Deletes an account's events to this number, which is among them. */
export async function deleteEvents(sql: Sql, accountId: string, seq: number): Promise<number> {
  return sql.run('delete from events where account_id = $1 and seq <= $2', [accountId, seq])
}

/** `appendEvents` takes typed events only, so a stored row has the data of its type. */
function toEvent(row: Row): Event {
  return {
    accountId: row.account_id as string,
    seq: row.seq as number,
    type: row.type,
    subject: row.subject as string,
    at: row.at as number,
    data: JSON.parse(row.data as string),
  } as Event
}
