import { type Account, ADMIN_OWNER, type Emptying } from '../../core/accounts/account.js'
import { ACCOUNTS } from '../accounts/accounts.js'
import type { Sql } from '../engine/db.js'
import { hasChanged } from '../engine/query.js'
import { nowOf } from '../lines/leases.js'
import { HOLD_MS } from './world.js'

/** The live account of each world, oldest first: the worlds of one owner, or all. */
export function listWorlds(sql: Sql, owner?: string): Promise<Account[]> {
  const where = `world = 'live' and removed_at is null and ${owner === undefined ? 'owner is not null' : 'owner = $1'}`
  return ACCOUNTS.list(sql, `${where} order by created_at, id`, owner === undefined ? [] : [owner])
}

/** The removed accounts that still have worlds. */
export async function listRemovedOwners(sql: Sql): Promise<string[]> {
  const rows = await sql.all<{ owner: string }>(
    `select distinct owner from accounts w where owner is not null and owner <> $1
       and not exists (select 1 from accounts o where o.id = w.owner and o.removed_at is null)`,
    [ADMIN_OWNER],
  )
  return rows.map(({ owner }) => owner)
}

/** Serialises transactions that make worlds for an owner; returns whether the owner exists. */
export async function lockOwner(sql: Sql, owner: string): Promise<boolean> {
  const lock = sql.engine === 'postgres' ? 'for no key update' : ''
  const row = await sql.one(`select 1 as yes from accounts where id = $1 and removed_at is null ${lock}`, [
    owner,
  ])
  return row !== undefined
}

/** Waits for the requests that hold these accounts and blocks new ones; returns whether all accounts exist. */
export async function lockAccounts(sql: Sql, ids: readonly string[]): Promise<boolean> {
  const lock = sql.engine === 'postgres' ? 'for update' : ''
  const list = sql.inList(1, ids)
  const rows = await sql.all(`select id from accounts where id ${list.sql} order by id ${lock}`, [list.param])
  return rows.length === ids.length
}

/** Marks accounts whose worlds are being emptied, and for how long their process has the work; `as` says what follows. */
export async function markEmptying(sql: Sql, ids: readonly string[], as: Emptying): Promise<void> {
  const list = sql.inList(1, ids)
  await sql.run(
    `update accounts set emptying = $2, emptying_until = ${nowOf(sql)} + ${HOLD_MS} where id ${list.sql}`,
    [list.param, as],
  )
}

/** Whether all these accounts are marked; the marks stay until the commit. */
export async function keepEmptying(sql: Sql, ids: readonly string[]): Promise<boolean> {
  const list = sql.inList(1, ids)
  const lock = sql.engine === 'postgres' ? 'order by id for update' : ''
  const rows = await sql.all(
    `select id from accounts where id ${list.sql} and emptying is not null ${lock}`,
    [list.param],
  )
  return rows.length === ids.length
}

/** Ends the mark; returns whether it was there. */
export function endEmptying(sql: Sql, id: string): Promise<boolean> {
  return hasChanged(sql, 'update accounts set emptying = null where id = $1 and emptying is not null', [id])
}

/** Removes the live and the test account of a world for everybody who asks; their rows follow. */
export async function hideAccounts(sql: Sql, ids: readonly string[], now: number): Promise<void> {
  const list = sql.inList(1, ids)
  await sql.run(`update accounts set removed_at = $2 where id ${list.sql}`, [list.param, now])
}

/** Accounts whose worlds are half empty: those whose process has stopped, or all. */
export function listEmptying(sql: Sql, all: boolean): Promise<Account[]> {
  const stopped = all ? '' : `and emptying_until <= ${nowOf(sql)}`
  return ACCOUNTS.list(sql, `emptying is not null ${stopped} order by id`)
}
