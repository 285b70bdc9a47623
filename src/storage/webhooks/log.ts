import type { Param, Reads, Sql, Writes } from '../engine/db.js'
import { listValues } from '../engine/query.js'
import {
  ATTEMPTS,
  DELIVERIES,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryState,
} from './deliveries.js'

export interface LogFilter {
  state?: DeliveryState
  type?: string
  /** A message's handle, or another subject of the event. */
  subject?: string
  /** Inclusive. */
  from?: number
  /** Exclusive. */
  to?: number
}

export interface LogPlace {
  createdAt: number
  id: number
}

/** Maximum number of rows that one page reads: a filter with few matches must not read a table of millions. */
const LOOKED_AT = 5000

/** A page of an account's deliveries, newest first. A page that is not full may still have a next page. */
export async function listDeliveries(
  sql: Reads,
  accountId: string,
  filter: LogFilter,
  before: LogPlace | undefined,
  limit: number,
): Promise<{ deliveries: Delivery[]; next: LogPlace | undefined }> {
  const params: Param[] = [accountId]
  const bind = (value: Param) => `$${params.push(value)}`
  const bounds = [`account_id = $1`]
  if (before) bounds.push(`(created_at, id) < (${bind(before.createdAt)}, ${bind(before.id)})`)
  if (filter.from !== undefined) bounds.push(`created_at >= ${bind(filter.from)}`)
  if (filter.to !== undefined) bounds.push(`created_at < ${bind(filter.to)}`)
  // Each of these two conditions has a partial index.
  if (filter.state === 'failed') bounds.push(`state = 'failed'`)
  if (filter.subject !== undefined) bounds.push(`subject = ${bind(filter.subject)}`)
  const most = hasFurther(filter) ? LOOKED_AT : limit
  const order = `order by created_at desc, id desc limit ${bind(most)}`
  // Without the bodies, which are most of a delivery.
  const looked = await sql.all<LogPlace & { state: DeliveryState; type: string }>(
    `select id, created_at as "createdAt", state, type from webhook_deliveries where ${bounds.join(' and ')} ${order}`,
    params,
  )
  const matching = looked.filter(
    (one) =>
      (filter.state === undefined || one.state === filter.state) &&
      (filter.type === undefined || one.type === filter.type),
  )
  const page = matching.slice(0, limit)
  const list = sql.inIds(
    1,
    page.map(({ id }) => id),
  )
  const deliveries = await DELIVERIES.list(sql, `id ${list.sql} order by created_at desc, id desc`, [
    list.param,
  ])
  const isWhole = page.length === matching.length && looked.length < most
  const last = page.length < matching.length ? page.at(-1) : looked.at(-1)
  return { deliveries, next: isWhole || !last ? undefined : { createdAt: last.createdAt, id: last.id } }
}

/** Whether the filter has a condition without an index. */
function hasFurther({ state, type }: LogFilter): boolean {
  return type !== undefined || (state !== undefined && state !== 'failed')
}

/** The states of deliveries since a time, newest first. */
export function scanDeliveryStates(
  sql: Reads,
  accountId: string,
  from: number,
  limit: number,
): Promise<Pick<Delivery, 'createdAt' | 'state' | 'attempts'>[]> {
  return sql.all(
    `select created_at as "createdAt", state, attempts from webhook_deliveries where account_id = $1 and created_at >= $2
     order by created_at desc, id desc limit $3`,
    [accountId, from, limit],
  )
}

export function findDelivery(sql: Sql, accountId: string, id: number): Promise<Delivery | undefined> {
  return DELIVERIES.find(sql, 'id = $1 and account_id = $2', [id, accountId])
}

export function listDeliveryAttempts(sql: Sql, deliveryId: number): Promise<DeliveryAttempt[]> {
  return ATTEMPTS.list(sql, 'delivery_id = $1 order by n', [deliveryId])
}

/** Attempts of several deliveries, oldest delivery first. */
export async function listAttemptsOf(
  sql: Sql,
  deliveryIds: readonly number[],
  limit: number,
): Promise<DeliveryAttempt[]> {
  if (deliveryIds.length === 0) return []
  const list = sql.inIds(1, deliveryIds)
  return ATTEMPTS.list(sql, `delivery_id ${list.sql} order by delivery_id, n limit $2`, [list.param, limit])
}

