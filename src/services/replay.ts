import { createHash } from 'node:crypto'
import { elapsedMs } from '../base/time.js'
import { AppError } from '../core/errors.js'
import type { NewMessage } from '../core/messages/message.js'
import { isSameSend } from '../core/messages/message.js'
import { findReplay, type Replay } from '../storage/accounts/replays.js'
import type { Db, Sql } from '../storage/engine/db.js'
import { findMessagesByHandle, listTwins } from '../storage/messages/messages.js'
import { type Arrival, isLate } from './arrival.js'

/** Stands for an account in the identity of a request with an admin key. */
export const ADMIN_SCOPE = '#admin'

/** The parts of a request that a repetition of it must share. */
export interface RequestIdentity {
  accountId: string
  path: string
  /** Fingerprint of the body, computed on demand. */
  readonly hash: string
  /** The caller's Idempotency-Key. */
  readonly key?: string | undefined
  /** The published SDK's own retry count; its retries carry no key. */
  retryCount: number
  arrival?: Arrival | undefined
  /** The caller's trace context, as messages keep it. */
  trace?: string | null
}

export const KEY_LIFETIME_MS = 48 * 3_600_000
/** Three attempts of a minute each, with the waits between them, fit well inside. */
export const RETRY_WINDOW_MS = 10 * 60_000

interface Pending {
  message: NewMessage
  request: RequestIdentity
}

/** Clocks of processes may differ by this much. */
const SKEW_MS = 5000

/** Whether an earlier request may have the answer to this one. */
export function mayRepeat({ request }: { request: RequestIdentity }): boolean {
  return request.key !== undefined || request.retryCount > 0 || isLate(request.arrival)
}

/** A transaction that knows the messages of earlier requests that items repeat. */
export async function txWithAnswers<T>(
  db: Db,
  items: readonly Pending[],
  now: number,
  work: (sql: Sql, answers: Map<Pending, NewMessage>) => Promise<T>,
): Promise<T> {
  await untilStored(db, items.filter(mayRepeat))
  return db.tx(async (sql) => work(sql, await firstAnswers(sql, items, now)))
}

/**
 * The answer that an accepted retry left for its first request, which may still wait in a process that was stopped.
 * Kept apart from the answers that retries look for: a first request is merged with its retry and nothing else.
 */
export const retryKey = ({ hash }: RequestIdentity): string => `retry#${hash}`

/** Whether the stored answer of a retry is for this first request, not for an equal one before it. */
export function isForLate({ arrival }: RequestIdentity, { createdAt }: Replay, now: number): boolean {
  return arrival !== undefined && createdAt >= now - elapsedMs(arrival.at) - SKEW_MS
}

/**
 * The messages of earlier requests that items repeat. A first request is merged only with its own retry, if it waited
 * so long that the retry came before it, and never by its content: two equal texts may both be intended.
 */
export async function firstAnswers(
  sql: Sql,
  items: readonly Pending[],
  now: number,
): Promise<Map<Pending, NewMessage>> {
  const answers = new Map<Pending, NewMessage>()
  const repeats = items.filter(mayRepeat)
  if (repeats.length === 0) return answers
  await serialise(sql, repeats)
  for (const [index, item] of items.entries()) {
    if (!mayRepeat(item)) continue
    const before = items.slice(0, index).filter((other) => !answers.has(other))
    const sibling = before.find((other) => isRepeat(item, other))
    if (sibling && item.request.key !== undefined && sibling.request.hash !== item.request.hash)
      throw mismatch()
    const earlier = sibling?.message ?? (await findEarlier(sql, item, now))
    if (earlier) answers.set(item, earlier)
  }
  return answers
}

/** Whether an item repeats another item of its batch. */
function isRepeat({ request, message }: Pending, other: Pending): boolean {
  if (request.key === undefined)
    return isSameSend(message, other.message) && (request.retryCount > 0 || other.request.retryCount > 0)
  return (
    request.key === other.request.key &&
    request.path === other.request.path &&
    request.accountId === other.request.accountId
  )
}

async function findEarlier(
  sql: Sql,
  { request, message }: Pending,
  now: number,
): Promise<NewMessage | undefined> {
  if (request.key === undefined && request.retryCount === 0) {
    const replay = await findReplay(sql, request.accountId, request.path, retryKey(request), now)
    if (!replay || !isForLate(request, replay, now)) return undefined
    const made = (await findMessagesByHandle(sql, [replay.body])).get(replay.body)
    return made && asAccepted(made)
  }
  if (request.key === undefined) {
    const twins = await listTwins(sql, message, now - RETRY_WINDOW_MS)
    const twin = twins.find((one) => isSameSend(one, message))
    return twin && asAccepted(twin)
  }
  const made = await findKeyed(sql, request, now)
  return made && asAccepted(made)
}

/** The message that an earlier request with this key made. */
export async function findKeyed(
  sql: Sql,
  request: RequestIdentity,
  now: number,
): Promise<NewMessage | undefined> {
  if (request.key === undefined) return undefined
  const replay = await findReplay(sql, request.accountId, request.path, request.key, now)
  if (!replay) return undefined
  if (replay.requestHash !== request.hash) throw mismatch()
  return (await findMessagesByHandle(sql, [replay.body])).get(replay.body)
}

/** The message as it was accepted, which the first answer showed. */
function asAccepted(message: NewMessage): NewMessage {
  if (message.optedOut) return message
  return {
    ...message,
    status: 'QUEUED',
    error: null,
    wasDowngraded: null,
    updatedAt: message.createdAt,
    sentAt: message.createdAt,
  }
}

/**
 * The stored answer of a send, for its repeats or, of a retry, for its first request. The answer is the handle; the
 * rest is rendered from the message.
 */
export function replayOf(request: RequestIdentity, message: NewMessage, now: number): Replay {
  const { accountId, path, key, hash: requestHash } = request
  return {
    accountId,
    path,
    key: key ?? retryKey(request),
    requestHash,
    status: 202,
    body: message.handle,
    createdAt: now,
    expiresAt: now + (key === undefined ? RETRY_WINDOW_MS : KEY_LIFETIME_MS),
  }
}

/**
 * Waits until first requests that another process is storing at this moment are stored (PostgreSQL): they hold the
 * account's counter. A statement of its own, so that the counter is free again at once.
 */
async function untilStored(db: Db, items: readonly Pending[]): Promise<void> {
  if (db.engine !== 'postgres' || items.length === 0) return
  const list = db.inList(1, [...new Set(items.map((item) => item.request.accountId))])
  await db.all(`select 1 from event_counters where account_id ${list.sql} order by account_id for share`, [
    list.param,
  ])
}

/**
 * Two processes may hold the same request at once: a lock on its identity puts them in order until the commit
 * (PostgreSQL). Only repeats of the request wait for it, never the account's other requests.
 */
async function serialise(sql: Sql, items: readonly Pending[]): Promise<void> {
  if (sql.engine !== 'postgres') return
  const keys = new Set(items.map((item) => lockOf(item)))
  const list = sql.listTable(1, [...keys].sort())
  await sql.all(`select pg_advisory_xact_lock(j.value::bigint) from ${list.sql}`, [list.param])
}

/** A number for what repeats of a request share. */
function lockOf({ request, message }: Pending): string {
  const { accountId, path, key } = request
  const identity = key === undefined ? [accountId, message.contact, message.content] : [accountId, path, key]
  return createHash('sha256').update(JSON.stringify(identity)).digest().readBigInt64BE().toString()
}

function mismatch(): AppError {
  return new AppError(
    'idempotency_mismatch',
    'This Idempotency-Key was used before with another body. Use a new key for a new request.',
  )
}
