import { type Account, ADMIN_OWNER } from '../../core/accounts/account.js'
import { ACCOUNTS } from '../accounts/accounts.js'
import type { Sql } from '../engine/db.js'

/** The live account of each world, oldest first: the worlds of one owner, or all. */
export function listWorlds(sql: Sql, owner?: string): Promise<Account[]> {
  const where = `world = 'live' and ${owner === undefined ? 'owner is not null' : 'owner = $1'}`
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
  const rows = await sql.all(`select id from accounts where id in ${list.sql} order by id ${lock}`, [
    list.param,
  ])
  return rows.length === ids.length
}
