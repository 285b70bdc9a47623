import type { Contact, ContactState } from '../../core/contacts/contact.js'
import type { Columns, Param, Row, Sql, Writes } from '../engine/db.js'

const KEYS = { account_id: 'text', id: 'text' } as const satisfies Columns
const MUTABLE = {
  first_name: 'text',
  last_name: 'text',
  company_name: 'text',
  assigned_to_email: 'text',
  line_number: 'text',
  tags: 'text',
  variables: 'text',
  unclaimed: 'bigint',
  updated_at: 'bigint',
} as const satisfies Columns
const COLUMNS = { ...KEYS, ...MUTABLE, phone: 'text', created_at: 'bigint' } as const satisfies Columns

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
  await Promise.all([
    sql.insertMany(
      'contacts',
      COLUMNS,
      contacts.map((contact) => [...changing(contact), contact.phone, contact.createdAt]),
    ),
    countContacts(sql, contacts, 1),
  ])
}

export interface ContactChange {
  before: Contact
  after: Contact
}

export async function saveContacts(sql: Sql, changes: readonly ContactChange[]): Promise<void> {
  if (changes.length === 0) return
  await sql.updateMany(
    'contacts',
    KEYS,
    MUTABLE,
    changes.map(({ after }) => changing(after)),
  )
  const moved = changes.filter(({ before, after }) => before.lineNumber !== after.lineNumber)
  await countContacts(
    sql,
    moved.map(({ before }) => before),
    -1,
  )
  await countContacts(
    sql,
    moved.map(({ after }) => after),
    1,
  )
}

function changing(contact: Contact): Param[] {
  return [
    contact.accountId,
    contact.id,
    contact.firstName,
    contact.lastName,
    contact.companyName,
    contact.assignedToEmail,
    contact.lineNumber ?? '',
    jsonOf(contact.tags),
    jsonOf(contact.variables),
    contact.unclaimed ? 1 : 0,
    contact.updatedAt,
  ]
}

/** Most contacts have neither tags nor variables. */
function jsonOf(value: object): string {
  for (const _ in value) return JSON.stringify(value)
  return Array.isArray(value) ? '[]' : '{}'
}

/** The contacts of an account; for a token limited to lines, only those of its lines. */
export interface ContactScope {
  accountId: string
  lineNumbers: readonly string[] | null
}

/** Contacts by these phones or ids, keyed by them. */
export async function findContacts(
  sql: Sql,
  accountId: string,
  by: 'phone' | 'id',
  values: readonly string[],
): Promise<Map<string, Contact>> {
  const list = sql.listTable(2, values)
  // A cross join makes SQLite look up each value instead of walking all contacts.
  const rows = await sql.all(
    `select c.* from ${list.sql} cross join contacts c where c.account_id = $1 and c.${by} = j.value`,
    [accountId, list.param],
  )
  return new Map(rows.map((row) => [row[by] as string, toContact(row)]))
}

/** Opt-outs and verifications of these contacts' numbers. */
export async function findContactStates(
  sql: Sql,
  accountId: string,
  phones: readonly string[],
): Promise<(phone: string) => ContactState> {
  const list = sql.listTable(2, phones)
  const [optedOut, verified] = await Promise.all([
    sql.all<{ number: string }>(
      `select o.number from ${list.sql} cross join opt_outs o where o.account_id = $1 and o.number = j.value`,
      [accountId, list.param],
    ),
    sql.all<{ number: string }>(
      `select v.number from ${list.sql} cross join verified_contacts v
       where v.account_id = $1 and v.number = j.value and v.verified_at is not null`,
      [accountId, list.param],
    ),
  ])
  const out = new Set(optedOut.map((row) => row.number))
  const known = new Set(verified.map((row) => row.number))
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
  let where = `account_id = $1 and ${by} in ${list.sql}`
  if (scope.lineNumbers) {
    const lines = sql.inList(3, scope.lineNumbers)
    params.push(lines.param)
    where += ` and line_number in ${lines.sql}`
  }
  const rows = await sql.all<{ line_number: string }>(
    `delete from contacts where ${where} returning line_number`,
    params,
  )
  const gone = rows.map((row) => ({ accountId: scope.accountId, lineNumber: row.line_number }))
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
    where += ` and line_number in ${lines.sql}`
  }
  const row = await sql.one<{ n: number | null }>(
    `select sum(n) as n from contact_counts where ${where}`,
    params,
  )
  return row?.n ?? 0
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

export function toContact(row: Row): Contact {
  return {
    id: row.id as string,
    accountId: row.account_id as string,
    phone: row.phone as string,
    firstName: row.first_name as string,
    lastName: row.last_name as string,
    companyName: row.company_name as string,
    assignedToEmail: row.assigned_to_email as string | null,
    lineNumber: (row.line_number as string) || null,
    tags: JSON.parse(row.tags as string),
    variables: JSON.parse(row.variables as string),
    unclaimed: row.unclaimed === 1,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
