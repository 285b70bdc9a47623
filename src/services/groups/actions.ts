import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import {
  type Group,
  type GroupState,
  handlesOf,
  MAX_MEMBERS,
  MIN_BEFORE_REMOVAL,
} from '../../core/groups/group.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { findGroup, lockGroupsOf } from '../../storage/groups/groups.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'
import { ask } from '../lines/actions.js'
import type { Actor } from '../messages/outbound.js'
import { checkRecipient } from '../messages/recipients.js'
import { forDriver, groupError, lineOf, noGroup, requireGroup, requireGroups } from './groups.js'
import { setState } from './state.js'

/**
 * Changes happen at the carrier first, then in the database, so that the stored group is the one that phones have.
 * `state` is the group after the change, whatever else happened to it in between.
 */
export interface GroupChange {
  group: Group
  from: UsableLine
  state(group: Group): GroupState
}

/** Stores the change that the carrier made. */
export async function recordChange(ctx: Ctx, sql: Sql, { group, state }: GroupChange): Promise<Group> {
  await lockGroupsOf(sql, group.lineId)
  const current = await findGroup(sql, group.id, group.accountId)
  if (!current) throw noGroup()
  const known = await setState(ctx, sql, current, state(current))
  await appendEvents(sql, known.events)
  return known.group
}

export interface MembershipInput {
  groupId: string
  change: 'add' | 'remove'
  handle: string
  fromNumber: string | null
}

/**
 * Adds or removes a person. Adding a member or removing a stranger is no change and no error, so a repeat is
 * harmless.
 */
export async function changeMembership(ctx: Ctx, actor: Actor, input: MembershipInput): Promise<GroupChange> {
  const { change, handle, fromNumber } = input
  const group = await requireGroup(ctx, actor, input.groupId)
  const { account } = actor
  if (account.plan === 'free' && fromNumber === null)
    throw new AppError('invalid', 'missing required parameter: from_number (needed on the free plan)')
  const from = await actingLine(ctx, actor, group, fromNumber)
  if (fromNumber === null && (await hasOtherLines(ctx, account, group)))
    throw groupError(
      'invalid',
      'ambiguous_sending_line',
      'from_number: several lines of this account are in the group; say which one acts',
    )
  const lines = await ctx.directory.linesOf(account.id)
  if (lines.has(handle) || handle === from.line.number)
    throw groupError('invalid', 'account_line', 'number: lines of this account cannot be added or removed')
  const handles = handlesOf(group)
  const isIn = handles.includes(handle)
  if (change === 'add' && !isIn && handles.length >= MAX_MEMBERS)
    throw groupError('invalid', 'group_full', `group_id: the group has ${MAX_MEMBERS} people already`)
  if (change === 'remove' && isIn && handles.length + 1 < MIN_BEFORE_REMOVAL)
    throw groupError(
      'invalid',
      'group_too_small',
      `group_id: a group needs at least ${MIN_BEFORE_REMOVAL} members, the line among them, for one to be removed`,
    )
  if (change === 'add') await checkRecipient(ctx, account, handle)
  if (isIn !== (change === 'add'))
    await ask(ctx, from.line, 'modifyGroup', { group: forDriver(group), change, number: handle })
  return {
    group,
    from,
    state: (current) => {
      const others = handlesOf(current).filter((one) => one !== handle)
      return { handles: change === 'add' ? [...others, handle] : others }
    },
  }
}

/** Null removes the name. */
export async function renameGroup(
  ctx: Ctx,
  actor: Actor,
  input: { groupId: string; name: string | null; fromNumber: string | null },
): Promise<GroupChange> {
  const { name } = input
  const group = await requireGroup(ctx, actor, input.groupId)
  const from = await actingLine(ctx, actor, group, input.fromNumber)
  await ask(ctx, from.line, 'renameGroup', { group: forDriver(group), name })
  return { group, from, state: () => ({ name }) }
}

/**
 * `takePhoto` fetches the photo and returns its URL. It runs only once the group may have a photo; null removes the
 * photo.
 */
export async function setGroupPhoto(
  ctx: Ctx,
  actor: Actor,
  input: { groupId: string; takePhoto: () => Promise<string | null>; fromNumber: string | null },
): Promise<GroupChange> {
  const group = await requireGroup(ctx, actor, input.groupId)
  const from = await actingLine(ctx, actor, group, input.fromNumber)
  const photoUrl = await input.takePhoto()
  await ask(ctx, from.line, 'setGroupPhoto', { group: forDriver(group), photoUrl })
  return { group, from, state: () => ({ photoUrl }) }
}

/** The line of the group. If the caller names a line, it must be that one. */
async function actingLine(
  ctx: Ctx,
  actor: Actor,
  group: Group,
  fromNumber: string | null,
): Promise<UsableLine> {
  const own = await lineOf(ctx, actor, group)
  if (fromNumber !== null && fromNumber !== own?.line.number)
    throw groupError(
      'invalid',
      'line_not_registered',
      'from_number: not a line of this account that is in the group',
    )
  if (!own)
    throw groupError(
      'invalid',
      'line_not_registered',
      'group_id: no line of this account is in the group any more',
    )
  requireGroups(own)
  return own
}

async function hasOtherLines(ctx: Ctx, account: Account, group: Group): Promise<boolean> {
  const lines = await ctx.directory.linesOf(account.id)
  return group.members.some((member) => lines.has(member.handle))
}
