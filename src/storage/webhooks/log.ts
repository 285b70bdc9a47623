import { topics } from '../../core/topics.js'
import type { Param, Row, Sql } from '../engine/db.js'
import { type Delivery, type DeliveryAttempt, type DeliveryState, toDelivery } from './deliveries.js'

export interface LogFilter {
  state?: DeliveryState
  type?: string
  /** A message's handle, or whatever else the event is about. */
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

/** Rows one page looks through at most: a filter that hits little must not read a table of millions. */
const LOOKED_AT = 5000

/** A page of an account's deliveries, newest first. It may hold less than asked for and yet not be the last. */
export async function listDeliveries(
  sql: Sql,
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
  // Those two have an index that holds nothing else.
  if (filter.state === 'failed') bounds.push(`state = 'failed'`)
  if (filter.subject !== undefined) bounds.push(`subject = ${bind(filter.subject)}`)
  const rows = await sql.all(
    `select * from webhook_deliveries where ${bounds.join(' and ')}
     order by created_at desc, id desc limit ${bind(hasFurther(filter) ? LOOKED_AT : limit)}`,
    params,
  )
  const looked = rows.map(toDelivery)
  const matching = looked.filter(
    (one) =>
      (filter.state === undefined || one.state === filter.state) &&
      (filter.type === undefined || one.type === filter.type),
  )
  const deliveries = matching.slice(0, limit)
  const isWhole =
    deliveries.length === matching.length && looked.length < (hasFurther(filter) ? LOOKED_AT : limit)
  const last = deliveries.length < matching.length ? deliveries.at(-1) : looked.at(-1)
  return { deliveries, next: isWhole || !last ? undefined : { createdAt: last.createdAt, id: last.id } }
}

/** Whether something is asked for that no index knows. */
function hasFurther({ state, type }: LogFilter): boolean {
  return type !== undefined || (state !== undefined && state !== 'failed')
}

/** How deliveries went since a time, newest first. */
export async function scanDeliveryStates(
  sql: Sql,
  accountId: string,
  from: number,
  limit: number,
): Promise<Pick<Delivery, 'createdAt' | 'state' | 'attempts'>[]> {
  const rows = await sql.all(
    `select created_at, state, attempts from webhook_deliveries where account_id = $1 and created_at >= $2
     order by created_at desc, id desc limit $3`,
    [accountId, from, limit],
  )
  return rows.map((row) => ({
    createdAt: row.created_at as number,
    state: row.state as DeliveryState,
    attempts: row.attempts as number,
  }))
}

export async function findDelivery(sql: Sql, accountId: string, id: number): Promise<Delivery | undefined> {
  const row = await sql.one('select * from webhook_deliveries where id = $1 and account_id = $2', [
    id,
    accountId,
  ])
  return row && toDelivery(row)
}

export async function listDeliveryAttempts(sql: Sql, deliveryId: number): Promise<DeliveryAttempt[]> {
  const rows = await sql.all('select * from webhook_attempts where delivery_id = $1 order by n', [deliveryId])
  return rows.map(toAttempt)
}

/** The same for several, oldest delivery first. */
export async function listAttemptsOf(
  sql: Sql,
  deliveryIds: readonly number[],
  limit: number,
): Promise<DeliveryAttempt[]> {
  if (deliveryIds.length === 0) return []
  const list = sql.inIds(1, deliveryIds)
  const rows = await sql.all(
    `select * from webhook_attempts where delivery_id in ${list.sql} order by delivery_id, n limit $2`,
    [list.param, limit],
  )
  return rows.map(toAttempt)
}

/** Asks for deliveries again that had come to an end. Answers those lanes that have something to do by it. */
export async function reopenDeliveries(
  sql: Sql,
  accountId: string,
  ids: readonly number[],
  now: number,
): Promise<{ reopened: number; lanes: string[] }> {
  const list = sql.inIds(3, ids)
  const rows = await sql.all<{ lane: string }>(
    `update webhook_deliveries set state = 'pending', tries = 0, next_at = $2, finished_at = null
     where account_id = $1 and id in ${list.sql} and next_at is null and body <> '' returning lane`,
    [accountId, now, list.param],
  )
  return { reopened: rows.length, lanes: [...new Set(rows.map((row) => row.lane))] }
}

/** What was posted about something is erased, and what was not yet is called off. */
export async function eraseDeliveries(
  sql: Sql,
  accountId: string,
  subject: string,
  now: number,
): Promise<void> {
  sql.announce(topics.webhooksErased, accountId)
  await sql.run(
    `update webhook_deliveries set body = '',
       state = case when next_at is null then state else 'canceled' end,
       reason = case when next_at is null then reason else 'The message was deleted' end,
       finished_at = case when next_at is null then finished_at else $3 end,
       next_at = null
     where subject = $2 and account_id = $1`,
    [accountId, subject, now],
  )
}

/** Forgets old deliveries that have ended, some at a time. Answers whether there may be more. */
export async function dropDeliveries(sql: Sql, before: number, limit: number): Promise<boolean> {
  const rows = await sql.all<{ id: number; created_at: number; next_at: number | null }>(
    'select id, created_at, next_at from webhook_deliveries order by id limit $1',
    [limit],
  )
  const ids = rows.filter((row) => row.created_at < before && row.next_at === null).map((row) => row.id)
  if (ids.length === 0) return false
  const list = sql.inIds(1, ids)
  await sql.run(`delete from webhook_attempts where delivery_id in ${list.sql}`, [list.param])
  await sql.run(`delete from webhook_deliveries where id in ${list.sql}`, [list.param])
  return ids.length === limit
}

function toAttempt(row: Row): DeliveryAttempt {
  return {
    deliveryId: row.delivery_id as number,
    n: row.n as number,
    at: row.at as number,
    ms: row.ms as number,
    httpStatus: row.http_status as number | null,
    reason: row.reason as string | null,
    requestHeaders: JSON.parse(row.request_headers as string),
    answerHeaders: row.answer_headers === null ? null : JSON.parse(row.answer_headers as string),
    answer: row.answer as string | null,
  }
}
