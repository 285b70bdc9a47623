import type { Media, MediaSource } from '../../core/media/media.js'
import { addToTotals, sumByAccount } from '../accounts/budgets.js'
import type { Sql } from '../engine/db.js'
import { listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

const MEDIA = table<Media>()('media', {
  text: 'name id accountId source extension',
  number: 'size createdAt',
})

export async function insertMedia(sql: Sql, media: Media): Promise<void> {
  await MEDIA.insert(sql, media)
  await addToTotals(sql, 'media', new Map([[media.accountId, media.size]]))
}

export function findMedia(sql: Sql, name: string): Promise<Media | undefined> {
  return MEDIA.find(sql, 'name = $1', [name])
}

/** Names of expired media, oldest first. */
export function listOldMedia(sql: Sql, source: MediaSource, until: number, limit: number): Promise<string[]> {
  return listValues(
    sql,
    'select name from media where source = $1 and created_at <= $2 order by created_at limit $3',
    [source, until, limit],
  )
}

export function listMediaOf(sql: Sql, accountId: string): Promise<string[]> {
  return listValues(sql, 'select name from media where account_id = $1', [accountId])
}

export async function deleteMedia(sql: Sql, names: readonly string[]): Promise<void> {
  const list = sql.inList(1, names)
  const gone = await sql.all<{ accountId: string; size: number }>(
    `delete from media where name in ${list.sql} returning account_id as "accountId", size`,
    [list.param],
  )
  await addToTotals(
    sql,
    'media',
    sumByAccount(gone, ({ size }) => -size),
  )
}
