import type { Contact, ContactState } from '../../core/contacts/contact.js'
import type { Param, Reads, Sql, Writes } from '../engine/db.js'
import { findValue, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'
import type { Marks } from '../erasure/marks.js'
import { listOptOuts } from './opt-outs.js'

/** A contact without a line has the line number ''. */
const CONTACTS = table<Contact & { lineNumber: string }>()('contacts', {
  text: 'accountId id firstName lastName companyName assignedToEmail lineNumber phone',
  number: 'createdAt updatedAt',
  flag: 'unclaimed',
  json: 'tags variables',
})
const CHANGING =
  'firstName lastName companyName assignedToEmail lineNumber tags variables unclaimed updatedAt'
const stored = (contact: Contact) => ({ ...contact, lineNumber: contact.lineNumber ?? '' })

/** Serialises changes of an account's contacts. Must be called first in a transaction that makes one. */
export async function lockContacts(sql: Sql, accountId: string): Promise<void> {
  if (sql.engine !== 'postgres') return
  await sql.run(
    `insert into contact_counts (account_id, line_number, n) values ($1, '', 0)
     on conflict (account_id, line_number) do update set n = contact_counts.n`,
    [accountId],
  )
}

/** Inserts contacts and updates the totals. */
export async function insertContacts(sql: Writes, contacts: readonly Contact[]): Promise<void> {
  await Promise.all([CONTACTS.insertMany(sql, contacts.map(stored)), countContacts(sql, contacts, 1)])
}

export interface ContactChange {
  before: Contact
  after: Contact
}

export async function saveContacts(sql: Sql, changes: readonly ContactChange[]): Promise<void> {
  if (changes.length === 0) return
  const after = changes.map((change) => stored(change.after))
  await CONTACTS.update(sql, after, 'accountId id', CHANGING)
  const moved = changes.filter(({ before, after }) => before.lineNumber !== after.lineNumber)
  const [from, to] = [moved.map((change) => change.before), moved.map((change) => change.after)]
  await countContacts(sql, from, -1)
  await countContacts(sql, to, 1)
}

/** The contacts of an account; for a token limited to lines, only those of its lines. */
export interface ContactScope {
  accountId: string
  lineNumbers: readonly string[] | null
}

/** Contacts by these phones or ids, keyed by them. */
export async function findContacts(
  sql: Reads,
  accountId: string,
  by: 'phone' | 'id',
  values: readonly string[],
): Promise<Map<string, Contact>> {
  const list = sql.listTable(2, values)
  // A cross join makes SQLite look up each value instead of walking all contacts.
  const contacts = await CONTACTS.all(
    sql,
    `select c.* from ${list.sql} cross join contacts c where c.account_id = $1 and c.${by} = j.value`,
    [accountId, list.param],
  )
  return new Map(contacts.map((one) => [one[by], { ...one, lineNumber: one.lineNumber || null }]))
}

/** Opt-outs and verifications of these contacts' numbers. */
export async function findContactStates(
  sql: Sql,
  marks: Marks,
  accountId: string,
  phones: readonly string[],
): Promise<(phone: string) => ContactState> {
  const list = sql.listTable(2, phones)
  const [optedOut, verified] = await Promise.all([
    listOptOuts(sql, marks, accountId, phones),
    listValues<string>(
      sql,
      `select v.number from ${list.sql} cross join verified_contacts v
       where v.account_id = $1 and v.number = j.value and v.verified_at is not null`,
      [accountId, list.param],
    ),
  ])
  const out = new Set(optedOut.map(({ number }) => number))
  const known = new Set(verified)
  return (phone) => ({ optedOut: out.has(phone), verified: known.has(phone) })
}

/** Deletes by phone or id; returns the number of deleted contacts. */
export async function deleteContacts(
  sql: Sql,
  scope: ContactScope,
  by: 'phone' | 'id',
  values: readonly string[],
): Promise<number> {
  if (values.length === 0) return 0
  const list = sql.inList(2, values)
  const params: Param[] = [scope.accountId, list.param]
  let where = `account_id = $1 and ${by} ${list.sql}`
  if (scope.lineNumbers) {
    const lines = sql.inList(3, scope.lineNumbers)
    params.push(lines.param)
    where += ` and line_number ${lines.sql}`
  }
  const lines = await listValues<string>(
    sql,
    `delete from contacts where ${where} returning line_number`,
    params,
  )
  const gone = lines.map((lineNumber) => ({ accountId: scope.accountId, lineNumber }))
  await countContacts(sql, gone, -1)
  return gone.length
}

async function countContacts(
  sql: Writes,
  contacts: readonly Pick<Contact, 'accountId' | 'lineNumber'>[],
  sign: 1 | -1,
): Promise<void> {
  const sums = new Map<string, Param[]>()
  for (const { accountId, lineNumber } of contacts) {
    const key = `${accountId} ${lineNumber ?? ''}`
    const row = sums.get(key)
    if (row) row[2] = (row[2] as number) + sign
    else sums.set(key, [accountId, lineNumber ?? '', sign])
  }
  await sql.insertMany(
    'contact_counts',
    { account_id: 'text', line_number: 'text', n: 'bigint' },
    [...sums.values()],
    'on conflict (account_id, line_number) do update set n = contact_counts.n + excluded.n',
  )
}

/** Read from the maintained totals. */
export async function countAllContacts(sql: Sql, scope: ContactScope): Promise<number> {
  const params: Param[] = [scope.accountId]
  let where = 'account_id = $1'
  if (scope.lineNumbers) {
    const lines = sql.inList(2, scope.lineNumbers)
    params.push(lines.param)
    where += ` and line_number ${lines.sql}`
  }
  return (await findValue<number>(sql, `select sum(n) from contact_counts where ${where}`, params)) ?? 0
}

export async function insertLabels(
  sql: Sql,
  accountId: string,
  labels: readonly string[],
  now: number,
): Promise<void> {
  await sql.insertMany(
    'contact_labels',
    { account_id: 'text', label: 'text', created_at: 'bigint' },
    labels.map((label) => [accountId, label, now]),
    'on conflict (account_id, label) do nothing',
  )
}
