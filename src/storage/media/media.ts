import type { Media, MediaSource } from '../../core/media/media.js'
import type { Row, Sql } from '../engine/db.js'

export async function insertMedia(sql: Sql, media: Media): Promise<void> {
  await sql.run(
    'insert into media (name, id, account_id, source, extension, size, created_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [media.name, media.id, media.accountId, media.source, media.extension, media.size, media.createdAt],
  )
}

export async function findMedia(sql: Sql, name: string): Promise<Media | undefined> {
  const row = await sql.one('select * from media where name = $1', [name])
  return row && toMedia(row)
}

/** Names of expired media, oldest first. */
export async function listOldMedia(
  sql: Sql,
  source: MediaSource,
  until: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql.all<{ name: string }>(
    'select name from media where source = $1 and created_at <= $2 order by created_at limit $3',
    [source, until, limit],
  )
  return rows.map((row) => row.name)
}

export async function listMediaOf(sql: Sql, accountId: string): Promise<string[]> {
  const rows = await sql.all<{ name: string }>('select name from media where account_id = $1', [accountId])
  return rows.map((row) => row.name)
}

export async function deleteMedia(sql: Sql, names: readonly string[]): Promise<void> {
  const list = sql.inList(1, names)
  await sql.run(`delete from media where name in ${list.sql}`, [list.param])
}

function toMedia(row: Row): Media {
  return {
    name: row.name as string,
    id: row.id as string,
    accountId: row.account_id as string,
    source: row.source as MediaSource,
    extension: row.extension as string,
    size: row.size as number,
    createdAt: row.created_at as number,
  }
}
