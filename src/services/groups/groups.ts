import type { Account } from '../../core/accounts/account.js'
import { isMark } from '../../core/erasure/person.js'
import { AppError } from '../../core/errors.js'
import { type Group, handlesOf, MAX_MEMBERS, MIN_MEMBERS, membersKey } from '../../core/groups/group.js'
import type { Group as DriverGroup } from '../../drivers/contract.js'
import { appendEvents } from '../../storage/events/events.js'
import { findGroup, findGroupByMembers, findGroups } from '../../storage/groups/groups.js'
import type { UsableLine } from '../accounts/directory.js'
import { txOf } from '../accounts/present.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import { ask } from '../lines/actions.js'
import {
  type Actor,
  linesOf,
  newSend,
  requireLine,
  requireSendLine,
  resolveLinks,
  type SendRequest,
} from '../messages/outbound.js'
import { checkRecipient } from '../messages/recipients.js'
import { findKeyed, type RequestIdentity } from '../replay.js'
import { groupOfMembers } from './state.js'

export interface GroupSendInput extends SendRequest {
  /** The people, each once; empty if only the group is given. */
  numbers: readonly string[]
  groupId: string | null
}

/** Sends a message to a group. The first message to a set of people creates their group. */
export async function sendGroupMessage(
  ctx: Ctx,
  actor: Actor,
  input: GroupSendInput,
  request: RequestIdentity,
): Promise<AcceptedSend & { group: Group }> {
  const { account } = actor
  const from = await requireSendLine(ctx, actor, input)
  requireGroups(from)
  const known =
    input.groupId === null
      ? ((await findMadeOf(ctx, account, from, input.numbers)) ?? (await groupBefore(ctx, request)))
      : await requireGroupOn(ctx, account, from, input.groupId, input.numbers)
  for (const handle of known ? handlesOf(known) : input.numbers) await checkRecipient(ctx, account, handle)
  const links = await resolveLinks(ctx, account, from, { groupId: known?.id ?? '' }, input)
  if (!known && input.sendAt === undefined)
    await ctx.acceptance.requireRoom({ accountId: account.id, lineId: from.line.id })
  const group = known ?? (await makeOf(ctx, account, from, input.numbers, null))
  const message = newSend(ctx, account, from, input, links, {
    contact: group.id,
    groupId: group.id,
    type: 'group',
    service: 'iMessage',
  })
  const accepted = await ctx.acceptance.accept(message, request)
  const { groupId } = accepted.message
  // A repeat uses the group of its first request, whose members may have changed.
  return {
    ...accepted,
    group: groupId === group.id ? group : (await findGroups(ctx.db, [groupId!])).get(groupId!)!,
  }
}

/** Creates a group without a message. The group of the same people is returned if there is one. */
export async function createGroup(
  ctx: Ctx,
  actor: Actor,
  input: { fromNumber: string; numbers: readonly string[]; name: string | null },
): Promise<{ group: Group; from: UsableLine; isNew: boolean }> {
  const { account } = actor
  const from = await requireLine(ctx, actor, input.fromNumber)
  requireGroups(from)
  const known = await findMadeOf(ctx, account, from, input.numbers)
  for (const number of input.numbers) await checkRecipient(ctx, account, number)
  const group = known ?? (await makeOf(ctx, account, from, input.numbers, input.name))
  await ask(ctx, from.line, 'createGroup', { group: forDriver(group) })
  return { group, from, isNew: known === undefined }
}

async function findMadeOf(
  ctx: Ctx,
  account: Account,
  from: UsableLine,
  numbers: readonly string[],
): Promise<Group | undefined> {
  checkNumbers(from, numbers)
  return findGroupByMembers(ctx.db, account.id, from.line.id, membersKey(numbers))
}

/** The group of this request's first try. Its members may have changed, and a repeat creates no second group. */
async function groupBefore(ctx: Ctx, request: RequestIdentity): Promise<Group | undefined> {
  const groupId = (await findKeyed(ctx.db, request, ctx.clock.now()))?.groupId
  return groupId ? (await findGroups(ctx.db, [groupId])).get(groupId) : undefined
}

/** In its own transaction: a group without a message does no harm, and the next message finds it. */
async function makeOf(
  ctx: Ctx,
  account: Account,
  from: UsableLine,
  numbers: readonly string[],
  name: string | null,
): Promise<Group> {
  const where = { accountId: account.id, lineId: from.line.id }
  return txOf(ctx, account.id, async (sql) => {
    const { group, events } = await groupOfMembers(ctx, sql, where, numbers, name)
    await appendEvents(sql, events)
    return group
  })
}

function checkNumbers(from: UsableLine, numbers: readonly string[]): void {
  if (numbers.includes(from.line.number))
    throw new AppError('invalid', 'Cannot send messages to self: numbers has the line itself')
  if (numbers.length < MIN_MEMBERS)
    throw new AppError(
      'invalid',
      `numbers: a group needs at least ${MIN_MEMBERS} different people; one person is written to with /api/send-message`,
    )
  if (numbers.length > MAX_MEMBERS)
    throw new AppError('invalid', `numbers: a group has at most ${MAX_MEMBERS} people`)
}

/** The group to write to. Numbers given with its id must be its members, so that nobody gets a message by mistake. */
async function requireGroupOn(
  ctx: Ctx,
  account: Account,
  from: UsableLine,
  id: string,
  numbers: readonly string[],
): Promise<Group> {
  const group = await findGroup(ctx.db, id, account.id)
  if (group?.lineId !== from.line.id) throw noGroup()
  if (numbers.length > 0 && membersKey(numbers) !== membersKey(handlesOf(group))) {
    throw new AppError(
      'invalid',
      'numbers: not the people of group_id. Give one of the two, or exactly the people of the group.',
    )
  }
  return group
}

/** A group that the caller may see. A group of another account, or on a line outside a token's, counts as absent. */
export async function requireGroup(ctx: Ctx, actor: Actor, id: string): Promise<Group> {
  const group = await findGroup(ctx.db, id, actor.account.id)
  const visible = group && (actor.numbers === null || (await lineOf(ctx, actor, group)) !== undefined)
  if (!visible) throw noGroup()
  return group
}

/** The line of a group, if the actor may use it. */
export async function lineOf(ctx: Ctx, actor: Actor, group: Group): Promise<UsableLine | undefined> {
  return [...(await linesOf(ctx, actor)).values()].find(({ line }) => line.id === group.lineId)
}

/** Groups need iMessage, and not every line with iMessage supports them. */
export function requireGroups({ capabilities }: UsableLine): void {
  if (!capabilities.groups)
    throw groupError('invalid', 'unsupported_line', 'from_number: this line has no groups')
}

export function noGroup(): AppError {
  return groupError('not_found', 'group_not_found', 'group_id: there is no such group')
}

/** Errors about groups have a code for programs besides the text. */
export function groupError(code: 'invalid' | 'not_found', reason: string, message: string): AppError {
  return new AppError(code, message, { reason })
}

export function forDriver(group: Group): DriverGroup {
  const { id, accountId, chatId, name } = group
  return { id, accountId, chatId, members: handlesOf(group).filter((handle) => !isMark(handle)), name }
}
