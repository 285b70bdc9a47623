import type { NewEvent } from '../../../core/events/event.js'
import type { Line } from '../../../core/lines/line.js'
import { cardSession, isInboundCard } from '../../../core/messages/app-card.js'
import type { MessageExtra } from '../../../core/messages/extra.js'
import type { NewMessage } from '../../../core/messages/message.js'
import { originatorOf } from '../../../core/messages/thread.js'
import type { Inbound } from '../../../drivers/inbound.js'
import type { Sql } from '../../../storage/engine/db.js'
import { nextRevision } from '../../../storage/messages/card-sessions.js'
import { findMessagesById, listInbound } from '../../../storage/messages/messages.js'
import { findSends } from '../../../storage/messages/sends.js'

/** An inbound message's destination, and its batch. */
export interface Arrival {
  line: Line
  accountId: string
  /** Messages of the batch, not in the database yet. */
  before: readonly NewMessage[]
}

/**
 * The message with a carrier's id. Accounts on a shared line share the carrier's ids but not their messages: another
 * account's message looks absent.
 */
export async function findTarget(
  sql: Sql,
  { line, accountId, before }: Arrival,
  providerId: string,
): Promise<NewMessage | undefined> {
  const isOwn = (message: NewMessage | undefined) => message?.accountId === accountId
  const arrived = before.find((message) => message.providerId === providerId && isOwn(message))
  if (arrived) return arrived
  const sent = await findOutbound(sql, line, providerId)
  return sent ? [sent].find(isOwn) : (await listInbound(sql, line.id, providerId)).find(isOwn)
}

async function findOutbound(sql: Sql, line: Line, providerId: string): Promise<NewMessage | undefined> {
  const attempt = (await findSends(sql, line.id, [providerId])).get(providerId)
  return attempt && (await findMessagesById(sql, [attempt.messageId])).get(attempt.messageId)
}

/** The message that a reply answers, and its thread. */
export async function replyOf(sql: Sql, arrival: Arrival, item: Inbound) {
  const target = item.replyTo && (await findTarget(sql, arrival, item.replyTo.providerId))
  if (!target) return undefined
  const partIndex = item.replyTo!.partIndex ?? null
  return { replyTo: { handle: target.handle, partIndex }, originator: originatorOf(target, partIndex) }
}

/** Extra fields of a message. An app card gets its revision number here, once for all repeats. */
export async function extraOf(
  sql: Sql,
  { line, accountId }: Arrival,
  item: Inbound,
  originator: MessageExtra['threadOriginator'],
): Promise<MessageExtra | null> {
  const extra: MessageExtra = { ...item.extra }
  if (originator) extra.threadOriginator = originator
  if (isInboundCard(extra.appCard)) {
    const key = { accountId, lineId: line.id, contact: item.from, session: cardSession(extra)! }
    extra.appCard = { ...extra.appCard, revision: await nextRevision(sql, key) }
  }
  return Object.keys(extra).length === 0 ? null : extra
}

/** A tapback arrives as a text; this event also names the message it is about. */
export async function reactionEvent(
  sql: Sql,
  arrival: Arrival,
  message: NewMessage,
): Promise<NewEvent | undefined> {
  const tapback = message.extra?.reaction
  const target = tapback && (await findTarget(sql, arrival, tapback.providerId))
  if (!target) return undefined
  return {
    accountId: message.accountId,
    type: 'message.reaction',
    subject: target.handle,
    at: message.createdAt,
    data: {
      contact: message.contact,
      reaction: tapback.reaction,
      removed: tapback.removed,
      partIndex: tapback.partIndex,
      /** The text it came as. */
      handle: message.handle,
    },
  }
}
