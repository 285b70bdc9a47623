import type { Token } from '../../core/accounts/token.js'
import type { Row, Sql } from '../engine/db.js'

export async function insertToken(sql: Sql, token: Token, secretHash: string): Promise<void> {
  await sql.run(
    `insert into tokens (id, account_id, key_id, secret_hash, numbers, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      token.id,
      token.accountId,
      token.keyId,
      secretHash,
      token.numbers && JSON.stringify(token.numbers),
      token.createdAt,
      token.expiresAt,
    ],
  )
}

/** A token that is not revoked, with the hash of its text, for authentication. */
export async function findTokenSecret(
  sql: Sql,
  id: string,
): Promise<{ token: Token; secretHash: string } | undefined> {
  const row = await sql.one('select * from tokens where id = $1 and revoked_at is null', [id])
  return row && { token: toToken(row), secretHash: row.secret_hash as string }
}

/** Returns whether the account has this token. A second call keeps the first time of revocation. */
export async function revokeToken(sql: Sql, accountId: string, id: string, now: number): Promise<boolean> {
  const changed = await sql.run(
    'update tokens set revoked_at = coalesce(revoked_at, $3) where id = $1 and account_id = $2',
    [id, accountId, now],
  )
  return changed > 0
}

/** Unexpired tokens of an account, including revoked ones, newest first. */
export async function listTokens(
  sql: Sql,
  accountId: string,
  now: number,
  beforeId: string | undefined,
  limit: number,
): Promise<Token[]> {
  const rows = await sql.all(
    `select * from tokens where account_id = $1 and expires_at > $2 ${beforeId === undefined ? '' : 'and id < $4'}
     order by id desc limit $3`,
    [accountId, now, limit, ...(beforeId === undefined ? [] : [beforeId])],
  )
  return rows.map(toToken)
}

export async function dropExpiredTokens(sql: Sql, before: number): Promise<number> {
  return sql.run('delete from tokens where expires_at < $1', [before])
}

function toToken(row: Row): Token {
  return {
    id: row.id as string,
    accountId: row.account_id as string,
    keyId: row.key_id as string,
    numbers: row.numbers === null ? null : JSON.parse(row.numbers as string),
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    revokedAt: row.revoked_at as number | null,
  }
}
