import type { Sql } from '../engine/db.js'
import { findValue, listValues } from '../engine/query.js'

/** Deleted messages that still have a text and for which nothing is left to do. The words of the index. */
const UNERASED = `deleted_at is not null and next_action_at is null
  and (content <> '' or media_url <> '' or extra is not null or error_detail is not null)`

/** When the oldest deleted message with a text was last changed. */
export function findOldestUnerased(sql: Sql): Promise<number | undefined> {
  return findValue(sql, `select min(updated_at) from messages where ${UNERASED}`)
}

/** Deleted messages with a text that have not changed since `before`, in order of ids. */
export async function listUnerased(sql: Sql, before: number, limit: number): Promise<number[]> {
  const text = `select id from messages where ${UNERASED} and updated_at <= $1 order by updated_at limit $2`
  return (await listValues<number>(sql, text, [before, limit])).sort((a, b) => a - b)
}

/** Leaves of messages only what receipts and repeats are recognised by. */
export async function eraseTexts(sql: Sql, ids: readonly number[]): Promise<void> {
  const list = sql.inIds(1, ids)
  await sql.run(
    `update messages set content = '', media_url = '', extra = null, error_detail = null where id ${list.sql}`,
    [list.param],
  )
}
