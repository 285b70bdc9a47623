import type { PhoneGroup, PhoneGroupChange } from '../../core/sim/phone.js'
import type { Sql } from '../engine/db.js'
import { table } from '../engine/table.js'

const CHANGES = table<PhoneGroupChange>()('phone_group_changes', {
  text: 'chatId actor name photoUrl',
  number: 'version at',
  json: 'members',
})

/** Records the current state of a chat and who changed it. */
export async function insertGroupChange(
  sql: Sql,
  { id, version, name, photoUrl, members }: PhoneGroup,
  actor: string,
  at: number,
): Promise<void> {
  const change = { chatId: id, version, actor, name, photoUrl, members, at }
  await CHANGES.insert(sql, change, {}, 'on conflict do nothing')
}

/** The changes of these chats, each from its beginning. */
export function listGroupChanges(sql: Sql, chatIds: readonly string[]): Promise<PhoneGroupChange[]> {
  const list = sql.inList(1, chatIds)
  return CHANGES.list(sql, `chat_id ${list.sql} order by chat_id, version`, [list.param])
}
