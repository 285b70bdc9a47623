import type { Line } from '../core/line.js'
import { consentWord } from '../core/opt-out.js'
import type { Ctx } from '../ctx.js'
import type { Inbound } from '../drivers/driver.js'
import { findAttemptsByProvider } from '../storage/attempts.js'
import type { Sql } from '../storage/db.js'
import { listLineMembers } from '../storage/lines.js'
import { findInbound, findMessagesById, type NewMessage } from '../storage/messages.js'
import { deleteOptOut, findOptOuts, saveOptOut } from '../storage/opt-outs.js'
import { createBatch } from './batch.js'
import { withMedia } from './inbound-media.js'
import { addMessages } from './messages.js'

/** The inbound door of a line. Its promise resolves when the message is on disk; a repeat is a no-op. */
export function createInboundDoor(ctx: Ctx, line: Line): (message: Inbound) => Promise<void> {
  const batch = createBatch<Inbound, undefined>((items) => receive(ctx, line, items))
  return withMedia(ctx, line, routeTo, (message) => batch.add(message))
}

async function receive(ctx: Ctx, line: Line, items: Inbound[]): Promise<undefined[]> {
  const results = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const seen = new Set<string>()
    const messages: NewMessage[] = []
    for (const item of items) {
      if (seen.has(item.providerId) || (await findInbound(sql, line.id, item.providerId))) continue
      seen.add(item.providerId)
      const accountId = await routeTo(sql, line, item.from)
      if (!accountId) continue
      messages.push(await toMessage(ctx, sql, line, accountId, item, now))
    }
    await applyConsent(sql, messages, now)
    await addMessages(sql, 'message.received', messages)
    return messages.length
  })
  ctx.metrics.received.inc({ result: 'new' }, results)
  ctx.metrics.received.inc({ result: 'repeat_or_unrouted' }, items.length - results)
  return items.map(() => undefined)
}

/**
 * Whose message it is. A dedicated line has one owner; on a shared one it belongs to the member this person
 * last heard from, and a stranger's message to nobody unless there is only one member.
 */
export async function routeTo(sql: Sql, line: Line, from: string): Promise<string | undefined> {
  if (line.accountId) return line.accountId
  const members = await listLineMembers(sql, line.id)
  if (members.length <= 1) return members[0]
  const list = sql.inList(2, members)
  const row = await sql.one<{ account_id: string }>(
    `select account_id from messages where contact = $1 and account_id in ${list.sql} and line_id = $3 and is_outbound = 1
     order by created_at desc limit 1`,
    [from, list.param, line.id],
  )
  return row?.account_id
}

async function toMessage(
  ctx: Ctx,
  sql: Sql,
  line: Line,
  accountId: string,
  item: Inbound,
  now: number,
): Promise<NewMessage> {
  return {
    handle: ctx.newId().toUpperCase(),
    accountId,
    lineId: line.id,
    lineNumber: line.number,
    contact: item.from,
    groupId: null,
    isOutbound: false,
    type: item.extra?.location ? 'location' : 'message',
    status: 'RECEIVED',
    service: item.service,
    wasDowngraded: null,
    content: item.content,
    mediaUrl: item.mediaUrl ?? '',
    sendStyle: '',
    statusCallback: null,
    replyTo: item.replyTo ? await replyTarget(sql, line, item.replyTo) : null,
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
    extra: item.extra ?? null,
    deletedAt: null,
  }
}

async function replyTarget(sql: Sql, line: Line, replyTo: NonNullable<Inbound['replyTo']>) {
  const { providerId, partIndex } = replyTo
  const attempt = (await findAttemptsByProvider(sql, line.id, [providerId])).get(providerId)
  const target = attempt
    ? (await findMessagesById(sql, [attempt.messageId])).get(attempt.messageId)
    : await findInbound(sql, line.id, providerId)
  return target ? { handle: target.handle, partIndex: partIndex ?? null } : null
}

/** STOP and START, before the record is written, so that it shows the consent it leaves behind. */
async function applyConsent(sql: Sql, messages: NewMessage[], now: number): Promise<void> {
  if (messages.length === 0) return
  const optedOut = await findOptOuts(sql, messages)
  for (const message of messages) {
    message.optedOut = optedOut(message.accountId, message.contact)
    const word = consentWord(message.content)
    if (word === 'stop') {
      await saveOptOut(sql, message.accountId, message.contact, now)
      message.optedOut = true
    } else if (word === 'start' && message.optedOut) {
      await deleteOptOut(sql, message.accountId, message.contact)
      message.optedOut = false
    }
  }
}
