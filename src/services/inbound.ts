import type { NewEvent } from '../core/event.js'
import type { Line } from '../core/line.js'
import { consentWord } from '../core/opt-out.js'
import type { Ctx } from '../ctx.js'
import type { Inbound } from '../drivers/driver.js'
import type { Sql } from '../storage/db.js'
import { appendEvents } from '../storage/events.js'
import { findInbound, type NewMessage } from '../storage/messages.js'
import { deleteOptOut, findOptOuts, saveOptOut } from '../storage/opt-outs.js'
import { createBatch } from './batch.js'
import { groupOfChat } from './group-state.js'
import { type Arrival, extraOf, reactionEvent, replyOf } from './inbound-extra.js'
import { withMedia } from './inbound-media.js'
import { addMessages } from './messages.js'
import { noteSenders, routeTo } from './shared-lines.js'
import { approveByText } from './verify-ends.js'

/** The inbound door of a line. Its promise resolves when the message is on disk; a repeat is a no-op. */
export function createInboundDoor(ctx: Ctx, line: Line): (message: Inbound) => Promise<void> {
  const batch = createBatch<Inbound, undefined>((items) => receive(ctx, line, items))
  return withMedia(ctx, line, (message) => batch.add(message))
}

async function receive(ctx: Ctx, line: Line, items: Inbound[]): Promise<undefined[]> {
  const results = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const seen = new Set<string>()
    const messages: NewMessage[] = []
    const events: NewEvent[] = []
    const approvals: NewEvent[] = []
    const reactions: NewEvent[] = []
    for (const item of items) {
      if (seen.has(item.providerId) || (await findInbound(sql, line.id, item.providerId))) continue
      seen.add(item.providerId)
      const approval = await approveByText(sql, line, item, now)
      // On a shared line, a code belongs to the member who asked for it.
      const accountId = approval?.accountId ?? (await routeTo(sql, line, item.from, now, item.group))
      if (!accountId) continue
      const known = item.group && (await groupOfChat(ctx, sql, { accountId, lineId: line.id }, item.group))
      if (known) events.push(...known.events)
      const arrival = { line, accountId, before: messages }
      const message = await toMessage(ctx, sql, arrival, item, known?.group.id ?? null, now)
      messages.push(message)
      const reaction = await reactionEvent(sql, arrival, message)
      if (reaction) reactions.push(reaction)
      if (approval) approvals.push(approval)
    }
    await noteSenders(sql, line, messages, now)
    await applyConsent(sql, messages, now)
    await appendEvents(sql, events)
    await addMessages(sql, 'message.received', messages)
    await appendEvents(sql, [...approvals, ...reactions])
    return messages.length
  })
  ctx.metrics.received.inc({ result: 'new' }, results)
  ctx.metrics.received.inc({ result: 'repeat_or_unrouted' }, items.length - results)
  return items.map(() => undefined)
}

async function toMessage(
  ctx: Ctx,
  sql: Sql,
  arrival: Arrival,
  item: Inbound,
  groupId: string | null,
  now: number,
): Promise<NewMessage> {
  const { line, accountId } = arrival
  const reply = await replyOf(sql, arrival, item)
  return {
    handle: ctx.newId().toUpperCase(),
    accountId,
    lineId: line.id,
    lineNumber: line.number,
    contact: item.from,
    groupId,
    isOutbound: false,
    type: item.extra?.location ? 'location' : groupId === null ? 'message' : 'group',
    status: 'RECEIVED',
    service: item.service,
    wasDowngraded: null,
    content: item.content,
    mediaUrl: item.mediaUrl ?? '',
    sendStyle: '',
    statusCallback: null,
    replyTo: reply?.replyTo ?? null,
    seatId: null,
    senderEmail: null,
    optedOut: false,
    error: null,
    createdAt: now,
    updatedAt: now,
    sentAt: item.sentAt,
    nextActionAt: null,
    attempts: 0,
    version: 0,
    providerId: item.providerId,
    extra: await extraOf(sql, arrival, item, reply?.originator),
    deletedAt: null,
  }
}

/**
 * STOP and START, before the record is written, so that it shows the consent it leaves behind. STOP counts
 * wherever it is said. A "yes" in a group is mostly meant for somebody else there, so consent is only renewed
 * face to face.
 */
async function applyConsent(sql: Sql, messages: NewMessage[], now: number): Promise<void> {
  if (messages.length === 0) return
  const optedOut = await findOptOuts(sql, messages)
  for (const message of messages) {
    message.optedOut = optedOut(message.accountId, message.contact)
    const word = consentWord(message.content)
    if (word === 'stop') {
      await saveOptOut(sql, message.accountId, message.contact, now)
      message.optedOut = true
    } else if (word === 'start' && message.optedOut && message.groupId === null) {
      await deleteOptOut(sql, message.accountId, message.contact)
      message.optedOut = false
    }
  }
}
