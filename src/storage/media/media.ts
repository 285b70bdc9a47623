import type { Media, MediaSource } from '../../core/media/media.js'
import { addToTotals, sumByAccount } from '../accounts/budgets.js'
import type { Reads, Sql } from '../engine/db.js'
import { listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

const MEDIA = table<Media>()('media', {
  text: 'name id accountId source extension',
  number: 'size createdAt',
})

/** Returns false if there is media with this id. */
export async function insertMedia(sql: Sql, media: Media): Promise<boolean> {
  if (!(await MEDIA.insert(sql, media, {}, 'on conflict (id) do nothing'))) return false
  await addToTotals(sql, 'media', new Map([[media.accountId, media.size]]))
  return true
}

export function findMedia(sql: Sql, name: string): Promise<Media | undefined> {
  return MEDIA.find(sql, 'name = $1', [name])
}

export function findMediaById(sql: Reads, id: string): Promise<Media | undefined> {
  return MEDIA.find(sql, 'id = $1', [id])
}

export function listMediaNames(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const list = sql.inList(1, ids)
  return listValues(sql, `select name from media where id ${list.sql}`, [list.param])
}

/** Names of expired media, oldest first. */
export function listOldMedia(sql: Sql, source: MediaSource, until: number, limit: number): Promise<string[]> {
  return listValues(
    sql,
    'select name from media where source = $1 and created_at <= $2 order by created_at limit $3',
    [source, until, limit],
  )
}

/** Media of an account up to a time, after a place, oldest first. */
export function listOldMediaOf(
  sql: Reads,
  accountId: string,
  until: number,
  after: { at: number; name: string },
  limit: number,
): Promise<{ name: string; at: number }[]> {
  return sql.all(
    `select name, created_at as at from media
     where account_id = $1 and created_at <= $2 and (created_at, name) > ($3, $4)
     order by created_at, name limit $5`,
    [accountId, until, after.at, after.name, limit],
  )
}

/** Fields of waiting messages of an account that may name media: those on its lines, and the scheduled ones. */
export function listWaitingReferences(
  sql: Reads,
  accountId: string,
): Promise<{ url: string; extra: string | null }[]> {
  const fields = 'select media_url as url, extra from messages where account_id = $1'
  const named = "(media_url <> '' or extra is not null)"
  return sql.all(
    `${fields} and next_action_at is not null and due_at is null and ${named} and line_id in (
       select id from lines where account_id = $1 union select line_id from line_members where account_id = $1)
     union all ${fields} and due_at is not null and ${named}`,
    [accountId],
  )
}

export function listMediaOf(sql: Sql, accountId: string): Promise<string[]> {
  return listValues(sql, 'select name from media where account_id = $1', [accountId])
}

export async function deleteMedia(sql: Sql, names: readonly string[]): Promise<void> {
  const list = sql.inList(1, names)
  const gone = await sql.all<{ accountId: string; size: number }>(
    `delete from media where name ${list.sql} returning account_id as "accountId", size`,
    [list.param],
  )
  await addToTotals(
    sql,
    'media',
    sumByAccount(gone, ({ size }) => -size),
  )
}
