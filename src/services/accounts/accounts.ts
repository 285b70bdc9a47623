import { hash } from 'node:crypto'
import { type Random, SHORT_ID } from '../../base/ids.js'
import { type Account, DEFAULT_PLAN, type Key, type KeyKind, type Seat } from '../../core/accounts/account.js'
import { type BudgetChanges, changedLimits } from '../../core/accounts/budgets.js'
import type { RetentionChanges } from '../../core/accounts/retention.js'
import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import {
  findAccount,
  findAccountByEmail,
  findAccountToExtend,
  findKey,
  findSeatById,
  insertAccount,
  insertKey,
  insertSeat,
  removeAccount,
  removeSeat,
  revokeKey,
  saveDefaultForwarding,
  saveNames,
  saveSeatForwarding,
} from '../../storage/accounts/accounts.js'
import { saveBudgets } from '../../storage/accounts/budgets.js'
import { findRetention, saveRetention } from '../../storage/accounts/retention.js'
import { type Sql, UniqueViolation } from '../../storage/engine/db.js'
import { refuseLoop } from '../calls/forwarding.js'
import type { Ctx } from '../ctx.js'
import { failOrphans } from '../lines/lines.js'

/** Secrets are 256 random bits, so a fast hash protects them as well as a slow one. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

export interface NewAccount {
  email: string
  name: string
  plan?: string
  /** Of a world, who makes it. */
  owner?: string
}

/** Creates an account and its test world, a twin account that shares nothing with it. */
export async function createAccount(
  ctx: Pick<Ctx, 'clock' | 'random'>,
  sql: Sql,
  input: NewAccount,
): Promise<{ live: Account; test: Account }> {
  await refuseTaken(sql, input.email)
  const base = {
    email: input.email,
    name: input.name,
    plan: input.plan ?? DEFAULT_PLAN,
    owner: input.owner ?? null,
    defaultForwardingNumber: null,
    bodiesUntil: null,
    emptying: null,
    budgets: {},
    createdAt: ctx.clock.now(),
  }
  const [liveId, testId] = [ctx.random.text(SHORT_ID), ctx.random.text(SHORT_ID)]
  const live: Account = { ...base, id: liveId, world: 'live', twinId: testId }
  const test: Account = { ...base, id: testId, world: 'test', twinId: liveId }
  await insertAccount(sql, live)
  await insertAccount(sql, test)
  return { live, test }
}

export interface AccountChanges {
  email?: string | undefined
  name?: string | undefined
  plan?: string | undefined
  /** The number that calls go to if no other is set; undefined leaves it unchanged. */
  defaultForwardingNumber?: string | null | undefined
  budgets?: BudgetChanges | undefined
  retention?: RetentionChanges | undefined
}

export async function changeAccount(
  ctx: Ctx,
  id: string,
  { defaultForwardingNumber: number, budgets, retention, ...names }: AccountChanges,
): Promise<Account> {
  const change = async (sql: Sql) => {
    const account = await requireLive(sql, id)
    if (Object.values(names).some((one) => one !== undefined)) await rename(sql, account, names)
    if (number !== undefined) {
      if (number !== null) await refuseLoop(sql, account.id, number, 'default_forwarding_number')
      await saveDefaultForwarding(sql, account, number)
      account.defaultForwardingNumber = number
    }
    if (budgets) {
      account.budgets = changedLimits(account.budgets, budgets)
      await saveBudgets(sql, account, account.budgets)
    }
    if (retention)
      await saveRetention(sql, account, changedLimits(await findRetention(sql, account.id), retention))
    return account
  }
  const account = await ctx.db.tx(change).catch((error) => {
    // Another account got the address at the same time.
    throw error instanceof UniqueViolation && names.email ? taken(names.email) : error
  })
  ctx.directory.forget()
  return account
}

/** Changes the account, in its live and its test world. */
async function rename(
  sql: Sql,
  account: Account,
  { email = account.email, name = account.name, plan = account.plan }: AccountChanges,
): Promise<void> {
  if (email !== account.email) await refuseTaken(sql, email)
  Object.assign(account, { email, name, plan })
  await saveNames(sql, account)
}

async function refuseTaken(sql: Sql, email: string): Promise<void> {
  if (await findAccountByEmail(sql, email, 'live')) throw taken(email)
}

const taken = (email: string) => new AppError('conflict', `There is an account for ${email} already`)

