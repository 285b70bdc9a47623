import type { ConsoleSession } from '../../core/accounts/console-session.js'
import type { Db, Sql } from '../engine/db.js'
import { deleteInSlices } from '../engine/slices.js'
import { table } from '../engine/table.js'

const SESSIONS = table<ConsoleSession>()('console_sessions', {
  text: 'id accountKeyId adminKeyId',
  number: 'createdAt usedAt expiresAt',
})

export async function insertSession(sql: Sql, session: ConsoleSession, secretHash: string): Promise<void> {
  await SESSIONS.insert(sql, session, { secret_hash: secretHash })
}

export async function findSessionSecret(
  sql: Sql,
  id: string,
): Promise<{ session: ConsoleSession; secretHash: string } | undefined> {
  const row = await sql.one('select * from console_sessions where id = $1', [id])
  return row && { session: SESSIONS.read(row), secretHash: row.secret_hash as string }
}

export async function saveSessionUse(sql: Sql, id: string, at: number): Promise<void> {
  await sql.run('update console_sessions set used_at = $2 where id = $1', [id, at])
}

export async function deleteSession(sql: Sql, id: string): Promise<void> {
  await sql.run('delete from console_sessions where id = $1', [id])
}

export function dropExpiredSessions(db: Db, before: number): Promise<number> {
  return deleteInSlices(db, { table: 'console_sessions', where: 'expires_at <= $1', params: [before] })
}
