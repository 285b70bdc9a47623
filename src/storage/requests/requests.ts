import type { LoggedRequest } from '../../core/requests/request.js'
import type { Db, Param, Reads, Sql, Writes } from '../engine/db.js'
import { deleteInSlices } from '../engine/slices.js'
import { table } from '../engine/table.js'

const REQUESTS = table<LoggedRequest>()('requests', {
  text: 'accountId id method path keyId errorCode errorMessage ignored requestBody responseBody',
  number: 'at status durationUs',
})

/** A batch whose outcome was unknown is written again, so rows may be there already. */
export async function insertRequests(sql: Writes, requests: readonly LoggedRequest[]): Promise<void> {
  await REQUESTS.insertMany(sql, requests, 'on conflict do nothing')
}

export interface RequestPlace {
  at: number
  id: string
}

export interface RequestFilter {
  accountId?: string | undefined
  /** First and last status. */
  status?: readonly [number, number] | undefined
  method?: string | undefined
  /** The beginning of the path. */
  path?: string | undefined
  since?: number | undefined
  before?: RequestPlace | undefined
}

/** Newest first. */
export function listRequests(sql: Reads, filter: RequestFilter, limit: number): Promise<LoggedRequest[]> {
  const params: Param[] = []
  const conditions: string[] = []
  const add = (condition: (...places: string[]) => string, ...values: Param[]) => {
    const places = values.map((_, i) => `$${params.length + i + 1}`)
    params.push(...values)
    conditions.push(condition(...places))
  }
  const { accountId, status, method, path, since, before } = filter
  if (accountId !== undefined) add((one) => `account_id = ${one}`, accountId)
  if (since !== undefined) add((one) => `at >= ${one}`, since)
  if (before) add((at, id) => `(at, id) < (${at}, ${id})`, before.at, before.id)
  if (status) add((first, last) => `status between ${first} and ${last}`, ...status)
  if (method !== undefined) add((one) => `method = ${one}`, method)
  if (path !== undefined) add((start, n) => `substr(path, 1, ${n}) = ${start}`, path, path.length)
  params.push(limit)
  const where = conditions.length === 0 ? '1 = 1' : conditions.join(' and ')
  return REQUESTS.list(sql, `${where} order by at desc, id desc limit $${params.length}`, params)
}

export function findRequest(
  sql: Sql,
  { at, id }: RequestPlace,
  accountId: string | undefined,
): Promise<LoggedRequest | undefined> {
  return accountId === undefined
    ? REQUESTS.find(sql, 'at = $1 and id = $2', [at, id])
    : REQUESTS.find(sql, 'account_id = $1 and at = $2 and id = $3', [accountId, at, id])
}

export function removeRequestsBefore(db: Db, at: number): Promise<number> {
  return deleteInSlices(db, { table: 'requests', where: 'at < $1', params: [at] })
}

/** Removes the oldest rows of an account, so that about this number stays. */
export async function removeRequestsBeyond(db: Db, accountId: string, kept: number): Promise<number> {
  const row = await db
    .aside(accountId)
    .one<{ at: number }>(
      'select at from requests where account_id = $1 order by at desc, id desc limit 1 offset $2',
      [accountId, kept],
    )
  if (!row) return 0
  const params = [accountId, row.at]
  return deleteInSlices(db, { table: 'requests', where: 'account_id = $1 and at <= $2', params })
}

/** Until when bodies of these accounts are kept; null: they are not. */
export async function saveBodiesUntil(
  sql: Sql,
  accountIds: readonly string[],
  until: number | null,
): Promise<void> {
  const list = sql.inList(2, accountIds)
  await sql.run(`update accounts set bodies_until = $1 where id ${list.sql}`, [until, list.param])
}
