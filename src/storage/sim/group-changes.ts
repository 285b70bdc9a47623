import type { PhoneGroup, PhoneGroupChange } from '../../core/sim/phone.js'
import type { Sql } from '../engine/db.js'

/** Writes down how a chat is now, and who made it so. */
export async function insertGroupChange(
  sql: Sql,
  { id, version, name, photoUrl, members }: PhoneGroup,
  actor: string,
  at: number,
): Promise<void> {
  await sql.run(
    `insert into phone_group_changes (chat_id, version, actor, name, photo_url, members, at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [id, version, actor, name, photoUrl, JSON.stringify(members), at],
  )
}

/** What these chats went through, each from its beginning. */
export async function listGroupChanges(sql: Sql, chatIds: readonly string[]): Promise<PhoneGroupChange[]> {
  const list = sql.inList(1, chatIds)
  const rows = await sql.all(
    `select * from phone_group_changes where chat_id in ${list.sql} order by chat_id, version`,
    [list.param],
  )
  return rows.map((row) => ({
    chatId: row.chat_id as string,
    version: row.version as number,
    actor: row.actor as string,
    name: row.name as string | null,
    photoUrl: row.photo_url as string | null,
    members: JSON.parse(row.members as string),
    at: row.at as number,
  }))
}
