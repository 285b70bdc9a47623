import type { Sql } from '../engine/db.js'
import { hasChanged, listValues } from '../engine/query.js'
import type { Marks } from '../erasure/marks.js'

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
export function deleteLineOptOuts(
  sql: Sql,
  marks: Marks,
  line: { id: string },
  number: string,
): Promise<string[]> {
  const text =
    "delete from opt_outs where line_id = $1 and line_id <> '' and number in ($2, $3) returning account_id"
  return listValues(sql, text, [line.id, number, marks.of(number) ?? number])
}

/** Lifts every opt-out of a number from an account. Returns whether there was one. */
export async function deleteOptOut(
  sql: Sql,
  marks: Marks,
  accountId: string,
  number: string,
): Promise<boolean> {
  if (marks.of(number) === undefined) await marks.load(sql)
  const text = 'delete from opt_outs where account_id = $1 and number in ($2, $3)'
  return hasChanged(sql, text, [accountId, number, marks.of(number) ?? number])
}

interface Recipient {
  accountId: string
  contact: string
  lineId: string
}

/** Whether an account may not write to a number from a line. */
export async function findOptOuts(
  sql: Sql,
  marks: Marks,
  recipients: readonly Recipient[],
): Promise<(recipient: Recipient) => boolean> {
  const found = new Set<string>()
  for (const accountId of new Set(recipients.map((one) => one.accountId))) {
    const numbers = recipients.flatMap((one) => (one.accountId === accountId ? one.contact : []))
    for (const { number, line_id, everywhere } of await listOptOuts(sql, marks, accountId, numbers))
      found.add(`${accountId} ${number} ${everywhere ? '' : line_id}`)
  }
  return ({ accountId, contact, lineId }) =>
    found.size > 0 &&
    (found.has(`${accountId} ${contact} `) || found.has(`${accountId} ${contact} ${lineId}`))
}

interface OptOut {
  number: string
  line_id: string
  everywhere: number
}

/** A row that tells that people were erased, whose opt-outs stand under their marks. */
const KEY_EXISTS = "union all select '' as number, '' as line_id, -1 as everywhere from erasure_keys"

/** The opt-outs of numbers, also of people who were erased since they opted out. */
export async function listOptOuts(
  sql: Sql,
  marks: Marks,
  accountId: string,
  numbers: readonly string[],
): Promise<OptOut[]> {
  const marked = new Map<string, string>()
  for (const number of numbers) {
    const mark = marks.of(number)
    if (mark !== undefined) marked.set(mark, number)
  }
  const isKnown = marked.size > 0
  const list = sql.listTable(2, [...numbers, ...marked.keys()])
  // A cross join makes SQLite look up each number instead of walking all opt-outs.
  const rows = await sql.all<OptOut>(
    `select o.number, o.line_id, o.everywhere from ${list.sql} cross join opt_outs o
     where o.account_id = $1 and o.number = j.value ${isKnown ? '' : KEY_EXISTS}`,
    [accountId, list.param],
  )
  if (!isKnown && numbers.length > 0 && rows.some(({ everywhere }) => everywhere === -1)) {
    await marks.load(sql)
    return listOptOuts(sql, marks, accountId, numbers)
  }
  return rows.map((row) => ({ ...row, number: marked.get(row.number) ?? row.number }))
}
