import type { Group, GroupMember } from '../../core/groups/group.js'
import type { Param, Sql } from '../engine/db.js'
import { table } from '../engine/table.js'

type NewGroup = Group & { membersKey: string | null }

interface GroupRow extends Omit<NewGroup, 'photo' | 'members'> {
  photoGuid: string | null
  photoUrl: string | null
}

const GROUPS = table<GroupRow>()('group_chats', {
  text: 'id accountId lineId membersKey chatId name photoGuid photoUrl',
  number: 'createdAt updatedAt',
})

function rowOf({ photo, ...group }: NewGroup): GroupRow {
  return { ...group, photoGuid: photo?.guid ?? null, photoUrl: photo?.url ?? null }
}

/** Id and time of a group's newest message. */
export interface LatestMessage {
  handle: string
  at: number
}

/**
 * Locks the groups of a line until the transaction ends. Taken before any change to them and before the account's
 * event numbers, so that two nodes that see the same people at once create one group.
 */
export async function lockGroupsOf(sql: Sql, lineId: string): Promise<void> {
  if (sql.engine === 'postgres')
    await sql.one('select 1 from lines where id = $1 for no key update', [lineId])
}

export async function insertGroup(sql: Sql, group: NewGroup): Promise<void> {
  await GROUPS.insert(sql, rowOf(group))
  await insertMembers(sql, group, group.members)
}

/** Replaces a group. */
export async function saveGroup(sql: Sql, before: Group, after: NewGroup): Promise<void> {
  await GROUPS.update(sql, [rowOf(after)], 'id', 'membersKey chatId name photoGuid photoUrl updatedAt')
  const kept = new Set(after.members.map((member) => member.id))
  const known = new Set(before.members.map((member) => member.id))
  for (const { id } of before.members)
    if (!kept.has(id)) await sql.run('delete from group_members where id = $1', [id])
  await insertMembers(
    sql,
    after,
    after.members.filter((member) => !known.has(member.id)),
  )
}

async function insertMembers(sql: Sql, group: Group, members: Group['members']): Promise<void> {
  await sql.insertMany(
    'group_members',
    { id: 'text', group_id: 'text', account_id: 'text', handle: 'text' },
    members.map((member) => [member.id, group.id, group.accountId, member.handle]),
  )
}

export async function findGroup(sql: Sql, id: string, accountId: string): Promise<Group | undefined> {
  const group = (await findGroups(sql, [id])).get(id)
  return group?.accountId === accountId ? group : undefined
}

/** Groups by id, with their members, in two queries. */
export async function findGroups(sql: Sql, ids: readonly string[]): Promise<Map<string, Group>> {
  if (ids.length === 0) return new Map()
  const list = sql.inList(1, [...new Set(ids)])
  return load(sql, `id ${list.sql}`, [list.param])
}

/** The group of exactly these people on this line. */
export async function findGroupByMembers(
  sql: Sql,
  accountId: string,
  lineId: string,
  membersKey: string,
): Promise<Group | undefined> {
  return first(
    await load(sql, 'account_id = $1 and line_id = $2 and members_key = $3', [accountId, lineId, membersKey]),
  )
}

/**
 * The group with this id at the carrier. On a shared line each member account may have one; the newest is returned.
 */
export async function findGroupByChat(sql: Sql, lineId: string, chatId: string): Promise<Group | undefined> {
  const groups = [...(await load(sql, 'line_id = $1 and chat_id = $2', [lineId, chatId])).values()]
  return groups.sort((a, b) => b.createdAt - a.createdAt)[0]
}

/** Group ids by the carrier's chat ids, each in the account that has the chat. */
export async function listGroupIds(
  sql: Sql,
  chats: readonly { id: string; lineId: string; accountId: string }[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const lineId of new Set(chats.map((chat) => chat.lineId))) {
    const owners = new Map(
      chats.flatMap((chat) => (chat.lineId === lineId ? [[chat.id, chat.accountId]] : [])),
    )
    const list = sql.inList(2, [...owners.keys()])
    const rows = await sql.all<{ id: string; chat_id: string; account_id: string }>(
      `select id, chat_id, account_id from group_chats where line_id = $1 and chat_id ${list.sql}`,
      [lineId, list.param],
    )
    for (const row of rows) if (owners.get(row.chat_id) === row.account_id) ids.set(row.chat_id, row.id)
  }
  return ids
}

export async function findLatestMessage(sql: Sql, group: Group): Promise<LatestMessage | undefined> {
  return sql.one<{ handle: string; at: number }>(
    `select handle, created_at as at from messages where account_id = $1 and group_id = $2 and deleted_at is null
     order by created_at desc, id desc limit 1`,
    [group.accountId, group.id],
  )
}

async function load(sql: Sql, where: string, params: Param[]): Promise<Map<string, Group>> {
  const groups = await GROUPS.list(sql, where, params)
  if (groups.length === 0) return new Map()
  const members = new Map<string, GroupMember[]>(groups.map(({ id }) => [id, []]))
  const list = sql.inList(1, [...members.keys()])
  const rows = await sql.all<GroupMember & { group_id: string }>(
    `select id, group_id, handle from group_members where group_id ${list.sql} order by id`,
    [list.param],
  )
  for (const { id, handle, group_id } of rows) members.get(group_id)!.push({ id, handle })
  return new Map(groups.map((group) => [group.id, toGroup(group, members.get(group.id)!)]))
}

function first(groups: ReadonlyMap<string, Group>): Group | undefined {
  return groups.values().next().value
}

function toGroup(
  { photoGuid, photoUrl, membersKey, ...group }: GroupRow,
  members: readonly GroupMember[],
): Group {
  return { ...group, photo: photoGuid === null ? null : { guid: photoGuid, url: photoUrl! }, members }
}

/** A list of numbers does not mean this group any more: one of its members was erased. */
export async function forgetMembersKey(sql: Sql, id: string): Promise<void> {
  await sql.run('update group_chats set members_key = null where id = $1', [id])
}
