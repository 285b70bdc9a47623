import type { Account, KeyKind } from '../../core/accounts/account.js'
import { findKeySecret, listAccounts, listKeys } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import type { Ctx } from '../ctx.js'
import { createLine } from '../lines/lines.js'
import { FIRST_PHONES } from '../sim/first-phones.js'
import { createAccount, createKey, type KeyPair, type NewAccount } from './accounts.js'

/** The world that a first start without configuration creates, so that anyone can build without a SIM or a Mac. */
export const DEFAULT_WORLD = {
  email: 'dev@trunkline.local',
  keys: {
    live: { id: 'dev-live-key', secret: 'dev-live-secret' },
    test: { id: 'dev-test-key', secret: 'dev-test-secret' },
    admin: { id: 'dev-admin-key', secret: 'dev-admin-secret' },
  },
  line: '+12025550100',
  sharedLine: '+12025550190',
  phones: FIRST_PHONES,
} as const

/** Whoever creates the first keys of a database holds this lock: a start, or `trunkline init`. */
export const SEED_LOCK = 'seed'

export type WorldKeys = Readonly<Record<KeyKind, KeyPair>>

/**
 * Seeds an empty database with the default world. Does nothing if there is an account already. Without keys of the
 * caller's own, the world gets the development keys.
 */
export async function seedDefaultWorld(ctx: Ctx, own?: WorldKeys): Promise<void> {
  await ctx.db.lock(SEED_LOCK, () =>
    ctx.db.tx(async (sql) => {
      if ((await listAccounts(sql)).length > 0 || (await listKeys(sql)).length > 0) return
      const account = { email: DEFAULT_WORLD.email, name: 'Default world' }
      const fixed = (kind: KeyKind) => ({ ...(own ?? DEFAULT_WORLD.keys)[kind], wellKnown: !own })
      await seedWorld(ctx, sql, account, { live: fixed('live'), test: fixed('test') })
      await createKey(ctx, sql, { accountId: null, kind: 'admin', label: 'development' }, fixed('admin'))
    }),
  )
  ctx.directory.forget()
}

/** An account with a live and a test key, and with the default world's lines and phones for each of them. */
export async function seedWorld(
  ctx: Ctx,
  sql: Sql,
  account: NewAccount,
  fixed?: Record<'live' | 'test', KeyPair & { wellKnown: boolean }>,
): Promise<{ live: Account; test: Account; keys: { live: KeyPair; test: KeyPair } }> {
  const { live, test } = await createAccount(ctx, sql, account)
  const keyOf = async (kind: 'live' | 'test'): Promise<KeyPair> => {
    const label = fixed ? 'development' : 'world'
    const { key, secret } = await createKey(ctx, sql, { accountId: live.id, kind, label }, fixed?.[kind])
    return { id: key.id, secret }
  }
  const keys = { live: await keyOf('live'), test: await keyOf('test') }
  const line = { accountId: live.id, driver: 'simulator', config: {}, ...ctx.seed, quiet: true }
  await createLine(ctx, sql, { ...line, number: DEFAULT_WORLD.line, kind: 'dedicated' })
  await createLine(ctx, sql, { ...line, number: DEFAULT_WORLD.sharedLine, kind: 'shared' })
  return { live, test, keys }
}

/** Whether this database is the default world and its development keys still work. */
export async function isDefaultWorld(ctx: Ctx): Promise<boolean> {
  const fixed = Object.values(DEFAULT_WORLD.keys).map(({ id }) => findKeySecret(ctx.db, id))
  return (await Promise.all(fixed)).every((found) => found?.key.wellKnown)
}
