import { AppError } from '../core/errors.js'
import { dropReplay, findReplay, insertReplays, saveReplay } from '../storage/accounts/replays.js'
import type { Sql } from '../storage/engine/db.js'
import { UniqueViolation } from '../storage/engine/db.js'
import type { Ctx } from './ctx.js'
import { KEY_LIFETIME_MS, RETRY_WINDOW_MS, type RequestIdentity } from './replay.js'

export interface Answer<T = unknown> {
  status: number
  body: T
  /** The answer without what may be shown only once; this is what a repeat gets. */
  stored?: T
}

/**
 * What the published client's own retries get. They carry no key, and the first try may never have arrived: an
 * equal request of a few minutes ago need not be the one they repeat. So it depends on what the request is.
 *
 * 'told': what goes out to somebody, and cannot be taken back. They get the first answer, whatever was done since.
 * 'anew': what wants something to be so, and may be done twice. They are carried out, so that it is so. Also where
 * the first answer is worth nothing without what is shown only once.
 * A function: what makes something. They get the first answer while it stands; what is gone is made again.
 */
export type Retries<T> = 'told' | 'anew' | Stands<T>
export type Stands<T> = (sql: Sql, told: T) => Promise<boolean>

/** The answer of a request that this one repeats: for those that must do something slow before their effect. */
export async function earlierAnswer<T>(
  sql: Sql,
  request: RequestIdentity,
  now: number,
  retries: Retries<T> = 'told',
): Promise<Answer<T> | undefined> {
  const { answer } = await lookBack(sql, request, now, retries)
  return answer
}

/** `fallen` is a stored answer that does not stand any more. */
async function lookBack<T>(
  sql: Sql,
  request: RequestIdentity,
  now: number,
  retries: Retries<T>,
): Promise<{ answer?: Answer<T>; fallen?: string }> {
  if (request.key === undefined && (request.retryCount === 0 || retries === 'anew')) return {}
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

/**
 * Runs a POST's effect once per Idempotency-Key, and for the published client's retries of it as `retries` says.
 * The answer is stored in the effect's own transaction, so there is never an effect without it.
 */
export async function once<T>(
  ctx: Ctx,
  request: RequestIdentity,
  effect: (sql: Sql) => Promise<Answer<T>>,
  retries: Retries<T> = 'told',
): Promise<Answer<T> & { replayed: boolean }> {
  if (retries === 'anew' && request.key === undefined)
    return { ...(await ctx.db.tx(effect)), replayed: false }
  const key = request.key ?? `#${request.hash}`
  const looksBack = request.key !== undefined || request.retryCount > 0
  const run = () =>
    ctx.db.tx(async (sql): Promise<Answer<T> & { replayed: boolean }> => {
      const now = ctx.clock.now()
      const { answer: earlier, fallen } = await lookBack(sql, request, now, retries)
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
      if (fallen !== undefined) await dropReplay(sql, replay, fallen)
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
