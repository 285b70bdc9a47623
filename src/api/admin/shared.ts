import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../ctx.js'
import { linesChanged } from '../../services/lines.js'
import { type Answer, once } from '../../services/once.js'
import { type Sql, UniqueViolation } from '../../storage/db.js'
import { identityOf } from '../identity.js'

/** What the routes for operators have in common. The command line and the console use these routes. */
export const config = { access: 'admin' as const }
export const tags = ['Administration']
export const IdParams = Type.Object({ id: Type.String({ description: 'Id' }) })
export const AccountFilter = Type.Object({
  account_id: Type.Optional(Type.String({ description: 'Only of this account' })),
})

export function idOf(request: FastifyRequest): string {
  return (request.params as { id: string }).id
}

export function accountFilter(request: FastifyRequest): string | undefined {
  return (request.query as { account_id?: string }).account_id
}

export function listOf<T extends TSchema>(item: T) {
  return Type.Object({ data: Type.Array(item) })
}

export function required<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) throw new AppError('not_found', `There is no ${what} ${id}`)
  return value
}

/** A POST that happens once per Idempotency-Key. `taken` is said when the database finds it there already. */
export async function createOnce<T>(
  ctx: Ctx,
  request: FastifyRequest,
  reply: { code(status: number): unknown; header(name: string, value: string): unknown },
  effect: (sql: Sql) => Promise<Answer<T>>,
  taken = 'This exists already',
): Promise<T> {
  const answer = await once(ctx, identityOf(request), effect).catch((error) => {
    throw error instanceof UniqueViolation ? new AppError('conflict', taken) : error
  })
  linesChanged(ctx)
  if (answer.replayed) reply.header('x-idempotent-replay', 'true')
  reply.code(answer.status)
  return answer.body
}
