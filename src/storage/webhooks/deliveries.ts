import type { Columns, ColumnType, Db, Sql, Writes } from '../engine/db.js'
import { findValue, listValues } from '../engine/query.js'
import { SLICE } from '../engine/slices.js'
import { table } from '../engine/table.js'

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'canceled'

/** One event for one receiver. */
export interface Delivery {
  id: number
  accountId: string
  /** The queue of the delivery: an endpoint's id, or the receiver of status callbacks. */
  lane: string
  /** Null for status callbacks. */
  endpointId: string | null
  type: string
  url: string
  eventSeq: number
  eventType: string
  subject: string
  body: string
  state: DeliveryState
  attempts: number
  /** Attempts since the delivery was created or last replayed. */
  tries: number
  nextAt: number | null
  httpStatus: number | null
  reason: string | null
  createdAt: number
  finishedAt: number | null
}

export type NewDelivery = Omit<
  Delivery,
  'id' | 'state' | 'attempts' | 'tries' | 'httpStatus' | 'reason' | 'finishedAt'
>

/** One HTTP request of a delivery and its answer. */
export interface DeliveryAttempt {
  deliveryId: number
  n: number
  at: number
  ms: number
  httpStatus: number | null
  reason: string | null
  requestHeaders: Record<string, string>
  answerHeaders: Record<string, string> | null
  answer: string | null
}

export const DELIVERIES = table<Delivery>()('webhook_deliveries', {
  serial: 'id',
  text: 'accountId lane endpointId type url eventType subject body state reason',
  number: 'eventSeq attempts tries nextAt httpStatus createdAt finishedAt',
})

const NEW_DELIVERIES = table<NewDelivery>()('webhook_deliveries', {
  text: 'accountId lane endpointId type url eventType subject body',
  number: 'eventSeq nextAt createdAt',
})
const NEW_COLUMNS = { ...NEW_DELIVERIES.columns, state: 'text', attempts: 'bigint', tries: 'bigint' } as const

export const ATTEMPTS = table<DeliveryAttempt>()('webhook_attempts', {
  text: 'reason answer',
  number: 'deliveryId n at ms httpStatus',
  json: 'requestHeaders answerHeaders',
})

export async function insertDeliveries(sql: Writes, deliveries: readonly NewDelivery[]): Promise<void> {
  const rows = deliveries.map(NEW_DELIVERIES.values)
  for (const row of rows) row.push('pending', 0, 0)
  await sql.insertMany('webhook_deliveries', NEW_COLUMNS, rows)
}

/** A receiver may answer with the body it got: the answer is not kept if the body was erased during the post. */
const unlessErased = (name: string) => ({
  type: 'text' as const,
  as: `case when {${name}} <> '' and exists (select 1 from webhook_deliveries d where d.id = {delivery_id} and d.body = '')
    then null else {${name}} end`,
})

const ATTEMPT_COLUMNS = {
  ...ATTEMPTS.columns,
  answer: unlessErased('answer'),
  // Fails with MissingValue when the delivery was deleted while it was posted.
  delivery_id: {
    type: 'bigint',
    as: '(select d.id from webhook_deliveries d where d.id = {delivery_id})',
  },
} as const

/** The fields of a delivery that its queue needs. */
export interface QueuedDelivery {
  id: number
  eventSeq: number
  subject: string
  nextAt: number
}

const QUEUED = 'select id, event_seq as "eventSeq", subject, next_at as "nextAt" from webhook_deliveries'

/** The waiting deliveries of a lane, in the order of the events: a window into the table. */
export function listLaneQueue(
  sql: Sql,
  lane: string,
  afterId: number,
  limit: number,
): Promise<QueuedDelivery[]> {
  return sql.all(`${QUEUED} where lane = $1 and next_at is not null and id > $2 order by id limit $3`, [
    lane,
    afterId,
    limit,
  ])
}

/** A shorter wait is not worth a query. */
const LONG_WAIT_MS = 60_000

/** Makes deliveries due whose waiting time was written by a clock that was ahead, as `correctWaits` of messages does. */
export async function correctDeliveryWaits(
  db: Db,
  rows: QueuedDelivery[],
  now: number,
): Promise<QueuedDelivery[]> {
  const late = rows.filter(({ nextAt }) => nextAt > now + LONG_WAIT_MS)
  if (late.length === 0) return rows
  const corrected = await db.tx((sql) => {
    const list = sql.inIds(
      2,
      late.map(({ id }) => id),
    )
    return listValues<number>(
      sql,
      `update webhook_deliveries set next_at = $1 where id ${list.sql} and next_at > $1 and (created_at > $1
         or exists (select 1 from webhook_attempts a where a.delivery_id = webhook_deliveries.id and a.at > $1))
       returning id`,
      [now, list.param],
    )
  })
  const due = new Set(corrected)
  return rows.map((row) => (due.has(row.id) ? { ...row, nextAt: now } : row))
}

/** The waiting deliveries of one subject, for which the window had no room. */
export function listSubjectQueue(
  sql: Sql,
  lane: string,
  subject: string,
  limit: number,
): Promise<QueuedDelivery[]> {
  return sql.all(`${QUEUED} where subject = $1 and lane = $2 and next_at is not null order by id limit $3`, [
    subject,
    lane,
    limit,
  ])
}

