import { type Account, ADMIN_OWNER, type Key, type Seat, type World } from '../../core/accounts/account.js'
import type { Sql } from '../engine/db.js'
import { exists, findValue, hasChanged, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

export const ACCOUNTS = table<Account>()('accounts', {
  text: 'id email name plan world twinId owner defaultForwardingNumber emptying',
  number: 'createdAt bodiesUntil',
  json: 'budgets',
})

const KEYS = table<Key>()('keys', {
  text: 'id accountId kind label',
  number: 'createdAt expiresAt revokedAt',
  flag: 'wellKnown',
})

const SEATS = table<Seat>()('seats', {
  text: 'id accountId email subject firstName lastName forwardingNumber',
  number: 'createdAt',
})

export async function insertAccount(sql: Sql, account: Account): Promise<void> {
  await ACCOUNTS.insert(sql, account)
  await sql.run('insert into event_counters (account_id, last_seq) values ($1, 0)', [account.id])
}

export function findAccount(sql: Sql, id: string): Promise<Account | undefined> {
  return ACCOUNTS.find(sql, 'id = $1 and removed_at is null', [id])
}

/** Prevents deletion of an account until the commit; returns whether the account exists. */
export function holdAccount(sql: Sql, id: string): Promise<boolean> {
  const lock = sql.engine === 'postgres' ? 'for key share' : ''
  return exists(sql, `select 1 from accounts where id = $1 ${lock}`, [id])
}

/** Finds an account and prevents its and its twin's deletion until the commit. */
export async function findAccountToExtend(sql: Sql, id: string): Promise<Account | undefined> {
  // In the order in which a removal locks both.
  if (sql.engine === 'postgres')
    await sql.all('select 1 from accounts where id = $1 or twin_id = $1 order by id for key share', [id])
  return findAccount(sql, id)
}

export function findAccountByEmail(sql: Sql, email: string, world: World): Promise<Account | undefined> {
  return ACCOUNTS.find(sql, 'email = $1 and world = $2 and removed_at is null', [email, world])
}

/**
 * Whether all that this database holds belongs to one account: its two worlds, and the worlds that it created. Worlds
 * of an admin key belong to others.
 */
export async function hasOneAccount(sql: Sql): Promise<boolean> {
  const rows = await sql.all(
    `select id from accounts where world = 'live' and removed_at is null and (owner is null or owner = $1) limit 2`,
    [ADMIN_OWNER],
  )
  return rows.length <= 1
}

export function listAccounts(sql: Sql): Promise<Account[]> {
  return ACCOUNTS.list(sql, 'removed_at is null order by created_at, id')
}

/** Ids of accounts, of test worlds and worlds, too, in the order of the ids. */
export function listAccountIds(sql: Sql, from: string, limit: number): Promise<string[]> {
  return listValues(
    sql,
    'select id from accounts where id >= $1 and removed_at is null order by id limit $2',
    [from, limit],
  )
}

/** Applies to the live and the test world of the account, like its name and plan. */
export async function saveDefaultForwarding(
  sql: Sql,
  account: Account,
  number: string | null,
): Promise<void> {
  await sql.run('update accounts set default_forwarding_number = $3 where id in ($1, $2)', [
    account.id,
    account.twinId,
    number,
  ])
}

/** Saves what an account is called and its plan, for its live and its test world. */
export async function saveNames(sql: Sql, { id, twinId, email, name, plan }: Account): Promise<void> {
  await sql.run('update accounts set email = $3, name = $4, plan = $5 where id in ($1, $2)', [
    id,
    twinId,
    email,
    name,
    plan,
  ])
}

export async function removeAccount(sql: Sql, id: string, now: number): Promise<void> {
  await sql.run('update accounts set removed_at = $2 where id = $1', [id, now])
  await sql.run('update keys set revoked_at = $2 where account_id = $1 and revoked_at is null', [id, now])
  await sql.run(
    'update lines set removed_at = $2 where (account_id = $1 or network = $1) and removed_at is null',
    [id, now],
  )
  await sql.run('delete from line_members where account_id = $1', [id])
  for (const table of ['alerts', 'pool_conversations', 'sender_pools'])
    await sql.run(`delete from ${table} where account_id = $1`, [id])
}

export async function insertKey(sql: Sql, key: Key, secretHash: string): Promise<void> {
  await KEYS.insert(sql, key, { secret_hash: secretHash })
}

/** A key with the hash of its secret, for authentication. */
export async function findKeySecret(
  sql: Sql,
  id: string,
): Promise<{ key: Key; secretHash: string } | undefined> {
  const row = await sql.one('select * from keys where id = $1 and revoked_at is null', [id])
  return row && { key: KEYS.read(row), secretHash: row.secret_hash as string }
}

export function findKey(sql: Sql, id: string): Promise<Key | undefined> {
  return KEYS.find(sql, 'id = $1', [id])
}

export function listKeys(sql: Sql, accountId?: string): Promise<Key[]> {
  return accountId
    ? KEYS.list(sql, 'account_id = $1 order by created_at, id', [accountId])
    : KEYS.list(sql, '1 = 1 order by created_at, id')
}

export function revokeKey(sql: Sql, id: string, now: number): Promise<boolean> {
  return hasChanged(sql, 'update keys set revoked_at = $2 where id = $1 and revoked_at is null', [id, now])
}

/** Lets a key end at a time, unless it has an end already. */
export function expireKey(sql: Sql, id: string, at: number): Promise<boolean> {
  const where = 'id = $1 and revoked_at is null and expires_at is null'
  return hasChanged(sql, `update keys set expires_at = $2 where ${where}`, [id, at])
}

/** Ends the keys whose time is over; returns whether there were any. */
export function endExpiredKeys(sql: Sql, now: number): Promise<boolean> {
  const due = 'expires_at <= $1 and revoked_at is null'
  return hasChanged(sql, `update keys set revoked_at = expires_at where ${due}`, [now])
}

/** Whether there is an admin key besides the development key. */
export function hasOwnAdminKey(sql: Sql): Promise<boolean> {
  const where = "kind = 'admin' and well_known = 0 and revoked_at is null and expires_at is null"
  return exists(sql, `select 1 from keys where ${where}`, [])
}

/** Revokes the development keys; returns whether one of them was valid. */
/** The ids of the revoked keys. */
export function revokeWellKnown(sql: Sql, now: number): Promise<string[]> {
  const text = 'update keys set revoked_at = $1 where well_known = 1 and revoked_at is null returning id'
  return listValues<string>(sql, text, [now])
}

export async function insertSeat(sql: Sql, seat: Seat): Promise<void> {
  await SEATS.insert(sql, seat)
}

export async function saveSeatForwarding(sql: Sql, id: string, number: string | null): Promise<void> {
  await sql.run('update seats set forwarding_number = $2 where id = $1', [id, number])
}

/** Finds a seat by its id or by the subject of its external identity. */
export function findSeat(sql: Sql, accountId: string, idOrSubject: string): Promise<Seat | undefined> {
  const where = 'account_id = $1 and (id = $2 or subject = $2) and removed_at is null'
  return SEATS.find(sql, where, [accountId, idOrSubject])
}

export function findSeatById(sql: Sql, id: string): Promise<Seat | undefined> {
  return SEATS.find(sql, 'id = $1 and removed_at is null', [id])
}

export function listSeats(sql: Sql, accountId?: string): Promise<Seat[]> {
  return accountId
    ? SEATS.list(sql, 'account_id = $1 and removed_at is null order by created_at, id', [accountId])
    : SEATS.list(sql, 'removed_at is null order by created_at, id')
}

/** Seats of an account, oldest first; optionally only with this e-mail address. */
export function listSeatsOf(
  sql: Sql,
  accountId: string,
  email: string | undefined,
  page: { limit: number; offset: number },
): Promise<Seat[]> {
  const where = `account_id = $1 and removed_at is null ${email === undefined ? '' : 'and email = $4'}`
  return SEATS.list(sql, `${where} order by created_at, id limit $2 offset $3`, [
    accountId,
    page.limit,
    page.offset,
    ...(email === undefined ? [] : [email]),
  ])
}

export async function countSeats(sql: Sql, accountId: string, email: string | undefined): Promise<number> {
  const where = `account_id = $1 and removed_at is null ${email === undefined ? '' : 'and email = $2'}`
  const params = [accountId, ...(email === undefined ? [] : [email])]
  return (await findValue<number>(sql, `select count(*) from seats where ${where}`, params))!
}

export function removeSeat(sql: Sql, id: string, now: number): Promise<boolean> {
  return hasChanged(sql, 'update seats set removed_at = $2 where id = $1 and removed_at is null', [id, now])
}
