import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import type { Answer, Retries } from '../../services/once.js'
import type { Sql } from '../../storage/engine/db.js'
import { listWorlds } from '../../storage/sim/worlds.js'
import { answerOnce } from '../http/once.js'
import { routesOf } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'

/** Shared parts of the routes for operators, which the command line and the console use. */
export const admin = routesOf('Administration', { access: 'admin' })
export const IdParams = Type.Object({ id: string('Id') })
export const AccountFilter = Type.Object({ account_id: optional(string('Only rows of this account')) })

/** Both accounts of every world. Lists that name no account leave out their keys and lines. */
export async function worldAccounts(ctx: Ctx): Promise<Set<string>> {
  return new Set((await listWorlds(ctx.db)).flatMap(({ id, twinId }) => [id, twinId]))
}

export function required<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) throw new AppError('not_found', `There is no ${what} ${id}`)
  return value
}

/** `answerOnce` for routes that change accounts or lines: the cached directory is then read again. */
export async function createOnce<T>(
  ctx: Ctx,
  reply: FastifyReply,
  effect: (sql: Sql) => Promise<Answer<T>>,
  options: { retries: Retries<T>; taken?: string; isSecret?: boolean },
): Promise<T> {
  const body = await answerOnce(ctx, reply, options.retries, effect, options)
  ctx.directory.forget()
  return body
}
