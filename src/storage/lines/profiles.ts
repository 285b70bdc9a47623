import type { Card, CardChange } from '../../core/lines/profile.js'
import type { Sql } from '../engine/db.js'
import { hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'

/** A requested change of a line's name and photo. */
export interface ProfileRequest {
  id: string
  accountId: string
  lineId: string
  lineNumber: string
  change: CardChange
  /** Name and photo after this change succeeds. */
  card: Card
  operationId: string | null
  attempts: number
  nextAt: number
  requestedAt: number
  /** Null until the change is finished. */
  doneAt: number | null
  errorCode: string | null
}

const REQUESTS = table<ProfileRequest>()('profile_requests', {
  text: 'id accountId lineId lineNumber operationId errorCode',
  number: 'attempts nextAt requestedAt doneAt',
  json: 'change card',
})

export async function insertProfileRequest(sql: Sql, request: ProfileRequest): Promise<void> {
  await REQUESTS.insert(sql, request)
}

/** Serialises the requests of a line, so that each sees the one before. */
export async function lockProfile(sql: Sql, lineId: string): Promise<void> {
  if (sql.engine === 'postgres') await sql.one('select 1 from lines where id = $1 for update', [lineId])
}

/** The latest request of a line that has not failed. */
export function findLastRequest(sql: Sql, lineId: string): Promise<ProfileRequest | undefined> {
  return REQUESTS.find(sql, 'line_id = $1 and error_code is null order by id desc limit 1', [lineId])
}

/** The oldest open request of a line. */
export function findOpenRequest(sql: Sql, lineId: string): Promise<ProfileRequest | undefined> {
  return REQUESTS.find(sql, 'line_id = $1 and done_at is null order by id limit 1', [lineId])
}

/** Requests whose line is gone. */
export function listLostRequests(sql: Sql, limit: number): Promise<ProfileRequest[]> {
  const removed = 'select id from lines where removed_at is not null'
  return REQUESTS.list(sql, `done_at is null and line_id in (${removed}) order by line_id, id limit $1`, [
    limit,
  ])
}

export async function saveTry(
  sql: Sql,
  id: string,
  operationId: string,
  attempts: number,
  nextAt: number,
): Promise<void> {
  await sql.run(
    'update profile_requests set operation_id = $2, attempts = $3, next_at = $4 where id = $1 and done_at is null',
    [id, operationId, attempts, nextAt],
  )
}

/** Ends a request; false if it has already ended. */
export function endRequest(sql: Sql, id: string, at: number, errorCode: string | null): Promise<boolean> {
  return hasChanged(
    sql,
    'update profile_requests set done_at = $2, error_code = $3 where id = $1 and done_at is null',
    [id, at, errorCode],
  )
}

/** By line alone: only dedicated lines share their profile, and a dedicated line has one account for all its life. */
interface ProfileShare {
  askedAt: number
  /** Null while the line is sharing. */
  sharedAt: number | null
}

export function findShare(sql: Sql, lineId: string, number: string): Promise<ProfileShare | undefined> {
  return sql.one(
    'select asked_at as "askedAt", shared_at as "sharedAt" from profile_shares where line_id = $1 and number = $2',
    [lineId, number],
  )
}

/** Claims the sharing; false if it was done since `sharedSince` or started since `askedSince`. */
export function claimShare(
  sql: Sql,
  lineId: string,
  number: string,
  now: number,
  sharedSince: number,
  askedSince: number,
): Promise<boolean> {
  return hasChanged(
    sql,
    `insert into profile_shares (line_id, number, asked_at, shared_at) values ($1, $2, $3, null)
     on conflict (line_id, number) do update set asked_at = excluded.asked_at, shared_at = null
     where profile_shares.shared_at <= $4 or (profile_shares.shared_at is null and profile_shares.asked_at <= $5)`,
    [lineId, number, now, sharedSince, askedSince],
  )
}

export async function saveShared(sql: Sql, lineId: string, number: string, at: number): Promise<void> {
  await sql.run(
    `insert into profile_shares (line_id, number, asked_at, shared_at) values ($1, $2, $3, $3)
     on conflict (line_id, number) do update set shared_at = excluded.shared_at`,
    [lineId, number, at],
  )
}

export async function releaseShare(sql: Sql, lineId: string, number: string): Promise<void> {
  await sql.run('delete from profile_shares where line_id = $1 and number = $2 and shared_at is null', [
    lineId,
    number,
  ])
}
