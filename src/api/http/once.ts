import type { FastifyReply } from 'fastify'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { type Answer, earlierAnswer, once, type Retries } from '../../services/once.js'
import { type Sql, UniqueViolation } from '../../storage/engine/db.js'
import { identityOf } from './identity.js'

interface OnceOptions {
  /** The error text when the database refuses a duplicate. */
  taken?: string
  /** The body contains a secret, so its fingerprint is stored sealed. */
  isSecret?: boolean
}

/** Runs the effect of a POST once for each Idempotency-Key and sends its answer. */
export async function answerOnce<T>(
  ctx: Ctx,
  reply: FastifyReply,
  retries: Retries<T>,
  effect: (sql: Sql) => Promise<Answer<T>>,
  { taken = 'This exists already', isSecret = false }: OnceOptions = {},
): Promise<T> {
  const seal = (fingerprint: string) => ctx.vault.sign('request', fingerprint)
  const identity = identityOf(reply.request, isSecret ? seal : undefined)
  const answer = await once(ctx, identity, effect, retries).catch((error) => {
    throw error instanceof UniqueViolation ? new AppError('conflict', taken) : error
  })
  if (answer.replayed) reply.header('x-idempotent-replay', 'true')
  else await answer.after?.()
  reply.code(answer.status)
  return answer.body
}

/** The stored answer of a repeated request, for routes whose work must not run again before they can answer. */
export async function answeredBefore<T>(
  ctx: Ctx,
  reply: FastifyReply,
  retries?: Retries<T>,
): Promise<T | undefined> {
  const answer = await earlierAnswer<T>(ctx.db, identityOf(reply.request), ctx.clock.now(), retries)
  if (!answer) return undefined
  reply.header('x-idempotent-replay', 'true').code(answer.status)
  return answer.body
}

/**
 * Like `answerOnce`, for what a line does at once and no transaction can hold. Repeating the act is harmless, so it
 * runs first and its answer is stored afterwards. A later repeat under the same key does nothing.
 */
export async function actOnce<T>(ctx: Ctx, reply: FastifyReply, act: () => Promise<Answer<T>>): Promise<T> {
  const earlier = await answeredBefore<T>(ctx, reply, 'anew')
  if (earlier !== undefined) return earlier
  const answer = await act()
  return answerOnce(ctx, reply, 'anew', async () => answer)
}
