import type { HostedWidget, Verification, VerifyService } from '../../core/verify/verification.js'
import { fromBoolean, type Row, type Sql } from '../engine/db.js'

export async function insertVerifyService(sql: Sql, service: VerifyService): Promise<void> {
  await sql.run(
    `insert into verify_services (sid, account_id, friendly_name, code_length, ttl_seconds, use_customer_lines, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      service.sid,
      service.accountId,
      service.friendlyName,
      service.codeLength,
      service.ttlSeconds,
      fromBoolean(service.useCustomerLines),
      service.createdAt,
    ],
  )
}

export async function findVerifyService(
  sql: Sql,
  accountId: string,
  sid: string,
): Promise<VerifyService | undefined> {
  const row = await sql.one(
    'select * from verify_services where sid = $1 and account_id = $2 and removed_at is null',
    [sid, accountId],
  )
  return row && toService(row)
}

export async function listVerifyServices(sql: Sql, accountId: string): Promise<VerifyService[]> {
  const rows = await sql.all(
    'select * from verify_services where account_id = $1 and removed_at is null order by created_at, sid',
    [accountId],
  )
  return rows.map(toService)
}

export async function removeVerifyService(
  sql: Sql,
  accountId: string,
  sid: string,
  now: number,
): Promise<boolean> {
  const changed = await sql.run(
    'update verify_services set removed_at = $3 where sid = $1 and account_id = $2 and removed_at is null',
    [sid, accountId, now],
  )
  return changed > 0
}

/** Returns false if another pending verification has the same code. */
export async function insertVerification(sql: Sql, verification: Verification): Promise<boolean> {
  const { hosted } = verification
  const inserted = await sql.run(
    `insert into verifications (sid, service_sid, account_id, to_number, line_id, pool_number, code, status,
       created_at, updated_at, expires_at, session_id, parent_origin, brand_name, accent_color, theme)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
     on conflict (line_id, to_number, code) where status = 'pending' do nothing`,
    [
      verification.sid,
      verification.serviceSid,
      verification.accountId,
      verification.to,
      verification.lineId,
      verification.poolNumber,
      verification.code,
      verification.status,
      verification.createdAt,
      verification.updatedAt,
      verification.expiresAt,
      hosted?.sessionId ?? null,
      hosted?.parentOrigin ?? null,
      hosted?.brandName ?? null,
      hosted?.accentColor ?? null,
      hosted?.theme ?? null,
    ],
  )
  return inserted > 0
}

export async function findVerification(
  sql: Sql,
  accountId: string,
  serviceSid: string,
  sid: string,
): Promise<Verification | undefined> {
  const row = await sql.one(
    'select * from verifications where sid = $1 and service_sid = $2 and account_id = $3',
    [sid, serviceSid, accountId],
  )
  return row && toVerification(row)
}

export async function findHostedVerification(sql: Sql, sessionId: string): Promise<Verification | undefined> {
  const row = await sql.one('select * from verifications where session_id = $1', [sessionId])
  return row && toVerification(row)
}

export interface VerificationPage {
  updatedFrom?: number
  limit: number
  offset: number
}

/** Most recently changed first, so that a row that changes between two pages is seen twice rather than missed. */
export async function listVerifications(
  sql: Sql,
  accountId: string,
  { updatedFrom = 0, limit, offset }: VerificationPage,
): Promise<Verification[]> {
  const rows = await sql.all(
    `select * from verifications where account_id = $1 and updated_at >= $2
     order by updated_at desc, sid desc limit $3 offset $4`,
    [accountId, updatedFrom, limit, offset],
  )
  return rows.map(toVerification)
}

const END = 'update verifications set status = $1, updated_at = $2, completed_at = $2'

/** Approves the pending verification with this code. Of two concurrent texts only one succeeds. */
export async function approveVerification(
  sql: Sql,
  lineId: string,
  from: string,
  code: string,
  now: number,
): Promise<Verification | undefined> {
  const row = await sql.one(
    `${END} where line_id = $3 and to_number = $4 and code = $5 and status = 'pending' and expires_at > $2 returning *`,
    ['approved', now, lineId, from, code],
  )
  return row && toVerification(row)
}

/** Cancels a pending verification. */
export async function cancelVerification(
  sql: Sql,
  sid: string,
  now: number,
): Promise<Verification | undefined> {
  const row = await sql.one(`${END} where sid = $3 and status = 'pending' and expires_at > $2 returning *`, [
    'canceled',
    now,
    sid,
  ])
  return row && toVerification(row)
}

export async function cancelVerificationsOf(
  sql: Sql,
  serviceSid: string,
  now: number,
): Promise<Verification[]> {
  const rows = await sql.all(
    `${END} where service_sid = $3 and status = 'pending' and expires_at > $2 returning *`,
    ['canceled', now, serviceSid],
  )
  return rows.map(toVerification)
}

/** Expires verifications whose time is over. */
export async function expireVerifications(sql: Sql, now: number, limit: number): Promise<Verification[]> {
  const lock = sql.engine === 'postgres' ? 'for update' : ''
  const rows = await sql.all(
    `${END} where status = 'pending' and sid in (select sid from verifications
       where status = 'pending' and expires_at <= $2 order by expires_at, sid limit $3 ${lock}) returning *`,
    ['expired', now, limit],
  )
  return rows.map(toVerification)
}

/** Time of the next expiry. */
export async function findNextExpiry(sql: Sql): Promise<number | undefined> {
  const row = await sql.one<{ at: number | null }>(
    "select min(expires_at) as at from verifications where status = 'pending'",
  )
  return row?.at ?? undefined
}

function toService(row: Row): VerifyService {
  return {
    sid: row.sid as string,
    accountId: row.account_id as string,
    friendlyName: row.friendly_name as string,
    codeLength: row.code_length as number,
    ttlSeconds: row.ttl_seconds as number,
    useCustomerLines: row.use_customer_lines === 1,
    createdAt: row.created_at as number,
  }
}

function toVerification(row: Row): Verification {
  return {
    sid: row.sid as string,
    serviceSid: row.service_sid as string,
    accountId: row.account_id as string,
    to: row.to_number as string,
    lineId: row.line_id as string,
    poolNumber: row.pool_number as string,
    code: row.code as string,
    status: row.status as Verification['status'],
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    expiresAt: row.expires_at as number,
    completedAt: row.completed_at as number | null,
    hosted: row.session_id === null ? null : toHosted(row),
  }
}

function toHosted(row: Row): HostedWidget {
  return {
    sessionId: row.session_id as string,
    parentOrigin: row.parent_origin as string,
    brandName: row.brand_name as string,
    accentColor: row.accent_color as string | null,
    theme: row.theme as HostedWidget['theme'],
  }
}
