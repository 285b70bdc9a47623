import type { Key } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import { endExpiredKeys, expireKey, findAccount, findKey } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import type { Ctx } from '../ctx.js'
import { createKey } from './accounts.js'

/** Makes a key like another one, which ends after the overlap. */
export async function rotateKey(
  ctx: Ctx,
  sql: Sql,
  id: string,
  overlapMs: number,
): Promise<{ key: Key; secret: string }> {
  const old = await findKey(sql, id)
  if (!old) throw new AppError('not_found', `There is no key ${id}`)
  if (!(await expireKey(sql, id, ctx.clock.now() + overlapMs)))
    throw new AppError(
      'conflict',
      `The key ${id} was revoked or replaced already. Create another one instead.`,
    )
  // Keys of both worlds are made for the live account.
  const isTest = old.kind === 'test'
  const accountId = isTest ? (await findAccount(sql, old.accountId!))!.twinId : old.accountId
  return createKey(ctx, sql, { ...old, accountId })
}

/** Streams and tokens of a key end with it. */
export async function endExpired(ctx: Ctx): Promise<void> {
  if (!(await endExpiredKeys(ctx.db, ctx.clock.now()))) return
  ctx.directory.forget()
  ctx.wakes.wake(topics.access)
}
