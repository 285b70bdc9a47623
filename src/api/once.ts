import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../core/errors.js'
import type { Ctx } from '../ctx.js'
import { type Answer, once, type Retries } from '../services/once.js'
import { type Sql, UniqueViolation } from '../storage/db.js'
import { identityOf } from './identity.js'

/**
 * A POST that happens once per Idempotency-Key. `taken` is said when the database finds it there already.
 * `after` runs after the first time only: what follows the effect and cannot be part of its transaction.
 */
export async function answerOnce<T>(
  ctx: Ctx,
  request: FastifyRequest,
  reply: FastifyReply,
  effect: (sql: Sql) => Promise<Answer<T>>,
  options: { taken?: string; after?: () => Promise<void> | void; retries?: Retries } = {},
): Promise<T> {
  const answer = await once(ctx, identityOf(request), effect, options.retries).catch((error) => {
    throw error instanceof UniqueViolation
      ? new AppError('conflict', options.taken ?? 'This exists already')
      : error
  })
  if (answer.replayed) reply.header('x-idempotent-replay', 'true')
  else await options.after?.()
  reply.code(answer.status)
  return answer.body
}
