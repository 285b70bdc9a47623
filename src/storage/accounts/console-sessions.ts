import type { ConsoleSession } from '../../core/accounts/console-session.js'
import type { Row, Sql } from '../engine/db.js'

export async function insertSession(sql: Sql, session: ConsoleSession, secretHash: string): Promise<void> {
  await sql.run(
    `insert into console_sessions (id, secret_hash, account_key_id, admin_key_id, created_at, used_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      session.id,
      secretHash,
      session.accountKeyId,
      session.adminKeyId,
      session.createdAt,
      session.usedAt,
      session.expiresAt,
    ],
  )
}

export async function findSessionSecret(
  sql: Sql,
  id: string,
): Promise<{ session: ConsoleSession; secretHash: string } | undefined> {
  const row = await sql.one('select * from console_sessions where id = $1', [id])
  return row && { session: toSession(row), secretHash: row.secret_hash as string }
}

export async function saveSessionUse(sql: Sql, id: string, at: number): Promise<void> {
  await sql.run('update console_sessions set used_at = $2 where id = $1', [id, at])
}

export async function deleteSession(sql: Sql, id: string): Promise<void> {
  await sql.run('delete from console_sessions where id = $1', [id])
}

export async function dropExpiredSessions(sql: Sql, before: number): Promise<number> {
  return sql.run('delete from console_sessions where expires_at <= $1', [before])
}

function toSession(row: Row): ConsoleSession {
  return {
    id: row.id as string,
    accountKeyId: row.account_key_id as string | null,
    adminKeyId: row.admin_key_id as string | null,
    createdAt: row.created_at as number,
    usedAt: row.used_at as number,
    expiresAt: row.expires_at as number,
  }
}
