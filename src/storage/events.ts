import type { NewEvent } from '../core/event.js'
import type { Columns, Writes } from './db.js'

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
  await Promise.all([
    ...counts.map(([accountId, n]) =>
      sql.run('update event_counters set last_seq = last_seq + $2 where account_id = $1', [accountId, n]),
    ),
    sql.insertMany('events', COLUMNS, rows),
  ])
}
