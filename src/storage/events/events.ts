import type { Event, NewEvent } from '../../core/events/event.js'
import { topics } from '../../core/topics.js'
import type { Columns, Sql, Writes } from '../engine/db.js'
import { findValue, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

/** `appendEvents` takes typed events only, so a stored row has the data of its type. */
const EVENTS = table<Event>()('events', { text: 'accountId type subject', number: 'seq at', json: 'data' })

const COLUMNS = {
  account_id: 'text',
  // Given as the distance from the account's last number, which this transaction has just increased.
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
 * Appends events under the next numbers of their accounts, when the transaction commits. The counter's row stays
 * locked until then, so numbers become visible in their order and a reader who has seen n has seen everything before
 * it. Accounts are taken in the order of their ids, which keeps transactions of several accounts from deadlocking.
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
  await sql.atCommit((last) =>
    Promise.all([
      ...counts.map(([accountId, n]) =>
        last.run('update event_counters set last_seq = last_seq + $2 where account_id = $1', [accountId, n]),
      ),
      last.insertMany('events', COLUMNS, rows),
    ]),
  )
}

/** Events of an account after a sequence number, oldest first. */
export function listEvents(sql: Sql, accountId: string, afterSeq: number, limit: number): Promise<Event[]> {
  return EVENTS.list(sql, 'account_id = $1 and seq > $2 order by seq limit $3', [accountId, afterSeq, limit])
}

/** Events about these subjects with numbers from `from` to `to`, oldest first. */
export function listEventsAbout(
  sql: Sql,
  accountId: string,
  subjects: readonly string[],
  from: number,
  to: number,
): Promise<Event[]> {
  const list = sql.inList(4, subjects)
  const where = `account_id = $1 and seq between $2 and $3 and subject ${list.sql} order by seq`
  return EVENTS.list(sql, where, [accountId, from, to, list.param])
}

/** The sequence number of the account's latest event; 0 before the first. */
export async function findLastSeq(sql: Sql, accountId: string): Promise<number> {
  const text = 'select last_seq from event_counters where account_id = $1'
  return (await findValue<number>(sql, text, [accountId])) ?? 0
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

/** Accounts whose oldest event is older than this time and was turned into deliveries, if the account has webhooks. */
export function listAccountsWithOldEvents(sql: Sql, until: number, limit: number): Promise<string[]> {
  return listValues(
    sql,
    `select c.account_id from event_counters c
     where (select e.at from events e where e.account_id = c.account_id order by e.seq limit 1) < $1
       and not exists (select 1 from webhook_feeds f where f.account_id = c.account_id
         and f.seq < (select e.seq from events e where e.account_id = c.account_id order by e.seq limit 1))
     limit $2`,
    [until, limit],
  )
}

/** Deletes an account's events up to and including this number. */
export async function deleteEvents(sql: Sql, accountId: string, seq: number): Promise<number> {
  return sql.run('delete from events where account_id = $1 and seq <= $2', [accountId, seq])
}
