import { consentEvent, consentWord, START_TEXT, STOP_TEXT } from '../../core/contacts/opt-out.js'
import type { NewEvent } from '../../core/events/event.js'
import { handlesOf } from '../../core/groups/group.js'
import type { Line } from '../../core/lines/line.js'
import type { NewMessage } from '../../core/messages/message.js'
import {
  deleteLineOptOuts,
  deleteOptOut,
  findOptOuts,
  saveLineOptOuts,
  saveOptOut,
} from '../../storage/contacts/opt-outs.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { findGroups } from '../../storage/groups/groups.js'
import { requireCurrent } from '../../storage/lines/lines.js'
import type { Ctx } from '../ctx.js'
import { newOutbound } from '../messages/outbound.js'

/** Which messages must not be sent because of an opt-out. One opted-out member stops a message to the whole group. */
export async function findBlocked(
  { marks }: Pick<Ctx, 'marks'>,
  sql: Sql,
  messages: readonly NewMessage[],
): Promise<(message: NewMessage) => boolean> {
  const groups = await findGroups(
    sql,
    messages.flatMap((message) => message.groupId ?? []),
  )
  if (groups.size === 0) {
    return findOptOuts(sql, marks, messages)
  }
  const people = messages.flatMap(({ accountId, groupId, lineId }) => {
    const group = groups.get(groupId ?? '')
    return group ? handlesOf(group).map((contact) => ({ accountId, contact, lineId })) : []
  })
  const optedOut = await findOptOuts(sql, marks, [...messages, ...people])
  return (message) => {
    const group = groups.get(message.groupId ?? '')
    return group ? handlesOf(group).some((contact) => optedOut({ ...message, contact })) : optedOut(message)
  }
}

/**
 * Handles STOP and START before the message is stored, so that the message shows the resulting consent. STOP counts
 * everywhere. A "yes" in a group is usually meant for another member, so START counts only outside of groups. On a
 * shared line, STOP counts for every account of the line, and START lifts it for those. Returns the events of the
 * accounts whose consent changed, and the replies to send, one for each change: they belong to the same transaction, so
 * none is lost or sent twice, and the opt-out does not stop them.
 */
export async function applyConsent(
  ctx: Ctx,
  sql: Sql,
  line: Line,
  messages: readonly NewMessage[],
  now: number,
): Promise<{ replies: NewMessage[]; events: NewEvent[] }> {
  const replies = new Map<string, NewMessage>()
  const events = new Map<string, NewEvent>()
  if (messages.length === 0) return { replies: [], events: [] }
  const before = await findOptOuts(sql, ctx.marks, messages)
  const latest = new Map<string, boolean>()
  for (const message of messages) {
    const { accountId, contact, groupId } = message
    const text = message.providerId ?? message.handle
    const word = consentWord(message.content)
    const optedOut = latest.get(`${accountId} ${contact}`) ?? before(message)
    let changed: string[] = []
    let answer = word === 'help' ? line.helpText : null
    message.optedOut = optedOut
    if (word === 'stop') {
      changed = await optOut(sql, line, message, now)
      message.optedOut = true
      if (changed.length > 0) answer = line.stopText ?? STOP_TEXT
    } else if (word === 'start' && groupId === null) {
      changed = await optIn(ctx, sql, line, message)
      message.optedOut = false
      if (changed.length > 0) answer = line.startText ?? START_TEXT
    }
    latest.set(`${accountId} ${contact}`, message.optedOut)
    for (const account of changed)
      events.set(`${text} ${account}`, consentEvent(account, line, contact, message.optedOut, now))
    // A text that reached several accounts gets one reply.
    if (answer && groupId === null && line.consentReplies === 'send' && !replies.has(text))
      replies.set(text, replyTo(ctx, line, message, answer, now))
  }
  return { replies: [...replies.values()], events: [...events.values()] }
}

/**
 * The carrier says that a person opted out of a line's messages: their STOP came before the line was added, or got
 * lost. On a shared line it counts on that line only, for all its accounts.
 */
export async function optedOutAtCarrier(ctx: Ctx, line: Line, contact: string): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const changed = await optOut(sql, line, { accountId: line.accountId ?? '', contact }, now)
    await appendEvents(
      sql,
      changed.map((account) => consentEvent(account, line, contact, true, now)),
    )
    await requireCurrent(sql, [line])
  })
}

/** Returns the accounts that may no longer write to the sender. */
async function optOut(
  sql: Sql,
  line: Line,
  message: Pick<NewMessage, 'accountId' | 'contact'>,
  now: number,
): Promise<string[]> {
  if (line.kind === 'shared') return saveLineOptOuts(sql, line, message, now)
  return (await saveOptOut(sql, message.accountId, message.contact, now)) ? [message.accountId] : []
}

/** Returns the accounts that may write to the sender again. */
async function optIn(
  { marks }: Ctx,
  sql: Sql,
  line: Line,
  { accountId, contact }: NewMessage,
): Promise<string[]> {
  const lifted = line.kind === 'shared' ? await deleteLineOptOuts(sql, marks, line, contact) : []
  if (await deleteOptOut(sql, marks, accountId, contact)) lifted.push(accountId)
  return [...new Set(lifted)].sort()
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
