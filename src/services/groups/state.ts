import type { NewEvent } from '../../core/events/event.js'
import {
  differences,
  type Group,
  type GroupMember,
  type GroupState,
  groupEvent,
  membersKey,
} from '../../core/groups/group.js'
import type { Line } from '../../core/lines/line.js'
import type { GroupNews } from '../../drivers/inbound.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import {
  findGroupByChat,
  findGroupByMembers,
  findGroups,
  insertGroup,
  lockGroupsOf,
  saveGroup,
} from '../../storage/groups/groups.js'
import { requireCurrent } from '../../storage/lines/lines.js'
import type { Ctx } from '../ctx.js'

/** A group after a change, and the events of the change. */
export interface GroupUpdate {
  group: Group
  events: NewEvent[]
}

interface GroupOwner {
  accountId: string
  lineId: string
}

/** Finds the group of these people on a line, or creates it. */
export async function groupOfMembers(
  ctx: Ctx,
  sql: Sql,
  where: GroupOwner,
  handles: readonly string[],
  name: string | null = null,
): Promise<GroupUpdate> {
  await lockGroupsOf(sql, where.lineId)
  const found = await findGroupByMembers(sql, where.accountId, where.lineId, membersKey(handles))
  return found ? { group: found, events: [] } : makeGroup(ctx, sql, where, { handles, name, chatId: null })
}

/**
 * Finds or creates the group of a carrier's chat and brings it to the reported state: the group with this chat id,
 * else the group that the chat was created for, else a group of the same people without a chat id, else a new group.
 */
export async function groupOfChat(
  ctx: Ctx,
  sql: Sql,
  where: GroupOwner,
  chat: GroupNews,
): Promise<GroupUpdate> {
  await lockGroupsOf(sql, where.lineId)
  const found =
    (await findGroupByChat(sql, where.lineId, chat.chatId)) ??
    (chat.groupId === null ? undefined : (await findGroups(sql, [chat.groupId])).get(chat.groupId)) ??
    (await findGroupByMembers(sql, where.accountId, where.lineId, membersKey(chat.members)))
  const ours =
    found?.accountId === where.accountId &&
    found.lineId === where.lineId &&
    (found.chatId ?? chat.chatId) === chat.chatId
  const { members: handles, name, chatId, photoUrl } = chat
  if (!ours) return makeGroup(ctx, sql, where, { handles, name, chatId })
  return setState(ctx, sql, found, { handles, name, ...(photoUrl === undefined ? {} : { photoUrl }) }, chatId)
}

async function makeGroup(
  ctx: Ctx,
  sql: Sql,
  where: GroupOwner,
  made: { handles: readonly string[]; name: string | null; chatId: string | null },
): Promise<GroupUpdate> {
  const now = ctx.clock.now()
  const group: Group = {
    id: `sb_group_${ctx.newId()}`,
    accountId: where.accountId,
    lineId: where.lineId,
    chatId: made.chatId,
    name: made.name,
    photo: null,
    members: made.handles.map((handle) => newMember(ctx, handle)),
    createdAt: now,
    updatedAt: now,
  }
  await insertGroup(sql, { ...group, membersKey: await freeKey(sql, group) })
  return { group, events: [groupEvent('group.created', group)] }
}

/** Brings a group to a state. Fields that already agree are no change and no event. */
export async function setState(
  ctx: Ctx,
  sql: Sql,
  before: Group,
  wanted: GroupState,
  chatId: string | null = before.chatId,
): Promise<GroupUpdate> {
  const changes = differences(before, wanted)
  const changed = Object.keys(changes).length > 0
  if (!changed && chatId === before.chatId) return { group: before, events: [] }
  const { handles, name = before.name, photoUrl } = changes
  const group: Group = {
    ...before,
    chatId,
    name,
    photo:
      photoUrl === undefined
        ? before.photo
        : photoUrl === null
          ? null
          : { guid: ctx.newId().toUpperCase(), url: photoUrl },
    members: handles
      ? handles.map((handle) => before.members.find((one) => one.handle === handle) ?? newMember(ctx, handle))
      : before.members,
    updatedAt: changed ? ctx.clock.now() : before.updatedAt,
  }
  await saveGroup(sql, before, { ...group, membersKey: await freeKey(sql, group) })
  return { group, events: changed ? [groupEvent('group.updated', group)] : [] }
}

/** The key that finds a group by its members, or null if an older group of these members has it. */
async function freeKey(sql: Sql, group: Group): Promise<string | null> {
  const key = membersKey(group.members.map((member) => member.handle))
  const holder = await findGroupByMembers(sql, group.accountId, group.lineId, key)
  return holder && holder.id !== group.id ? null : key
}

function newMember(ctx: Ctx, handle: string): GroupMember {
  return { id: ctx.newId(), handle }
}

/** Applies a group that the carrier reports. On a shared line, an unknown group belongs to no account yet. */
export async function recordGroupNews(ctx: Ctx, line: Line, news: GroupNews): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const known =
      (await findGroupByChat(sql, line.id, news.chatId)) ??
      (news.groupId === null ? undefined : (await findGroups(sql, [news.groupId])).get(news.groupId))
    const accountId = known?.accountId ?? line.accountId
    if (!accountId) return
    const { events } = await groupOfChat(ctx, sql, { accountId, lineId: line.id }, news)
    await appendEvents(sql, events)
    await requireCurrent(sql, [line])
  })
}
