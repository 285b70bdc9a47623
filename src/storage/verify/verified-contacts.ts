import { SHARED, type VerifiedContact } from '../../core/verify/verified-contact.js'
import type { Columns, Db, Sql } from '../engine/db.js'
import { exists, findValue, listValues } from '../engine/query.js'
import { deleteInSlices } from '../engine/slices.js'
import { table } from '../engine/table.js'

const CONTACTS = table<VerifiedContact>()('verified_contacts', {
  serial: 'id',
  text: 'accountId number scope',
  number: 'createdAt updatedAt verifiedAt',
})

const KEYS = { account_id: 'text', number: 'text', scope: 'text' } as const satisfies Columns

/** Records a verification request for a number, again or for the first time. Keeps its verified state. */
export async function askVerifiedContact(
  sql: Sql,
  accountId: string,
  number: string,
  scope: string,
  now: number,
  verified: boolean,
): Promise<VerifiedContact> {
  const asked = await CONTACTS.one(
    sql,
    `insert into verified_contacts (account_id, number, scope, asked_at, created_at, updated_at, verified_at)
     values ($1, $2, $3, $4, $4, $4, $5)
     on conflict (account_id, number, scope) do update set
       asked_at = case when verified_contacts.verified_at is null then excluded.asked_at else verified_contacts.asked_at end,
       updated_at = case when verified_contacts.verified_at is null and excluded.verified_at is not null
         then excluded.updated_at else verified_contacts.updated_at end,
       verified_at = coalesce(verified_contacts.verified_at, excluded.verified_at)
     returning *`,
    [accountId, number, scope, now, verified ? now : null],
  )
  return asked!
}

interface SharedLineSender {
  accountId: string
  number: string
}

/** Verifies senders who wrote to a shared line, requested or not. */
export async function verifyOnShared(
  sql: Sql,
  people: readonly SharedLineSender[],
  now: number,
): Promise<void> {
  await sql.insertMany(
    'verified_contacts',
    { ...KEYS, asked_at: 'bigint', created_at: 'bigint', updated_at: 'bigint', verified_at: 'bigint' },
    people.map(({ accountId, number }) => [accountId, number, SHARED, now, now, now, now]),
    `on conflict (account_id, number, scope) do update
     set verified_at = excluded.verified_at, updated_at = excluded.updated_at
     where verified_contacts.verified_at is null`,
  )
}

/** A number's pending registrations by accounts of a shared line. */
const REGISTERED = `from verified_contacts v where v.number = $2 and v.scope = $3 and v.verified_at is null
  and exists (select 1 from line_members m where m.line_id = $1 and m.account_id = v.account_id)`

/** The accounts of a shared line that registered a number and wait for its first text. */
export function listRegistered(sql: Sql, lineId: string, number: string): Promise<string[]> {
  return listValues(sql, `select v.account_id ${REGISTERED} order by v.id`, [lineId, number, SHARED])
}

/** Verifies every pending registration of a sender on a shared line. Returns the accounts that registered them. */
export function verifyRegistered(sql: Sql, lineId: string, number: string, now: number): Promise<string[]> {
  return listValues(
    sql,
    `update verified_contacts set verified_at = $4, updated_at = $4
     where id in (select v.id ${REGISTERED})
     returning account_id`,
    [lineId, number, SHARED, now],
  )
}

/**
 * Locks the rows of numbers on a shared line, in one order: texts of one person to two shared lines change the same
 * rows, and two transactions must not wait for each other.
 */
export async function lockRegistrations(sql: Sql, lineId: string, numbers: readonly string[]): Promise<void> {
  if (sql.engine === 'sqlite') return
  const list = sql.inList(2, numbers)
  await sql.all(
    `select v.id from verified_contacts v where v.number ${list.sql} and v.scope = $3
       and exists (select 1 from line_members m where m.line_id = $1 and m.account_id = v.account_id)
     order by v.number, v.account_id for update of v`,
    [lineId, list.param, SHARED],
  )
}

/** The accounts of a shared line for which this number was verified last. */
export function listLastVerified(sql: Sql, lineId: string, number: string): Promise<string[]> {
  const verified = `from verified_contacts v join line_members m on m.line_id = $1 and m.account_id = v.account_id
     where v.number = $2 and v.scope = $3 and v.verified_at is not null`
  return listValues(
    sql,
    `select v.account_id ${verified} and v.verified_at = (select max(v.verified_at) ${verified}) order by v.id`,
    [lineId, number, SHARED],
  )
}

/** Verifies senders who wrote to a line of one account; only requested numbers count. */
export async function verifyAsked(
  sql: Sql,
  scope: string,
  people: readonly SharedLineSender[],
  now: number,
): Promise<void> {
  await sql.updateMany(
    'verified_contacts',
    KEYS,
    { verified_at: 'bigint', updated_at: 'bigint' },
    people.map(({ accountId, number }) => [accountId, number, scope, now, now]),
    'verified_contacts.verified_at is null',
  )
}

export function findVerifiedContact(
  sql: Sql,
  accountId: string,
  number: string,
  scope: string,
): Promise<VerifiedContact | undefined> {
  return CONTACTS.find(sql, 'account_id = $1 and number = $2 and scope = $3', [accountId, number, scope])
}

/** Newest first. */
export function listVerifiedContacts(
  sql: Sql,
  accountId: string,
  scope: string,
  limit: number,
): Promise<VerifiedContact[]> {
  const where = 'account_id = $1 and scope = $2 order by id desc limit $3'
  return CONTACTS.list(sql, where, [accountId, scope, limit])
}

/** Whether this number is verified for any line of the account. */
export function isVerified(sql: Sql, accountId: string, number: string): Promise<boolean> {
  return exists(
    sql,
    'select 1 from verified_contacts where account_id = $1 and number = $2 and verified_at is not null limit 1',
    [accountId, number],
  )
}

/** The account of a shared line that requested this number last. */
export function findLastAsker(sql: Sql, lineId: string, number: string): Promise<string | undefined> {
  return findValue(
    sql,
    `select v.account_id from verified_contacts v
     where v.number = $2 and v.scope = $3
       and exists (select 1 from line_members m where m.line_id = $1 and m.account_id = v.account_id)
     order by v.asked_at desc, v.id desc limit 1`,
    [lineId, number, SHARED],
  )
}

/**
 * When an unrequested number last wrote to a shared line; 0 for never. Locks line and number until the transaction
 * ends, so that a concurrent request and message see each other.
 */
export async function noteStranger(
  sql: Sql,
  lineId: string,
  number: string,
  heardAt: number,
): Promise<number> {
  const row = await sql.one<{ heard_at: number }>(
    `insert into line_strangers (line_id, number, heard_at) values ($1, $2, $3)
     on conflict (line_id, number) do update set heard_at =
       case when excluded.heard_at > line_strangers.heard_at then excluded.heard_at else line_strangers.heard_at end
     returning heard_at`,
    [lineId, number, heardAt],
  )
  return row!.heard_at
}

export async function forgetStranger(sql: Sql, lineId: string, number: string): Promise<void> {
  await sql.run('delete from line_strangers where line_id = $1 and number = $2', [lineId, number])
}

export function dropStrangers(db: Db, before: number): Promise<number> {
  return deleteInSlices(db, { table: 'line_strangers', where: 'heard_at < $1', params: [before] })
}
