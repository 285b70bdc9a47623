import type { Account } from '../../core/accounts/account.js'
import type { Group } from '../../core/groups/group.js'
import type { Message } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { findGroups } from '../../storage/groups/groups.js'
import { toOwnRecord } from './wire.js'

/** Messages of one account on Trunkline's own routes. */
export async function recordsOf(ctx: Ctx, account: Account, messages: readonly Message[]) {
  const groups = await groupsOf(ctx, messages)
  return messages.map((message) => toOwnRecord(message, account, groups.get(message.groupId ?? '')))
}

/** The groups of messages, by id. */
export function groupsOf(ctx: Ctx, messages: readonly Message[]): Promise<Map<string, Group>> {
  return findGroups(
    ctx.db,
    messages.flatMap((message) => message.groupId ?? []),
  )
}
