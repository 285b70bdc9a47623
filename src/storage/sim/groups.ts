import type { PhoneGroup } from '../../core/sim/phone.js'
import type { Sql } from '../engine/db.js'
import { forUpdate, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

const GROUPS = table<PhoneGroup>()('phone_groups', {
  text: 'id network accountId lineId lineNumber groupId name photoUrl',
  number: 'createdAt version',
  json: 'members',
})

/** Adds a chat; false if the line already has a chat for this group. */
export function insertPhoneGroup(sql: Sql, group: PhoneGroup): Promise<boolean> {
  return GROUPS.insert(sql, group, { told_version: 0 }, 'on conflict do nothing')
}

/** Writes a changed chat under its next version. */
export async function savePhoneGroup(sql: Sql, group: PhoneGroup): Promise<void> {
  await sql.run(
    'update phone_groups set name = $2, photo_url = $3, members = $4, version = version + 1 where id = $1',
    [group.id, group.name, group.photoUrl, JSON.stringify(group.members)],
  )
}

export function findPhoneGroup(sql: Sql, id: string): Promise<PhoneGroup | undefined> {
  return GROUPS.find(sql, 'id = $1', [id])
}

/** Locks the chat until the commit. */
export function lockPhoneGroup(sql: Sql, id: string): Promise<PhoneGroup | undefined> {
  return GROUPS.find(sql, `id = $1 ${forUpdate(sql)}`, [id])
}

/** The chat that a line made for a group. */
export function findPhoneGroupFor(
  sql: Sql,
  lineId: string,
  groupId: string,
): Promise<PhoneGroup | undefined> {
  return GROUPS.find(sql, 'line_id = $1 and group_id = $2', [lineId, groupId])
}

export async function findPhoneGroups(sql: Sql, ids: readonly string[]): Promise<Map<string, PhoneGroup>> {
  if (ids.length === 0) return new Map()
  const list = sql.inList(1, [...new Set(ids)])
  const groups = await GROUPS.list(sql, `id ${list.sql}`, [list.param])
  return new Map(groups.map((group) => [group.id, group]))
}

export function listPhoneGroups(sql: Sql, accountId: string, limit: number): Promise<PhoneGroup[]> {
  return GROUPS.list(sql, 'account_id = $1 order by created_at, id limit $2', [accountId, limit])
}

/** Chats with a change that their line has not received yet. */
export function listUntoldPhoneGroups(sql: Sql, lineId: string, limit: number): Promise<PhoneGroup[]> {
  return GROUPS.list(sql, 'line_id = $1 and told_version < version order by id limit $2', [lineId, limit])
}

export async function savePhoneGroupTold(sql: Sql, group: PhoneGroup): Promise<void> {
  await sql.run('update phone_groups set told_version = $2 where id = $1 and told_version < $2', [
    group.id,
    group.version,
  ])
}

/** Copies of a group message that are on their way to phones; phones that are off do not count. */
export function listOnTheWay(sql: Sql, lineId: string, providerId: string): Promise<number[]> {
  return listValues(
    sql,
    `select id from phone_messages where line_id = $1 and provider_id = $2 and chat_id is not null
       and from_phone = 0 and due_at is not null and arrived_at is null`,
    [lineId, providerId],
  )
}
