import type { Account, KeyKind } from '../../core/accounts/account.js'
import { networkOf } from '../../core/accounts/account.js'
import type { Phone } from '../../core/sim/phone.js'
import { findKeySecret, listAccounts, listKeys } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import { insertPhones } from '../../storage/sim/phones.js'
import type { Ctx } from '../ctx.js'
import { createLine, linesChanged } from '../lines/lines.js'
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
  phones: [
    { number: '+12025550101', name: 'Ada', imessage: true, note: 'iMessage' },
    { number: '+12025550102', name: 'Bob', imessage: false, note: 'SMS only' },
    { number: '+12025550103', name: 'Cleo', imessage: false, rcs: true, note: 'RCS' },
    { number: '+12025550104', name: 'Dan', imessage: true, power: false, note: 'switched off' },
    { number: '+12025550105', name: 'Eve', imessage: true, refuses: true, note: 'refuses everything' },
  ],
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
  linesChanged(ctx)
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
  await seedPhones(ctx, sql, live)
  await seedPhones(ctx, sql, test)
  return { live, test, keys }
}

/** Creates the phones of the default world; existing phones stay as they are. */
export async function seedPhones(ctx: Ctx, sql: Sql, account: Account): Promise<void> {
  const phones = DEFAULT_WORLD.phones.map(
    (phone): Phone => ({
      network: networkOf(account),
      number: phone.number,
      name: phone.name,
      imessage: phone.imessage,
      rcs: 'rcs' in phone && phone.rcs,
      power: !('power' in phone) || phone.power,
      readReceipts: true,
      refuses: 'refuses' in phone && phone.refuses,
      email: null,
      autoReply: null,
      accountId: null,
      createdAt: ctx.clock.now(),
    }),
  )
  await insertPhones(sql, phones)
}

/** Whether this database is the default world and its development keys still work. */
export async function isDefaultWorld(ctx: Ctx): Promise<boolean> {
  const fixed = Object.values(DEFAULT_WORLD.keys).map(({ id }) => findKeySecret(ctx.db, id))
  return (await Promise.all(fixed)).every((found) => found?.key.wellKnown)
}
