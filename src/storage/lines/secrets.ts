import type { Sql } from '../engine/db.js'
import { findValue } from '../engine/query.js'

export function findLineSecrets(sql: Sql, lineId: string): Promise<string | undefined> {
  return findValue(sql, 'select sealed from line_secrets where line_id = $1', [lineId])
}

export async function saveLineSecrets(
  sql: Sql,
  lineId: string,
  secrets: { sealed: string; kid: string },
): Promise<void> {
  await sql.run(
    `insert into line_secrets (line_id, kid, sealed) values ($1, $2, $3)
     on conflict (line_id) do update set kid = excluded.kid, sealed = excluded.sealed`,
    [lineId, secrets.kid, secrets.sealed],
  )
}

export async function dropLineSecrets(sql: Sql, lineId: string): Promise<void> {
  await sql.run('delete from line_secrets where line_id = $1', [lineId])
}