/** Reopens finished deliveries. Returns their number and the lanes with new work. */
export async function reopenDeliveries(
  sql: Sql,
  accountId: string,
  ids: readonly number[],
  now: number,
): Promise<{ reopened: number; lanes: string[] }> {
  const list = sql.inIds(3, ids)
  const lanes = await listValues<string>(
    sql,
    `update webhook_deliveries set state = 'pending', tries = 0, next_at = $2, finished_at = null
     where account_id = $1 and id ${list.sql} and next_at is null and body <> '' returning lane`,
    [accountId, now, list.param],
  )
  return { reopened: lanes.length, lanes: [...new Set(lanes)] }
}

/** Erases the bodies of deliveries about messages, and the answers, which may repeat them. Cancels the waiting ones. */
export async function eraseDeliveries(
  sql: Writes,
  accountId: string,
  handles: readonly string[],
  now: number,
): Promise<void> {
  const list = sql.inList(3, handles)
  await eraseWhere(sql, now, 'The message was deleted', `subject ${list.sql} and account_id = $4`, [
    list.param,
    accountId,
  ])
}

/** Erases the body of a delivery that names an erased person, and its answers. Cancels it if it waits. */
export function eraseDelivery(sql: Writes, id: number, now: number): Promise<void> {
  return eraseWhere(sql, now, 'The person was erased', 'id = $3', [id])
}

/** The condition has its parameters from $3 on. */
async function eraseWhere(
  sql: Writes,
  now: number,
  reason: string,
  where: string,
  params: readonly Param[],
): Promise<void> {
  const ofAttempts = where.replace(/\$(\d)/g, (_, n) => `$${n - 2}`)
  await Promise.all([
    sql.run(
      `update webhook_deliveries set body = '',
         state = case when next_at is null then state else 'canceled' end,
         reason = case when next_at is null then reason else $2 end,
         finished_at = case when next_at is null then finished_at else $1 end,
         next_at = null
       where ${where}`,
      [now, reason, ...params],
    ),
    sql.run(
      `update webhook_attempts set answer = null
       where delivery_id in (select id from webhook_deliveries where ${ofAttempts})`,
      params,
    ),
  ])
}

/** Which of these messages a delivery of the account waits for. */
export async function listAwaited(
  sql: Sql,
  accountId: string,
  handles: readonly string[],
): Promise<string[]> {
  const list = sql.inList(2, handles)
  return listValues(
    sql,
    `select distinct subject from webhook_deliveries
     where subject ${list.sql} and account_id = $1 and next_at is not null`,
    [accountId, list.param],
  )
}

/** Deliveries of an account up to a time, after a place, oldest first. */
export function listOldDeliveries(
  sql: Reads,
  accountId: string,
  until: number,
  after: LogPlace,
  limit: number,
): Promise<(LogPlace & { nextAt: number | null })[]> {
  return sql.all(
    `select id, created_at as "createdAt", next_at as "nextAt" from webhook_deliveries
     where account_id = $1 and created_at <= $2 and (created_at, id) > ($3, $4)
     order by created_at, id limit $5`,
    [accountId, until, after.createdAt, after.id, limit],
  )
}

/** Deletes deliveries that have ended, with their attempts. Returns the number of deliveries. */
export async function removeDeliveries(sql: Sql, ids: readonly number[]): Promise<number> {
  const list = sql.inIds(1, ids)
  const gone = await listValues<number>(
    sql,
    `delete from webhook_deliveries where id ${list.sql} and next_at is null returning id`,
    [list.param],
  )
  const attempts = sql.inIds(1, gone)
  await sql.run(`delete from webhook_attempts where delivery_id ${attempts.sql}`, [attempts.param])
  return gone.length
}

/** Deletes old finished deliveries, a batch at a time. Returns whether there may be more. */
export async function dropDeliveries(sql: Sql, before: number, limit: number): Promise<boolean> {
  const rows = await sql.all<{ id: number; created_at: number; next_at: number | null }>(
    'select id, created_at, next_at from webhook_deliveries order by id limit $1',
    [limit],
  )
  const ids = rows.filter((row) => row.created_at < before && row.next_at === null).map((row) => row.id)
  if (ids.length === 0) return false
  await removeDeliveries(sql, ids)
  return ids.length === limit
}
