import type { Sql } from '../engine/db.js'
import { hasChanged, listValues } from '../engine/query.js'

/** An account's opt-out of a number counts on all its lines. Returns whether the opt-out is new. */
export function saveOptOut(sql: Sql, accountId: string, number: string, at: number): Promise<boolean> {
  return hasChanged(
    sql,
    `insert into opt_outs (account_id, number, line_id, everywhere, opted_out_at) values ($1, $2, '', 1, $3)
     on conflict (account_id, number, line_id) do nothing`,
    [accountId, number, at],
  )
}

/**
 * Opts a number out for every account of a shared line: on all lines of the account that got the text, on the shared
 * line for the others. Returns the accounts for which this is new.
 */
export function saveLineOptOuts(
  sql: Sql,
  line: { id: string },
  { accountId, contact }: { accountId: string; contact: string },
  at: number,
): Promise<string[]> {
  return listValues(
    sql,
    `insert into opt_outs (account_id, number, line_id, everywhere, opted_out_at)
     select m.account_id, $2, $1, case when m.account_id = $3 then 1 else 0 end, $4 from line_members m
     where m.line_id = $1 and not exists
       (select 1 from opt_outs o where o.account_id = m.account_id and o.number = $2 and o.everywhere = 1)
     order by m.account_id
     on conflict (account_id, number, line_id) do update set everywhere = 1
       where excluded.everywhere = 1 and opt_outs.everywhere = 0
     returning account_id`,
    [line.id, contact, accountId, at],
  )
}

/** Lifts the opt-outs that came from a shared line. Returns the accounts that had one. */
export function deleteLineOptOuts(sql: Sql, line: { id: string }, number: string): Promise<string[]> {
  const text =
    "delete from opt_outs where line_id = $1 and line_id <> '' and number = $2 returning account_id"
  return listValues(sql, text, [line.id, number])
}

/** Lifts every opt-out of a number from an account. Returns whether there was one. */
export function deleteOptOut(sql: Sql, accountId: string, number: string): Promise<boolean> {
  return hasChanged(sql, 'delete from opt_outs where account_id = $1 and number = $2', [accountId, number])
}

interface Recipient {
  accountId: string
  contact: string
  lineId: string
}

/** Whether an account may not write to a number from a line. */
export async function findOptOuts(
  sql: Sql,
  recipients: readonly Recipient[],
): Promise<(recipient: Recipient) => boolean> {
  const found = new Set<string>()
  for (const accountId of new Set(recipients.map((one) => one.accountId))) {
    const numbers = recipients.flatMap((one) => (one.accountId === accountId ? one.contact : []))
    const list = sql.listTable(2, numbers)
    // A cross join makes SQLite look up each number instead of walking all opt-outs.
    const rows = await sql.all<{ number: string; line_id: string; everywhere: number }>(
      `select o.number, o.line_id, o.everywhere from ${list.sql} cross join opt_outs o
       where o.account_id = $1 and o.number = j.value`,
      [accountId, list.param],
    )
    for (const { number, line_id, everywhere } of rows)
      found.add(`${accountId} ${number} ${everywhere ? '' : line_id}`)
  }
  return ({ accountId, contact, lineId }) =>
    found.size > 0 &&
    (found.has(`${accountId} ${contact} `) || found.has(`${accountId} ${contact} ${lineId}`))
}
