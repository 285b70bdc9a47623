import type { Account, Key, KeyKind, Seat, World } from '../../core/accounts/account.js'
import type { Param, Row, Sql } from '../engine/db.js'

export async function insertAccount(sql: Sql, account: Account): Promise<void> {
  await sql.run(
    `insert into accounts (id, email, name, plan, world, twin_id, owner, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      account.id,
      account.email,
      account.name,
      account.plan,
      account.world,
      account.twinId,
      account.owner,
      account.createdAt,
    ],
  )
  await sql.run('insert into event_counters (account_id, last_seq) values ($1, 0)', [account.id])
}

export async function findAccount(sql: Sql, id: string): Promise<Account | undefined> {
  const row = await sql.one('select * from accounts where id = $1 and removed_at is null', [id])
  return row && toAccount(row)
}

/** Prevents deletion of an account until the commit; returns whether the account exists. */
export async function holdAccount(sql: Sql, id: string): Promise<boolean> {
  const lock = sql.engine === 'postgres' ? 'for key share' : ''
  return (await sql.one(`select 1 as yes from accounts where id = $1 ${lock}`, [id])) !== undefined
}

export async function findAccountByEmail(
  sql: Sql,
  email: string,
  world: World,
): Promise<Account | undefined> {
  const row = await sql.one('select * from accounts where email = $1 and world = $2 and removed_at is null', [
    email,
    world,
  ])
  return row && toAccount(row)
}

export async function listAccounts(sql: Sql): Promise<Account[]> {
  return (await sql.all('select * from accounts where removed_at is null order by created_at, id')).map(
    toAccount,
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

export async function removeAccount(sql: Sql, id: string, now: number): Promise<void> {
  await sql.run('update accounts set removed_at = $2 where id = $1', [id, now])
  await sql.run('update keys set revoked_at = $2 where account_id = $1 and revoked_at is null', [id, now])
  await sql.run(
    'update lines set removed_at = $2 where (account_id = $1 or network = $1) and removed_at is null',
    [id, now],
  )
  await sql.run('delete from line_members where account_id = $1', [id])
}

export function toAccount(row: Row): Account {
  return {
    id: row.id as string,
    email: row.email as string,
    name: row.name as string,
    plan: row.plan as string,
    world: row.world as World,
    twinId: row.twin_id as string,
    owner: row.owner as string | null,
    defaultForwardingNumber: row.default_forwarding_number as string | null,
    createdAt: row.created_at as number,
  }
}

export async function insertKey(sql: Sql, key: Key, secretHash: string): Promise<void> {
  await sql.run(
    'insert into keys (id, account_id, kind, secret_hash, label, well_known, created_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [key.id, key.accountId, key.kind, secretHash, key.label, key.wellKnown ? 1 : 0, key.createdAt],
  )
}

/** A key with the hash of its secret, for authentication. */
export async function findKeySecret(
  sql: Sql,
  id: string,
): Promise<{ key: Key; secretHash: string } | undefined> {
  const row = await sql.one('select * from keys where id = $1 and revoked_at is null', [id])
  return row && { key: toKey(row), secretHash: row.secret_hash as string }
}

export async function findKey(sql: Sql, id: string): Promise<Key | undefined> {
  const row = await sql.one('select * from keys where id = $1', [id])
  return row && toKey(row)
}

export async function listKeys(sql: Sql, accountId?: string): Promise<Key[]> {
  const rows = accountId
    ? await sql.all('select * from keys where account_id = $1 order by created_at, id', [accountId])
    : await sql.all('select * from keys order by created_at, id')
  return rows.map(toKey)
}

export async function revokeKey(sql: Sql, id: string, now: number): Promise<boolean> {
  return (
    (await sql.run('update keys set revoked_at = $2 where id = $1 and revoked_at is null', [id, now])) > 0
  )
}

function toKey(row: Row): Key {
  return {
    id: row.id as string,
    accountId: row.account_id as string | null,
    kind: row.kind as KeyKind,
    label: row.label as string,
    wellKnown: row.well_known === 1,
    createdAt: row.created_at as number,
    revokedAt: row.revoked_at as number | null,
  }
}

export async function insertSeat(sql: Sql, seat: Seat): Promise<void> {
  await sql.run(
    `insert into seats (id, account_id, email, subject, first_name, last_name, forwarding_number, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      seat.id,
      seat.accountId,
      seat.email,
      seat.subject,
      seat.firstName,
      seat.lastName,
      seat.forwardingNumber,
      seat.createdAt,
    ],
  )
}

export async function saveSeatForwarding(sql: Sql, id: string, number: string | null): Promise<void> {
  await sql.run('update seats set forwarding_number = $2 where id = $1', [id, number])
}

/** Finds a seat by its id or by the subject of its external identity. */
export async function findSeat(sql: Sql, accountId: string, idOrSubject: string): Promise<Seat | undefined> {
  const row = await sql.one(
    'select * from seats where account_id = $1 and (id = $2 or subject = $2) and removed_at is null',
    [accountId, idOrSubject],
  )
  return row && toSeat(row)
}

export async function findSeatById(sql: Sql, id: string): Promise<Seat | undefined> {
  const row = await sql.one('select * from seats where id = $1 and removed_at is null', [id])
  return row && toSeat(row)
}

export async function listSeats(sql: Sql, accountId?: string): Promise<Seat[]> {
  const filter: Param[] = accountId ? [accountId] : []
  const where = accountId ? 'account_id = $1 and' : ''
  return (
    await sql.all(`select * from seats where ${where} removed_at is null order by created_at, id`, filter)
  ).map(toSeat)
}

/** Seats of an account, oldest first; optionally only with this e-mail address. */
export async function listSeatsOf(
  sql: Sql,
  accountId: string,
  email: string | undefined,
  page: { limit: number; offset: number },
): Promise<Seat[]> {
  const rows = await sql.all(
    `select * from seats where account_id = $1 and removed_at is null ${email === undefined ? '' : 'and email = $4'}
     order by created_at, id limit $2 offset $3`,
    [accountId, page.limit, page.offset, ...(email === undefined ? [] : [email])],
  )
  return rows.map(toSeat)
}

export async function countSeats(sql: Sql, accountId: string, email: string | undefined): Promise<number> {
  const row = await sql.one<{ n: number }>(
    `select count(*) as n from seats where account_id = $1 and removed_at is null ${email === undefined ? '' : 'and email = $2'}`,
    [accountId, ...(email === undefined ? [] : [email])],
  )
  return row!.n
}

export async function removeSeat(sql: Sql, id: string, now: number): Promise<boolean> {
  return (
    (await sql.run('update seats set removed_at = $2 where id = $1 and removed_at is null', [id, now])) > 0
  )
}

function toSeat(row: Row): Seat {
  return {
    id: row.id as string,
    accountId: row.account_id as string,
    email: row.email as string,
    subject: row.subject as string | null,
    firstName: row.first_name as string | null,
    lastName: row.last_name as string | null,
    forwardingNumber: row.forwarding_number as string | null,
    createdAt: row.created_at as number,
  }
}
