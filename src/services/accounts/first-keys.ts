import type { Account, KeyKind } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { findAccount, hasOwnAdminKey } from '../../storage/accounts/accounts.js'
import type { Ctx } from '../ctx.js'
import { createAccount, createKey, type KeyPair } from './accounts.js'
import { SEED_LOCK } from './default-world.js'

/** The account that gets the keys: an existing one, or a new one. */
export type AccountChoice = { id: string } | { email: string; name: string }

/**
 * Stores the first keys of one's own, all of them or none: an account, its live and test key, and an admin key.
 * Refuses if there is an admin key already, so that running it twice creates nothing twice.
 */
export async function createFirstKeys(
  ctx: Pick<Ctx, 'db' | 'clock' | 'random'>,
  choice: AccountChoice,
  keys: Readonly<Record<KeyKind, KeyPair>>,
): Promise<Account> {
  return ctx.db.lock(SEED_LOCK, () =>
    ctx.db.tx(async (sql) => {
      if (await hasOwnAdminKey(sql)) throw keysExist()
      const account =
        'id' in choice ? await findAccount(sql, choice.id) : (await createAccount(ctx, sql, choice)).live
      if (account?.world !== 'live' || account.owner !== null)
        throw new AppError('not_found', `There is no account ${'id' in choice ? choice.id : ''}`)
      for (const kind of ['admin', 'live', 'test'] as const) {
        const accountId = kind === 'admin' ? null : account.id
        await createKey(ctx, sql, { accountId, kind, label: 'init' }, { ...keys[kind], wellKnown: false })
      }
      return account
    }),
  )
}

export function keysExist(): AppError {
  return new AppError(
    'conflict',
    'This database has an admin key of your own, so nothing was created. Create further keys with "trunkline key create". If you have lost the secret of every admin key, stop the server and run: trunkline key create --admin --offline',
  )
}
