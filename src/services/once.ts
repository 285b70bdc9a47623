import { AppError } from '../core/errors.js'
import type { Ctx } from '../ctx.js'
import type { Sql } from '../storage/db.js'
import { UniqueViolation } from '../storage/db.js'
import { findReplay, insertReplays, saveReplay } from '../storage/replays.js'
import { KEY_LIFETIME_MS, RETRY_WINDOW_MS, type RequestIdentity } from './replay.js'

export interface Answer<T = unknown> {
  status: number
  body: T
  /** The answer without what may be shown only once; this is what a repeat gets. */
  stored?: T
}

/** The answer of a request that this one repeats: for those that must do something slow before their effect. */
export async function earlierAnswer<T>(
  sql: Sql,
  request: RequestIdentity,
  now: number,
): Promise<Answer<T> | undefined> {
  if (request.key === undefined && request.retryCount === 0) return undefined
  const key = request.key ?? `#${request.hash}`
  const earlier = await findReplay(sql, request.accountId, request.path, key, now)
  if (!earlier) return undefined
  if (earlier.requestHash !== request.hash) {
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used before with another body. Use a new key for a new request.',
    )
  }
  return { status: earlier.status, body: JSON.parse(earlier.body) }
}

/**
 * What the published client's own retries get: the first answer, or, where its first answer is worth nothing
 * without what is shown only once, a new one.
 */
export type Retries = 'told' | 'anew'

/**
 * Runs a POST's effect once per Idempotency-Key, and once for a request and the published client's retries of
 * it. The answer is stored in the effect's own transaction, so there is never an effect without it.
 */
export async function once<T>(
  ctx: Ctx,
  request: RequestIdentity,
  effect: (sql: Sql) => Promise<Answer<T>>,
  retries: Retries = 'told',
): Promise<Answer<T> & { replayed: boolean }> {
  if (retries === 'anew' && request.key === undefined)
    return { ...(await ctx.db.tx(effect)), replayed: false }
  const key = request.key ?? `#${request.hash}`
  const looksBack = request.key !== undefined || request.retryCount > 0
  const run = () =>
    ctx.db.tx(async (sql): Promise<Answer<T> & { replayed: boolean }> => {
      const now = ctx.clock.now()
      const earlier = await earlierAnswer<T>(sql, request, now)
      if (earlier) return { ...earlier, replayed: true }
      const answer = await effect(sql)
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
      // Two equal requests at the same moment may both be meant; a repeat that meets its first one is not.
      await (looksBack ? insertReplays(sql, [replay]) : saveReplay(sql, replay))
      return { ...answer, replayed: false }
    })
  try {
    return await run()
  } catch (error) {
    // The same request may have been faster at another node, and this one met what it made: its answer is there now.
    const met = error instanceof UniqueViolation || (error instanceof AppError && error.code === 'conflict')
    if (met && looksBack) return run()
    throw error
  }
}
