import type { HostedWidget, Verification, VerifyService } from '../../core/verify/verification.js'
import type { Param, Reads, Sql } from '../engine/db.js'
import { findValue, forUpdate, hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'

const SERVICES = table<VerifyService>()('verify_services', {
  text: 'sid accountId friendlyName',
  number: 'codeLength ttlSeconds createdAt',
  flag: 'useCustomerLines',
})

type VerificationRow = Omit<Verification, 'to' | 'hosted'> & { toNumber: string } & {
  [K in keyof HostedWidget]: HostedWidget[K] | null
}

const VERIFICATIONS = table<VerificationRow>()('verifications', {
  text: 'sid serviceSid accountId toNumber lineId poolNumber code status sessionId parentOrigin brandName accentColor theme',
  number: 'createdAt updatedAt expiresAt completedAt',
})

export async function insertVerifyService(sql: Sql, service: VerifyService): Promise<void> {
  await SERVICES.insert(sql, service)
}

export function findVerifyService(
  sql: Sql,
  accountId: string,
  sid: string,
): Promise<VerifyService | undefined> {
  return SERVICES.find(sql, 'sid = $1 and account_id = $2 and removed_at is null', [sid, accountId])
}

export function listVerifyServices(sql: Sql, accountId: string): Promise<VerifyService[]> {
  return SERVICES.list(sql, 'account_id = $1 and removed_at is null order by created_at, sid', [accountId])
}

export function removeVerifyService(sql: Sql, accountId: string, sid: string, now: number): Promise<boolean> {
  return hasChanged(
    sql,
    'update verify_services set removed_at = $3 where sid = $1 and account_id = $2 and removed_at is null',
    [sid, accountId, now],
  )
}

/** How many verifications of a person are pending for an account on a line; counts no further than `limit`. */
export async function countPending(
  sql: Sql,
  { accountId, lineId, to }: Pick<Verification, 'accountId' | 'lineId' | 'to'>,
  limit: number,
): Promise<number> {
  const pending = await sql.all(
    "select sid from verifications where line_id = $1 and to_number = $2 and status = 'pending' and account_id = $3 limit $4",
    [lineId, to, accountId, limit],
  )
  return pending.length
}

/** Returns false if another pending verification has the same code. */
export function insertVerification(
  sql: Sql,
  { to, hosted, ...verification }: Verification,
): Promise<boolean> {
  return VERIFICATIONS.insert(
    sql,
    { ...verification, toNumber: to, ...(hosted ?? NOT_HOSTED) },
    {},
    "on conflict (line_id, to_number, code) where status = 'pending' do nothing",
  )
}

const NOT_HOSTED = { sessionId: null, parentOrigin: null, brandName: null, accentColor: null, theme: null }

export function findVerification(
  sql: Sql,
  accountId: string,
  serviceSid: string,
  sid: string,
): Promise<Verification | undefined> {
  const where = 'sid = $1 and service_sid = $2 and account_id = $3'
  return first(sql, `select * from verifications where ${where}`, [sid, serviceSid, accountId])
}

export function findHostedVerification(sql: Sql, sessionId: string): Promise<Verification | undefined> {
  return first(sql, 'select * from verifications where session_id = $1', [sessionId])
}

export interface VerificationPage {
  updatedFrom?: number
  limit: number
  offset: number
}

/** Most recently changed first, so that a row that changes between two pages is seen twice rather than missed. */
export function listVerifications(
  sql: Reads,
  accountId: string,
  { updatedFrom = 0, limit, offset }: VerificationPage,
): Promise<Verification[]> {
  return read(
    sql,
    `select * from verifications where account_id = $1 and updated_at >= $2
     order by updated_at desc, sid desc limit $3 offset $4`,
    [accountId, updatedFrom, limit, offset],
  )
}

const END = 'update verifications set status = $1, updated_at = $2, completed_at = $2'

/** Approves the pending verification with this code. Of two concurrent texts only one succeeds. */
export function approveVerification(
  sql: Sql,
  lineId: string,
  from: string,
  code: string,
  now: number,
): Promise<Verification | undefined> {
  return first(
    sql,
    `${END} where line_id = $3 and to_number = $4 and code = $5 and status = 'pending' and expires_at > $2 returning *`,
    ['approved', now, lineId, from, code],
  )
}

/** Cancels a pending verification. */
export function cancelVerification(sql: Sql, sid: string, now: number): Promise<Verification | undefined> {
  const text = `${END} where sid = $3 and status = 'pending' and expires_at > $2 returning *`
  return first(sql, text, ['canceled', now, sid])
}

export function cancelVerificationsOf(sql: Sql, serviceSid: string, now: number): Promise<Verification[]> {
  const text = `${END} where service_sid = $3 and status = 'pending' and expires_at > $2 returning *`
  return read(sql, text, ['canceled', now, serviceSid])
}

/** Expires verifications whose time is over. */
export function expireVerifications(sql: Sql, now: number, limit: number): Promise<Verification[]> {
  return read(
    sql,
    `${END} where status = 'pending' and sid in (select sid from verifications
       where status = 'pending' and expires_at <= $2 order by expires_at, sid limit $3 ${forUpdate(sql)}) returning *`,
    ['expired', now, limit],
  )
}

/** Time of the next expiry. */
export function findNextExpiry(sql: Sql): Promise<number | undefined> {
  return findValue(sql, "select min(expires_at) from verifications where status = 'pending'")
}

async function read(sql: Reads, text: string, params: readonly Param[]): Promise<Verification[]> {
  const rows = await VERIFICATIONS.all(sql, text, params)
  return rows.map(({ toNumber, sessionId, parentOrigin, brandName, accentColor, theme, ...rest }) => ({
    ...rest,
    to: toNumber,
    hosted:
      sessionId === null
        ? null
        : { sessionId, parentOrigin: parentOrigin!, brandName: brandName!, accentColor, theme: theme! },
  }))
}

async function first(sql: Sql, text: string, params: readonly Param[]): Promise<Verification | undefined> {
  return (await read(sql, text, params))[0]
}
