import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { type Answer, earlierAnswer, once, type Retries } from '../../services/once.js'
import { type Sql, UniqueViolation } from '../../storage/engine/db.js'
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
  options: {
    taken?: string
    after?: () => Promise<void> | void
    retries?: Retries<T>
    /** The body has a secret in it. */
    isSecret?: boolean
  } = {},
): Promise<T> {
  const disguise = (fingerprint: string) => ctx.vault.sign('request', fingerprint)
  const identity = identityOf(request, options.isSecret ? disguise : undefined)
  const answer = await once(ctx, identity, effect, options.retries).catch((error) => {
    throw error instanceof UniqueViolation
      ? new AppError('conflict', options.taken ?? 'This exists already')
      : error
  })
  if (answer.replayed) reply.header('x-idempotent-replay', 'true')
  else await options.after?.()
  reply.code(answer.status)
  return answer.body
}

/** The answer of the request that this one repeats, if it does: before work that a repeat must not depend on. */
export async function answeredBefore<T>(
  ctx: Ctx,
  request: FastifyRequest,
  reply: FastifyReply,
  retries?: Retries<T>,
): Promise<T | undefined> {
  const answer = await earlierAnswer<T>(ctx.db, identityOf(request), ctx.clock.now(), retries)
  if (!answer) return undefined
  reply.header('x-idempotent-replay', 'true').code(answer.status)
  return answer.body
}

/**
 * The same for what a line is asked to do at once, which no transaction can hold. Doing it twice does no harm,
 * so it is done first and remembered after. A repeat under its key that comes later, when things may have moved
 * on, does nothing.
 */
export async function actOnce<T>(
  ctx: Ctx,
  request: FastifyRequest,
  reply: FastifyReply,
  act: () => Promise<Answer<T>>,
): Promise<T> {
  const retries = 'anew'
  const earlier = await answeredBefore<T>(ctx, request, reply, retries)
  if (earlier !== undefined) return earlier
  const answer = await act()
  return answerOnce(ctx, request, reply, async () => answer, { retries })
}
