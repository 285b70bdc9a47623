import { handlesOf } from '../core/group.js'
import type { Sql } from '../storage/db.js'
import { findGroups } from '../storage/groups.js'
import type { NewMessage } from '../storage/messages.js'
import { findOptOuts } from '../storage/opt-outs.js'

/**
 * Which messages may not go out because of an opt-out. A group cannot be written to without each of its people,
 * so one of them is enough: the message is kept back from all.
 */
export async function findBlocked(
  sql: Sql,
  messages: readonly NewMessage[],
): Promise<(message: NewMessage) => boolean> {
  const groups = await findGroups(
    sql,
    messages.flatMap((message) => message.groupId ?? []),
  )
  if (groups.size === 0) {
    const optedOut = await findOptOuts(sql, messages)
    return ({ accountId, contact }) => optedOut(accountId, contact)
  }
  const people = messages.flatMap(({ accountId, groupId }) => {
    const group = groups.get(groupId ?? '')
    return group ? handlesOf(group).map((contact) => ({ accountId, contact })) : []
  })
  const optedOut = await findOptOuts(sql, [...messages, ...people])
  return ({ accountId, contact, groupId }) => {
    const group = groups.get(groupId ?? '')
    return group
      ? handlesOf(group).some((handle) => optedOut(accountId, handle))
      : optedOut(accountId, contact)
  }
}
