import { AppError } from '../core/errors.js'
import { dropReplay, findReplay, insertReplays, saveReplay } from '../storage/accounts/replays.js'
import type { Sql } from '../storage/engine/db.js'
import { UniqueViolation } from '../storage/engine/db.js'
import { txOf } from './accounts/present.js'
import { isLate, requireFresh } from './arrival.js'
import type { Ctx } from './ctx.js'
import {
  ADMIN_SCOPE,
  isForLate,
  KEY_LIFETIME_MS,
  mayRepeat,
  RETRY_WINDOW_MS,
  type RequestIdentity,
  retryKey,
} from './replay.js'

export interface Answer<T = unknown> {
  status: number
  body: T
  /** The answer without parts that are shown only once; a repeated request gets this. */
  stored?: T
  /** Runs after the first answer only, outside its transaction. */
  after?: () => Promise<void> | void
}

/**
 * How to answer the published SDK's own retries. They carry no key, and the first attempt may never have arrived, so
 * an equal request of the last minutes may be another request. It depends on the effect:
 *
 * 'told': something goes out to a person and cannot be undone. The retry gets the first answer.
 * 'anew': the request sets a state and may run twice, or its answer is useless without a part that is shown only
 * once. The retry runs.
 * A function, for requests that create something: the retry gets the first answer while the thing exists; otherwise
 * the retry creates it again.
 */
export type Retries<T> = 'told' | 'anew' | Stands<T>
export type Stands<T> = (sql: Sql, told: T) => Promise<boolean>

/** The stored answer of an equal earlier request, for routes that do slow work before their effect. */
export async function earlierAnswer<T>(
  sql: Sql,
  request: RequestIdentity,
  now: number,
  retries: Retries<T> = 'told',
): Promise<Answer<T> | undefined> {
  return (await lookBack(sql, request, now, retries)).answer
}

/** `fallen` is a stored answer that no longer holds. */
async function lookBack<T>(
  sql: Sql,
  request: RequestIdentity,
  now: number,
  retries: Retries<T>,
): Promise<{ answer?: Answer<T>; fallen?: string }> {
  if (request.key === undefined && retries === 'anew') return {}
  if (request.key === undefined && request.retryCount === 0) return lookForRetry(sql, request, now)
  const key = request.key ?? `#${request.hash}`
  const earlier = await findReplay(sql, request.accountId, request.path, key, now)
  if (!earlier) return {}
  if (earlier.requestHash !== request.hash) {
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used before with another body. Use a new key for a new request.',
    )
  }
  const body: T = JSON.parse(earlier.body)
  const stands = request.key !== undefined || typeof retries === 'string' || (await retries(sql, body))
  return stands ? { answer: { status: earlier.status, body } } : { fallen: earlier.body }
}

/** The answer of a retry that was accepted while its first request waited; `fallen` is the answer of another request. */
async function lookForRetry<T>(
  sql: Sql,
  request: RequestIdentity,
  now: number,
): Promise<{ answer?: Answer<T>; fallen?: string }> {
  if (!isLate(request.arrival)) return {}
  const { accountId, path, hash } = request
  const retry = await findReplay(sql, accountId, path, retryKey(request), now)
  if (retry && isForLate(request, retry, now))
    return { answer: { status: retry.status, body: JSON.parse(retry.body) } }
  const other = await findReplay(sql, accountId, path, `#${hash}`, now)
  return other ? { fallen: other.body } : {}
}

/**
 * Runs a POST's effect once for each Idempotency-Key, and treats the published SDK's retries as `retries` says. The
 * answer is stored in the effect's transaction, so no effect exists without its answer.
 */
export async function once<T>(
  ctx: Ctx,
  request: RequestIdentity,
  effect: (sql: Sql) => Promise<Answer<T>>,
  retries: Retries<T> = 'told',
): Promise<Answer<T> & { replayed: boolean }> {
  const tx: Ctx['db']['tx'] = (work) =>
    request.accountId === ADMIN_SCOPE ? ctx.db.tx(work) : txOf(ctx, request.accountId, work)
  const inTime = (sql: Sql) => {
    requireFresh(request.arrival)
    return effect(sql)
  }
  if (retries === 'anew' && request.key === undefined) return { ...(await tx(inTime)), replayed: false }
  const key = request.key ?? `#${request.hash}`
  const looksBack = mayRepeat({ request })
  const run = () =>
    tx(async (sql): Promise<Answer<T> & { replayed: boolean }> => {
      const now = ctx.clock.now()
      const { answer: earlier, fallen } = await lookBack(sql, request, now, retries)
      // The lock on the account or the row of the audit log makes this wait for a synchronous standby too.
      if (earlier) return { ...earlier, replayed: true }
      const answer = await inTime(sql)
      const replay = {
        accountId: request.accountId,
        path: request.path,
        key,
        requestHash: request.hash,
        status: answer.status,
        body: JSON.stringify(answer.stored ?? answer.body),
        createdAt: now,
        expiresAt: now + (request.key === undefined ? RETRY_WINDOW_MS : KEY_LIFETIME_MS),
      }
      if (fallen !== undefined) await dropReplay(sql, replay, fallen)
      // Two equal first requests at once may both be intended; a retry beside its first request is not.
      await (looksBack ? insertReplays(sql, [replay]) : saveReplay(sql, replay))
      if (request.key === undefined && request.retryCount > 0)
        await saveReplay(sql, { ...replay, key: retryKey(request) })
      return { ...answer, replayed: false }
    })
  try {
    return await run()
  } catch (error) {
    // Another process may have answered the same request first; its stored answer is visible now.
    const met = error instanceof UniqueViolation || (error instanceof AppError && error.code === 'conflict')
    if (met && looksBack) return run()
    throw error
  }
}
