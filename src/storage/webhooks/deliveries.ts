import type { Columns, ColumnType, Param, Row, Sql, Writes } from '../engine/db.js'

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'canceled'

/** One event for one receiver. */
export interface Delivery {
  id: number
  accountId: string
  /** What waits together: an endpoint's id, or the receiver of status callbacks. */
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
  /** Those since it was last asked for. */
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

/** One post, as it went. */
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

const NEW_COLUMNS = {
  account_id: 'text',
  lane: 'text',
  endpoint_id: 'text',
  type: 'text',
  url: 'text',
  event_seq: 'bigint',
  event_type: 'text',
  subject: 'text',
  body: 'text',
  state: 'text',
  attempts: 'bigint',
  tries: 'bigint',
  next_at: 'bigint',
  created_at: 'bigint',
} as const satisfies Columns

export async function insertDeliveries(sql: Writes, deliveries: readonly NewDelivery[]): Promise<void> {
  await sql.insertMany(
    'webhook_deliveries',
    NEW_COLUMNS,
    deliveries.map((one) => [
      one.accountId,
      one.lane,
      one.endpointId,
      one.type,
      one.url,
      one.eventSeq,
      one.eventType,
      one.subject,
      one.body,
      'pending',
      0,
      0,
      one.nextAt,
      one.createdAt,
    ]),
  )
}

/** What a lane needs to know of a delivery to say when it is its turn. */
export interface QueuedDelivery {
  id: number
  eventSeq: number
  subject: string
  nextAt: number
}

function toQueued(row: Row): QueuedDelivery {
  return {
    id: row.id as number,
    eventSeq: row.event_seq as number,
    subject: row.subject as string,
    nextAt: row.next_at as number,
  }
}

/** What a lane has to post, in the order of the events: a window into the table. */
export async function listLaneQueue(
  sql: Sql,
  lane: string,
  afterId: number,
  limit: number,
): Promise<QueuedDelivery[]> {
  const rows = await sql.all(
    'select id, event_seq, subject, next_at from webhook_deliveries where lane = $1 and next_at is not null and id > $2 order by id limit $3',
    [lane, afterId, limit],
  )
  return rows.map(toQueued)
}

/** The same of one subject, after the window had no place for all of it. */
export async function listSubjectQueue(
  sql: Sql,
  lane: string,
  subject: string,
  limit: number,
): Promise<QueuedDelivery[]> {
  const rows = await sql.all(
    `select id, event_seq, subject, next_at from webhook_deliveries
     where subject = $1 and lane = $2 and next_at is not null order by id limit $3`,
    [subject, lane, limit],
  )
  return rows.map(toQueued)
}

/** Lanes with something to do, of the accounts in these parts. */
export async function listBusyLanes(
  sql: Sql,
  shards: readonly number[],
): Promise<{ lane: string; accountId: string }[]> {
  const list = sql.inIds(1, shards)
  const rows = await sql.all<{ lane: string; account_id: string }>(
    `select distinct d.lane, d.account_id from webhook_deliveries d
     join webhook_feeds f on f.account_id = d.account_id
     where d.next_at is not null and f.shard in ${list.sql}`,
    [list.param],
  )
  return rows.map((row) => ({ lane: row.lane, accountId: row.account_id }))
}

/** A new delivery as it is in the table, with the number it got there. */
export function asStored(id: number, fresh: NewDelivery): Delivery {
  return {
    ...fresh,
    id,
    state: 'pending',
    attempts: 0,
    tries: 0,
    httpStatus: null,
    reason: null,
    finishedAt: null,
  }
}

export async function findDeliveries(sql: Sql, ids: readonly number[]): Promise<Map<number, Delivery>> {
  if (ids.length === 0) return new Map()
  const list = sql.inIds(1, ids)
  const rows = await sql.all(`select * from webhook_deliveries where id in ${list.sql}`, [list.param])
  return new Map(rows.map((row) => [row.id as number, toDelivery(row)]))
}

/** A value that is written where nobody wrote down another post since this one began. */
const ifKnown = <T extends ColumnType>(type: T, name: string, more = '') => ({
  type,
  as: `case when webhook_deliveries.attempts = {attempts} - 1 ${more} then {${name}} else webhook_deliveries.${name} end`,
})
/** The same where it was not called off meanwhile, either. */
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

const CALLED_OFF = {
  state: 'text',
  next_at: 'bigint',
  reason: 'text',
  finished_at: 'bigint',
} as const satisfies Columns

/**
 * How posts ended, on their deliveries and in the list of their attempts; without an attempt, one is called off.
 * A post takes its time: whoever called the delivery off meanwhile, or has posted it as well, is not overruled.
 */
export async function saveOutcomes(
  sql: Writes,
  outcomes: readonly { delivery: Delivery; attempt: DeliveryAttempt | null }[],
): Promise<void> {
  const posted = outcomes.filter(({ attempt }) => attempt !== null)
  const calledOff = outcomes.filter(({ attempt }) => attempt === null)
  await Promise.all([
    sql.updateMany(
      'webhook_deliveries',
      { id: 'bigint' },
      POSTED,
      posted.map(({ delivery: one }) => [
        one.id,
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
      { id: 'bigint' },
      CALLED_OFF,
      calledOff.map(({ delivery: one }) => [one.id, one.state, one.nextAt, one.reason, one.finishedAt]),
      'webhook_deliveries.next_at is not null',
    ),
    sql.insertMany(
      'webhook_attempts',
      ATTEMPT_COLUMNS,
      posted.map(({ attempt }) => fromAttempt(attempt!)),
      'on conflict (delivery_id, n) do nothing',
    ),
  ])
}

/** Everything a lane still had to post is called off. */
export async function cancelLane(sql: Sql, lane: string, reason: string, now: number): Promise<number> {
  return sql.run(
    `update webhook_deliveries set state = 'canceled', next_at = null, reason = $2, finished_at = $3
     where lane = $1 and next_at is not null`,
    [lane, reason, now],
  )
}

const ATTEMPT_COLUMNS = {
  // Fails with MissingValue when the delivery was deleted while it was posted.
  delivery_id: {
    type: 'bigint',
    as: '(select d.id from webhook_deliveries d where d.id = {delivery_id})',
  },
  n: 'bigint',
  at: 'bigint',
  ms: 'bigint',
  http_status: 'bigint',
  reason: 'text',
  request_headers: 'text',
  answer_headers: 'text',
  answer: 'text',
} as const satisfies Columns

function fromAttempt(one: DeliveryAttempt): Param[] {
  return [
    one.deliveryId,
    one.n,
    one.at,
    one.ms,
    one.httpStatus,
    one.reason,
    JSON.stringify(one.requestHeaders),
    one.answerHeaders && JSON.stringify(one.answerHeaders),
    one.answer,
  ]
}

export function toDelivery(row: Row): Delivery {
  return {
    id: row.id as number,
    accountId: row.account_id as string,
    lane: row.lane as string,
    endpointId: row.endpoint_id as string | null,
    type: row.type as string,
    url: row.url as string,
    eventSeq: row.event_seq as number,
    eventType: row.event_type as string,
    subject: row.subject as string,
    body: row.body as string,
    state: row.state as DeliveryState,
    attempts: row.attempts as number,
    tries: row.tries as number,
    nextAt: row.next_at as number | null,
    httpStatus: row.http_status as number | null,
    reason: row.reason as string | null,
    createdAt: row.created_at as number,
    finishedAt: row.finished_at as number | null,
  }
}
