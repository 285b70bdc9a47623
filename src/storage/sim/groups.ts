import type { PhoneGroup } from '../../core/sim/phone.js'
import type { Row, Sql } from '../engine/db.js'

/** Adds a chat; false when the line has one for this group already. */
export async function insertPhoneGroup(sql: Sql, group: PhoneGroup): Promise<boolean> {
  const added = await sql.run(
    `insert into phone_groups (id, network, account_id, line_id, line_number, group_id, name, photo_url, members,
       created_at, version, told_version)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0) on conflict do nothing`,
    [
      group.id,
      group.network,
      group.accountId,
      group.lineId,
      group.lineNumber,
      group.groupId,
      group.name,
      group.photoUrl,
      JSON.stringify(group.members),
      group.createdAt,
      group.version,
    ],
  )
  return added > 0
}

/** Writes a changed chat under its next version. */
export async function savePhoneGroup(sql: Sql, group: PhoneGroup): Promise<void> {
  await sql.run(
    'update phone_groups set name = $2, photo_url = $3, members = $4, version = version + 1 where id = $1',
    [group.id, group.name, group.photoUrl, JSON.stringify(group.members)],
  )
}

export async function findPhoneGroup(sql: Sql, id: string): Promise<PhoneGroup | undefined> {
  return one(sql, 'id = $1', [id])
}

/** The same, to change it: nobody else can until this transaction ends. */
export async function lockPhoneGroup(sql: Sql, id: string): Promise<PhoneGroup | undefined> {
  return one(sql, `id = $1 ${sql.engine === 'postgres' ? 'for update' : ''}`, [id])
}

/** The chat that a line made for a group. */
export async function findPhoneGroupFor(
  sql: Sql,
  lineId: string,
  groupId: string,
): Promise<PhoneGroup | undefined> {
  return one(sql, 'line_id = $1 and group_id = $2', [lineId, groupId])
}

export async function findPhoneGroups(sql: Sql, ids: readonly string[]): Promise<Map<string, PhoneGroup>> {
  if (ids.length === 0) return new Map()
  const list = sql.inList(1, [...new Set(ids)])
  const rows = await sql.all(`select * from phone_groups where id in ${list.sql}`, [list.param])
  return new Map(rows.map((row) => [row.id as string, toPhoneGroup(row)]))
}

export async function listPhoneGroups(sql: Sql, accountId: string, limit: number): Promise<PhoneGroup[]> {
  const rows = await sql.all(
    'select * from phone_groups where account_id = $1 order by created_at, id limit $2',
    [accountId, limit],
  )
  return rows.map(toPhoneGroup)
}

/** Chats whose line does not know yet how they are. */
export async function listUntoldPhoneGroups(sql: Sql, lineId: string, limit: number): Promise<PhoneGroup[]> {
  const rows = await sql.all(
    'select * from phone_groups where line_id = $1 and told_version < version order by id limit $2',
    [lineId, limit],
  )
  return rows.map(toPhoneGroup)
}

export async function savePhoneGroupTold(sql: Sql, group: PhoneGroup): Promise<void> {
  await sql.run('update phone_groups set told_version = $2 where id = $1 and told_version < $2', [
    group.id,
    group.version,
  ])
}

/** Phones that a message of a chat is on its way to at this moment; those that are off do not count. */
export async function listOnTheWay(sql: Sql, lineId: string, providerId: string): Promise<number[]> {
  const rows = await sql.all<{ id: number }>(
    `select id from phone_messages where line_id = $1 and provider_id = $2 and chat_id is not null
       and from_phone = 0 and due_at is not null and arrived_at is null`,
    [lineId, providerId],
  )
  return rows.map((row) => row.id)
}

async function one(sql: Sql, where: string, params: string[]): Promise<PhoneGroup | undefined> {
  const row = await sql.one(`select * from phone_groups where ${where}`, params)
  return row && toPhoneGroup(row)
}

function toPhoneGroup(row: Row): PhoneGroup {
  return {
    id: row.id as string,
    network: row.network as string,
    accountId: row.account_id as string,
    lineId: row.line_id as string,
    lineNumber: row.line_number as string,
    groupId: row.group_id as string | null,
    name: row.name as string | null,
    photoUrl: row.photo_url as string | null,
    members: JSON.parse(row.members as string),
    createdAt: row.created_at as number,
    version: row.version as number,
  }
}
