import type { Sql, Writes } from '../engine/db.js'
import { findValue } from '../engine/query.js'

/** A message of an account to a person on a shared line. */
interface Turn {
  lineId: string
  contact: string
  accountId: string
  handle: string
}

export async function saveTurns(sql: Writes, turns: readonly Turn[]): Promise<void> {
  const latest = new Map<string, string[]>()
  for (const { lineId, contact, accountId, handle } of turns) {
    const key = `${lineId} ${contact} ${accountId}`
    if (handle > (latest.get(key)?.[3] ?? '')) latest.set(key, [lineId, contact, accountId, handle])
  }
  // Sorted, so that two transactions never wait for each other.
  const rows = [...latest.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await sql.insertMany(
    'line_turns',
    { line_id: 'text', contact: 'text', account_id: 'text', handle: 'text' },
    rows,
    `on conflict (line_id, contact, account_id) do update set handle = excluded.handle
     where excluded.handle > line_turns.handle`,
  )
}

/** The account of a shared line that wrote to this person last. */
export function findLastTurn(sql: Sql, lineId: string, contact: string): Promise<string | undefined> {
  return findValue(
    sql,
    `select t.account_id from line_turns t where t.line_id = $1 and t.contact = $2
       and exists (select 1 from line_members m where m.line_id = $1 and m.account_id = t.account_id)
     order by t.handle desc limit 1`,
    [lineId, contact],
  )
}
