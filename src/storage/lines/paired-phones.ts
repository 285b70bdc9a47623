import type { PairedPhone, PhoneLine } from '../../core/lines/paired-phone.js'
import type { Sql } from '../engine/db.js'
import { exists, hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'

const PHONES = table<PairedPhone>()('paired_phones', {
  text: 'id name',
  number: 'createdAt registeredAt codeExpiresAt seenAt',
  json: 'sims',
})
const PHONE_LINES = table<PhoneLine>()('phone_lines', { text: 'lineId phoneId', number: 'sim' })

export async function insertPhone(
  sql: Sql,
  phone: PairedPhone,
  codeDigest: string,
  lines: readonly PhoneLine[],
): Promise<void> {
  await PHONES.insert(sql, phone, { code_digest: codeDigest })
  await PHONE_LINES.insertMany(sql, lines)
}

export function findPhone(sql: Sql, id: string): Promise<PairedPhone | undefined> {
  return PHONES.find(sql, 'id = $1', [id])
}

/** A registered phone with the hash of its token. */
export async function findPhoneSecret(
  sql: Sql,
  id: string,
): Promise<{ phone: PairedPhone; secretHash: string } | undefined> {
  const row = await sql.one('select * from paired_phones where id = $1 and secret_hash is not null', [id])
  return row && { phone: PHONES.read(row), secretHash: row.secret_hash as string }
}

export function listPhones(sql: Sql): Promise<PairedPhone[]> {
  return PHONES.list(sql, 'true order by created_at, id')
}

/** Whether a code that still works has this digest. */
export function isCodeInUse(sql: Sql, digest: string, now: number): Promise<boolean> {
  return exists(sql, 'select 1 from paired_phones where code_digest = $1 and code_expires_at > $2', [
    digest,
    now,
  ])
}

/** A digest belongs to one phone at a time. */
export async function dropCode(sql: Sql, digest: string): Promise<void> {
  await sql.run(
    'update paired_phones set code_digest = null, code_expires_at = null where code_digest = $1',
    [digest],
  )
}

/** Replaces the phone's pairing code; returns whether there is such a phone. */
export function saveCode(sql: Sql, id: string, digest: string, expiresAt: number): Promise<boolean> {
  return hasChanged(sql, 'update paired_phones set code_digest = $2, code_expires_at = $3 where id = $1', [
    id,
    digest,
    expiresAt,
  ])
}

/** Uses up a code. The token that an earlier registration got ends with it. */
export function saveRegistration(
  sql: Sql,
  codeDigests: readonly string[],
  { name, sims }: Pick<PairedPhone, 'name' | 'sims'>,
  now: number,
  secretHash: string,
): Promise<PairedPhone | undefined> {
  const digests = sql.inList(5, codeDigests)
  return PHONES.one(
    sql,
    `update paired_phones
     set name = $1, sims = $2, registered_at = $3, secret_hash = $4, code_digest = null, code_expires_at = null
     where code_digest ${digests.sql} and code_expires_at > $3 returning *`,
    [name, JSON.stringify(sims), now, secretHash, digests.param],
  )
}

export async function saveSims(sql: Sql, id: string, sims: PairedPhone['sims']): Promise<void> {
  await sql.run('update paired_phones set sims = $2 where id = $1', [id, JSON.stringify(sims)])
}

/** Notes that a phone called, unless it did after `since`. */
export async function saveSeen(sql: Sql, id: string, now: number, since: number): Promise<void> {
  await sql.run(
    'update paired_phones set seen_at = $2 where id = $1 and (seen_at is null or seen_at <= $3)',
    [id, now, since],
  )
}

export async function removePhone(sql: Sql, id: string): Promise<boolean> {
  await sql.run('delete from phone_lines where phone_id = $1', [id])
  return hasChanged(sql, 'delete from paired_phones where id = $1', [id])
}

export function listLinesOfPhone(sql: Sql, phoneId: string): Promise<PhoneLine[]> {
  return PHONE_LINES.list(sql, 'phone_id = $1 order by sim, line_id', [phoneId])
}

export function listPhoneLines(sql: Sql): Promise<PhoneLine[]> {
  return PHONE_LINES.list(sql, 'true order by sim, line_id')
}

export function findPhoneOfLine(sql: Sql, lineId: string): Promise<PhoneLine | undefined> {
  return PHONE_LINES.find(sql, 'line_id = $1', [lineId])
}

export async function dropPhoneLine(sql: Sql, lineId: string): Promise<void> {
  await sql.run('delete from phone_lines where line_id = $1', [lineId])
}
