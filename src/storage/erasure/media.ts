import type { Reads, Sql } from '../engine/db.js'
import { listValues } from '../engine/query.js'

/** Remembers media that erased messages show. */
export async function insertErasureMedia(
  sql: Sql,
  erasureId: string,
  names: readonly string[],
): Promise<void> {
  await sql.insertMany(
    'erasure_media',
    { erasure_id: 'text', name: 'text' },
    [...new Set(names)].map((name) => [erasureId, name]),
    'on conflict (erasure_id, name) do nothing',
  )
}

export function listErasureMedia(sql: Reads, erasureId: string, limit: number): Promise<string[]> {
  return listValues(sql, 'select name from erasure_media where erasure_id = $1 order by name limit $2', [
    erasureId,
    limit,
  ])
}

export async function removeErasureMedia(
  sql: Sql,
  erasureId: string,
  names: readonly string[],
): Promise<void> {
  const list = sql.inList(2, names)
  await sql.run(`delete from erasure_media where erasure_id = $1 and name ${list.sql}`, [
    erasureId,
    list.param,
  ])
}

/** Keeps uploads that something else shows. What a person sent is theirs wherever it is shown. */
export async function keepUploads(sql: Sql, erasureId: string, names: readonly string[]): Promise<void> {
  const list = sql.inList(2, names)
  await sql.run(
    `delete from erasure_media where erasure_id = $1 and name ${list.sql}
       and name in (select name from media where source = 'upload')`,
    [erasureId, list.param],
  )
}

interface Showing {
  id: number
  text: string | null
}

/** What messages after an id show, in the order of ids; the text is null for a message without media. */
export function listShown(sql: Reads, after: number, limit: number): Promise<Showing[]> {
  return sql.all(
    `select id, case when media_url like '%/media/%' or extra like '%/media/%'
       then media_url || ' ' || coalesce(extra, '') end as text
     from messages where id > $1 order by id limit $2`,
    [after, limit],
  )
}

/** What groups and profiles of lines show. */
export function listShownElsewhere(sql: Reads): Promise<string[]> {
  return listValues(
    sql,
    `select photo_url as text from group_chats where photo_url like '%/media/%'
     union all select photo_url from phone_groups where photo_url like '%/media/%'
     union all select change || ' ' || card from profile_requests where change like '%/media/%' or card like '%/media/%'`,
  )
}