/** Lanes with waiting deliveries, of the accounts in these shards. */
export function listBusyLanes(
  sql: Sql,
  shards: readonly number[],
): Promise<{ lane: string; accountId: string }[]> {
  const list = sql.inIds(1, shards)
  return sql.all(
    `select distinct d.lane, d.account_id as "accountId" from webhook_deliveries d
     join webhook_feeds f on f.account_id = d.account_id
     where d.next_at is not null and f.shard ${list.sql}`,
    [list.param],
  )
}

export async function findDeliveries(sql: Sql, ids: readonly number[]): Promise<Map<number, Delivery>> {
  if (ids.length === 0) return new Map()
  const list = sql.inIds(1, ids)
  const deliveries = await DELIVERIES.list(sql, `id ${list.sql}`, [list.param])
  return new Map(deliveries.map((one) => [one.id, one]))
}

/** Written only if no other process has recorded an attempt since this one began. */
const ifKnown = <T extends ColumnType>(type: T, name: string, more = '') => ({
  type,
  as: `case when webhook_deliveries.attempts = {attempts} - 1 ${more} then {${name}} else webhook_deliveries.${name} end`,
})
/** Like `ifKnown`, and only if the delivery was not canceled in the meantime. */
const ifOpen = <T extends ColumnType>(type: T, name: string) =>
  ifKnown(type, name, 'and webhook_deliveries.next_at is not null')

const POSTED = {
  attempts: ifKnown('bigint', 'attempts'),
  http_status: ifKnown('bigint', 'http_status'),
  state: ifOpen('text', 'state'),
  tries: ifOpen('bigint', 'tries'),
  next_at: ifOpen('bigint', 'next_at'),
  reason: ifOpen('text', 'reason'),
  finished_at: ifOpen('bigint', 'finished_at'),
} as const satisfies Columns

const CANCELED = {
  state: 'text',
  next_at: 'bigint',
  reason: 'text',
  finished_at: 'bigint',
} as const satisfies Columns

/**
 * Records the results of attempts; an outcome without an attempt cancels its delivery. An attempt takes time, so it
 * does not overrule a cancellation or an attempt that another process has recorded in the meantime.
 */
export async function saveOutcomes(
  sql: Writes,
  outcomes: readonly { delivery: Delivery; attempt: DeliveryAttempt | null }[],
): Promise<void> {
  const posted = outcomes.filter(({ attempt }) => attempt !== null)
  const canceled = outcomes.filter(({ attempt }) => attempt === null)
  await Promise.all([
    sql.updateMany(
      'webhook_deliveries',
      // With the event's number: a database that lost commits uses ids again, but no event numbers.
      { id: 'bigint', event_seq: 'bigint' },
      POSTED,
      posted.map(({ delivery: one }) => [
        one.id,
        one.eventSeq,
        one.attempts,
        one.httpStatus,
        one.state,
        one.tries,
        one.nextAt,
        one.reason,
        one.finishedAt,
      ]),
    ),
    sql.updateMany(
      'webhook_deliveries',
      { id: 'bigint', event_seq: 'bigint' },
      CANCELED,
      canceled.map(({ delivery: one }) => [
        one.id,
        one.eventSeq,
        one.state,
        one.nextAt,
        one.reason,
        one.finishedAt,
      ]),
      'webhook_deliveries.next_at is not null',
    ),
    sql.insertMany(
      'webhook_attempts',
      ATTEMPT_COLUMNS,
      posted.map(({ attempt }) => ATTEMPTS.values(attempt!)),
      'on conflict (delivery_id, n) do nothing',
    ),
  ])
}

/** Cancels up to `SLICE` waiting deliveries of a lane. Returns whether there may be more. */
export async function cancelInLane(sql: Sql, lane: string, reason: string, now: number): Promise<boolean> {
  const canceled = await sql.run(
    `update webhook_deliveries set state = 'canceled', next_at = null, reason = $2, finished_at = $3
     where id in (select id from webhook_deliveries where lane = $1 and next_at is not null limit ${SLICE})
       and next_at is not null`,
    [lane, reason, now],
  )
  return canceled === SLICE
}

export async function countWaiting(sql: Sql, accountId: string): Promise<number> {
  const text = 'select count(*) from webhook_deliveries where account_id = $1 and next_at is not null'
  return (await findValue<number>(sql, text, [accountId]))!
}

/** The newest waiting delivery of an account that has `limit` newer ones; undefined if so many do not wait. */
export function findSurplus(sql: Sql, accountId: string, limit: number): Promise<number | undefined> {
  return findValue(
    sql,
    'select id from webhook_deliveries where account_id = $1 and next_at is not null order by id desc limit 1 offset $2',
    [accountId, limit],
  )
}

/** Fails up to `SLICE` waiting deliveries of an account, up to this one. Returns their number. */
export function failThrough(
  sql: Sql,
  accountId: string,
  id: number,
  reason: string,
  now: number,
): Promise<number> {
  return sql.run(
    `update webhook_deliveries set state = 'failed', next_at = null, reason = $3, finished_at = $4
     where id in (select id from webhook_deliveries where account_id = $1 and next_at is not null and id <= $2
         order by id limit ${SLICE})
       and next_at is not null`,
    [accountId, id, reason, now],
  )
}
