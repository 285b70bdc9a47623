import { consentWord, START_TEXT, STOP_TEXT } from '../../core/contacts/opt-out.js'
import { handlesOf } from '../../core/groups/group.js'
import type { Line } from '../../core/lines/line.js'
import type { NewMessage } from '../../core/messages/message.js'
import { deleteOptOut, findOptOuts, saveOptOut } from '../../storage/contacts/opt-outs.js'
import type { Sql } from '../../storage/engine/db.js'
import { findGroups } from '../../storage/groups/groups.js'
import type { Ctx } from '../ctx.js'
import { newOutbound } from '../messages/outbound.js'

/** Which messages must not be sent because of an opt-out. One opted-out member stops a message to the whole group. */
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

/**
 * Handles STOP and START before the message is stored, so that the message shows the resulting consent. STOP counts
 * everywhere. A "yes" in a group is usually meant for another member, so START counts only outside of groups. Returns
 * the replies to send, one for each change: they belong to the same transaction, so none is lost or sent twice, and
 * the opt-out does not stop them.
 */
export async function applyConsent(
  ctx: Ctx,
  sql: Sql,
  line: Line,
  messages: readonly NewMessage[],
  now: number,
): Promise<NewMessage[]> {
  const replies: NewMessage[] = []
  if (messages.length === 0) return replies
  const before = await findOptOuts(sql, messages)
  const latest = new Map<string, boolean>()
  for (const message of messages) {
    const { accountId, contact, groupId } = message
    const person = `${accountId} ${contact}`
    let optedOut = latest.get(person) ?? before(accountId, contact)
    const word = consentWord(message.content)
    let text: string | null = null
    if (word === 'stop') {
      if (await saveOptOut(sql, accountId, contact, now)) text = line.stopText ?? STOP_TEXT
      optedOut = true
    } else if (word === 'start' && groupId === null) {
      if (optedOut && (await deleteOptOut(sql, accountId, contact))) text = line.startText ?? START_TEXT
      optedOut = false
    } else if (word === 'help') text = line.helpText
    latest.set(person, optedOut)
    message.optedOut = optedOut
    if (text && groupId === null && line.consentReplies === 'send')
      replies.push(replyTo(ctx, line, message, text, now))
  }
  return replies
}

/** The reply uses the line and service of the message. */
function replyTo(ctx: Ctx, line: Line, message: NewMessage, content: string, now: number): NewMessage {
  const capabilities = ctx.drivers.get(line.driver)!.capabilities(line.config)
  const reply = newOutbound(
    ctx,
    { id: message.accountId },
    { line, capabilities },
    {
      contact: message.contact,
      content,
      ...(capabilities.services.includes(message.service) ? { service: message.service } : {}),
    },
  )
  return {
    ...reply,
    optedOut: message.optedOut,
    createdAt: now,
    updatedAt: now,
    sentAt: now,
    nextActionAt: now,
  }
}