export async function deleteAccount(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const account = await requireLive(sql, id)
    if (account.owner !== null)
      throw new AppError('invalid', `id: ${id} is a world. Remove it with DELETE /sim/worlds/${id}.`)
    const now = ctx.clock.now()
    await removeAccount(sql, account.id, now)
    await removeAccount(sql, account.twinId, now)
  })
  ctx.directory.forget()
  ctx.wakes.wake(topics.access)
  ctx.wakes.wake(topics.lines, '')
  await failOrphans(ctx)
}

async function requireLive(sql: Sql, id: string, find = findAccount): Promise<Account> {
  const account = await find(sql, id)
  if (account?.world !== 'live') throw new AppError('not_found', `There is no account ${id}`)
  return account
}

export interface NewKey {
  /** The live account; a test key opens its test world. */
  accountId: string | null
  kind: KeyKind
  label: string
}

export interface KeyPair {
  id: string
  secret: string
}

/** A key with its secret. Only this answer has the secret in plain text. */
export async function createKey(
  ctx: Pick<Ctx, 'clock' | 'random'>,
  sql: Sql,
  input: NewKey,
  fixed?: KeyPair & { wellKnown: boolean },
): Promise<{ key: Key; secret: string }> {
  const account = input.accountId ? await requireLive(sql, input.accountId, findAccountToExtend) : undefined
  if ((input.kind === 'admin') === (account !== undefined)) {
    throw new AppError(
      'invalid',
      input.kind === 'admin'
        ? 'account_id: an admin key belongs to no account'
        : 'account_id: missing required parameter',
    )
  }
  const { id, secret } = fixed ?? newKeyPair(ctx.random)
  const key: Key = {
    id,
    accountId: account ? (input.kind === 'test' ? account.twinId : account.id) : null,
    kind: input.kind,
    label: input.label,
    wellKnown: fixed?.wellKnown ?? false,
    createdAt: ctx.clock.now(),
    expiresAt: null,
    revokedAt: null,
  }
  await insertKey(sql, key, hashSecret(secret))
  return { key, secret }
}

/** The last six characters of the secret are a checksum, so that scanners recognise a leaked one. */
export function newKeyPair(random: Random): KeyPair {
  const body = `tls_${random.text(43)}`
  return { secret: body + hash('sha256', body, 'hex').slice(0, 6), id: `tlk_${random.text(22)}` }
}

export async function revoke(ctx: Ctx, id: string): Promise<Key> {
  const key = await ctx.db.tx(async (sql) => {
    await revokeKey(sql, id, ctx.clock.now())
    return findKey(sql, id)
  })
  if (!key) throw new AppError('not_found', `There is no key ${id}`)
  ctx.directory.forget()
  ctx.wakes.wake(topics.access)
  return key
}

export interface NewSeat {
  accountId: string
  email: string
  subject: string | null
  firstName: string | null
  lastName: string | null
  forwardingNumber: string | null
}

export async function createSeat(ctx: Ctx, sql: Sql, input: NewSeat): Promise<Seat> {
  if (!(await findAccountToExtend(sql, input.accountId)))
    throw new AppError('not_found', `There is no account ${input.accountId}`)
  if (input.forwardingNumber) await refuseLoop(sql, input.accountId, input.forwardingNumber)
  const seat: Seat = { ...input, id: ctx.newId(), createdAt: ctx.clock.now() }
  await insertSeat(sql, seat)
  return seat
}

/** Sets the number that rings for a seat; undefined leaves it unchanged. */
export async function changeSeat(ctx: Ctx, id: string, number: string | null | undefined): Promise<Seat> {
  return ctx.db.tx(async (sql) => {
    const seat = await findSeatById(sql, id)
    if (!seat) throw new AppError('not_found', `There is no seat ${id}`)
    if (number === undefined) return seat
    if (number !== null) await refuseLoop(sql, seat.accountId, number)
    await saveSeatForwarding(sql, id, number)
    return { ...seat, forwardingNumber: number }
  })
}

export async function deleteSeat(ctx: Ctx, id: string): Promise<Seat> {
  return ctx.db.tx(async (sql) => {
    const seat = await findSeatById(sql, id)
    if (!seat) throw new AppError('not_found', `There is no seat ${id}`)
    await removeSeat(sql, id, ctx.clock.now())
    return seat
  })
}
