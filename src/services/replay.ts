import { AppError } from '../core/errors.js'
import type { Sql } from '../storage/db.js'
import { findMessagesByHandle, findTwin, type NewMessage } from '../storage/messages.js'
import { findReplay, type Replay } from '../storage/replays.js'

/** What makes two requests the same request. */
export interface RequestIdentity {
  accountId: string
  path: string
  /** Fingerprint of the body. */
  hash: string
  /** The caller's Idempotency-Key. */
  key?: string
  /** How often the published client says it has tried before: its retries carry no key of their own. */
  retryCount: number
}

export const KEY_LIFETIME_MS = 48 * 3_600_000
/** Three tries of a minute each, with the waits between them, fit well inside. */
export const RETRY_WINDOW_MS = 10 * 60_000

interface Pending {
  message: NewMessage
  request: RequestIdentity
}

/** Whether a request may be one we have answered before. */
export function mayRepeat({ request }: { request: RequestIdentity }): boolean {
  return request.key !== undefined || request.retryCount > 0
}

/**
 * For the items that repeat an earlier request: the message that one made. A first request is never merged by
 * its content, since two equal texts may both be meant.
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
  const inBatch = new Map<string, { message: NewMessage; hash: string }>()
  for (const item of items) {
    const { request, message } = item
    const name =
      request.key === undefined
        ? `hash ${request.path} ${request.hash}`
        : `key ${request.path} ${request.key}`
    const scoped = `${request.accountId} ${name}`
    const sibling = mayRepeat(item) ? inBatch.get(scoped) : undefined
    const earlier = sibling ?? (await findEarlier(sql, request, message, now))
    if (earlier) {
      if (earlier.hash !== request.hash) throw mismatch()
      answers.set(item, earlier.message)
    } else {
      inBatch.set(scoped, { message, hash: request.hash })
    }
  }
  return answers
}

async function findEarlier(sql: Sql, request: RequestIdentity, message: NewMessage, now: number) {
  if (request.key !== undefined) {
    const replay = await findReplay(sql, request.accountId, request.path, request.key, now)
    if (!replay) return undefined
    if (replay.requestHash !== request.hash) throw mismatch()
    const made = (await findMessagesByHandle(sql, [replay.body])).get(replay.body)
    return made && { message: asAccepted(made), hash: request.hash }
  }
  if (request.retryCount === 0) return undefined
  const twin = await findTwin(sql, {
    accountId: request.accountId,
    contact: message.contact,
    requestHash: request.hash,
    since: now - RETRY_WINDOW_MS,
  })
  return twin && { message: asAccepted(twin), hash: request.hash }
}

/** The message as it was when it was accepted, which is what the first answer showed. */
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

/** A send's stored answer is its handle: the rest of the answer is made from the message. */
export function replayOf(request: RequestIdentity, message: NewMessage, now: number): Replay {
  return {
    accountId: request.accountId,
    path: request.path,
    key: request.key!,
    requestHash: request.hash,
    status: 202,
    body: message.handle,
    createdAt: now,
    expiresAt: now + KEY_LIFETIME_MS,
  }
}

/** On PostgreSQL two nodes may hold the same request at once: the account's own lock puts them in order. */
async function serialise(sql: Sql, items: readonly Pending[]): Promise<void> {
  if (sql.engine !== 'postgres') return
  for (const accountId of [...new Set(items.map((item) => item.request.accountId))].sort()) {
    await sql.one('select 1 from event_counters where account_id = $1 for update', [accountId])
  }
}

function mismatch(): AppError {
  return new AppError(
    'idempotency_mismatch',
    'This Idempotency-Key was used before with another body. Use a new key for a new request.',
  )
}
