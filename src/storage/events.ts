import type { Event, EventType, NewEvent } from '../core/event.js'
import type { Columns, Row, Sql } from './db.js'

const COLUMNS = {
  account_id: 'text',
  seq: 'bigint',
  type: 'text',
  subject: 'text',
  at: 'bigint',
  data: 'text',
} as const satisfies Columns

/**
 * Takes the next numbers of each account. The counter's row stays locked until the commit, so numbers become
 * visible in their order and a reader who has seen n has seen everything before it. Every transaction that
 * writes an account's messages takes this lock first, and several accounts in the order of their ids: that is
 * also what keeps such transactions from deadlocking.
 */
export async function reserveEventNumbers(sql: Sql, perAccount: Map<string, number>): Promise<Map<string, number>> {
  const next = new Map<string, number>()
  for (const accountId of [...perAccount.keys()].sort()) {
    const row = await sql.one<{ last_seq: number }>(
      'update event_counters set last_seq = last_seq + $2 where account_id = $1 returning last_seq',
      [accountId, perAccount.get(accountId)!],
    )
    next.set(accountId, row!.last_seq - perAccount.get(accountId)! + 1)
  }
  return next
}

export function countByAccount(items: readonly { accountId: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { accountId } of items) counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
  return counts
}

/** Appends events under numbers reserved in this transaction. */
export async function insertEvents(sql: Sql, numbers: Map<string, number>, events: readonly NewEvent[]): Promise<void> {
  const next = new Map(numbers)
  const rows = events.map((event) => {
    const seq = next.get(event.accountId)!
    next.set(event.accountId, seq + 1)
    return [event.accountId, seq, event.type, event.subject, event.at, JSON.stringify(event.data)]
  })
  await sql.insertMany('events', COLUMNS, rows)
}

export async function listEventsAfter(sql: Sql, accountId: string, seq: number, limit: number): Promise<Event[]> {
  const rows = await sql.all('select * from events where account_id = $1 and seq > $2 order by seq limit $3', [
    accountId,
    seq,
    limit,
  ])
  return rows.map(toEvent)
}

function toEvent(row: Row): Event {
  return {
    accountId: row.account_id as string,
    seq: row.seq as number,
    type: row.type as EventType,
    subject: row.subject as string,
    at: row.at as number,
    data: JSON.parse(row.data as string),
  }
}
