import { AppError } from '../../core/errors.js'
import { holdAccount } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import type { Platform } from '../ctx.js'

/**
 * Prevents removal of an account until the commit. Fails a request whose account was removed after its key was
 * checked.
 */
export async function requireAccount(sql: Sql, id: string): Promise<void> {
  if (!(await holdAccount(sql, id))) throw new AppError('unauthorized', 'Unauthorized')
}

/** A transaction that writes for an account. */
export function txOf<T>(
  ctx: Pick<Platform, 'db'>,
  accountId: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  return ctx.db.tx(async (sql) => {
    await requireAccount(sql, accountId)
    return work(sql)
  })
}
