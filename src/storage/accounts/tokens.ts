import type { Token } from '../../core/accounts/token.js'
import type { Db, Sql } from '../engine/db.js'
import { hasChanged } from '../engine/query.js'
import { deleteInSlices } from '../engine/slices.js'
import { table } from '../engine/table.js'

const TOKENS = table<Token>()('tokens', {
  text: 'id accountId keyId',
  number: 'createdAt expiresAt revokedAt',
  json: 'numbers',
})

export async function insertToken(sql: Sql, token: Token, secretHash: string): Promise<void> {
  await TOKENS.insert(sql, token, { secret_hash: secretHash })
}

/** A token that is not revoked, with the hash of its text, for authentication. */
export async function findTokenSecret(
  sql: Sql,
  id: string,
): Promise<{ token: Token; secretHash: string } | undefined> {
  const row = await sql.one('select * from tokens where id = $1 and revoked_at is null', [id])
  return row && { token: TOKENS.read(row), secretHash: row.secret_hash as string }
}

/** Returns whether the account has this token. A second call keeps the first time of revocation. */
export function revokeToken(sql: Sql, accountId: string, id: string, now: number): Promise<boolean> {
  return hasChanged(
    sql,
    'update tokens set revoked_at = coalesce(revoked_at, $3) where id = $1 and account_id = $2',
    [id, accountId, now],
  )
}

/** Unexpired tokens of an account, including revoked ones, newest first. */
export function listTokens(
  sql: Sql,
  accountId: string,
  now: number,
  beforeId: string | undefined,
  limit: number,
): Promise<Token[]> {
  const where = `account_id = $1 and expires_at > $2 ${beforeId === undefined ? '' : 'and id < $4'}`
  const params = [accountId, now, limit, ...(beforeId === undefined ? [] : [beforeId])]
  return TOKENS.list(sql, `${where} order by id desc limit $3`, params)
}

export function dropExpiredTokens(db: Db, before: number): Promise<number> {
  return deleteInSlices(db, { table: 'tokens', where: 'expires_at < $1', params: [before] })
}
