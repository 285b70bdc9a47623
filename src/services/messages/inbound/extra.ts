import type { NewEvent } from '../../../core/events/event.js'
import type { Line } from '../../../core/lines/line.js'
import { cardSession, isInboundCard } from '../../../core/messages/app-card.js'
import type { MessageExtra } from '../../../core/messages/extra.js'
import type { NewMessage } from '../../../core/messages/message.js'
import { originatorOf } from '../../../core/messages/thread.js'
import type { Inbound } from '../../../drivers/inbound.js'
import type { Sql } from '../../../storage/engine/db.js'
import { nextRevision } from '../../../storage/messages/card-sessions.js'
import { findInbound, findMessagesById } from '../../../storage/messages/messages.js'
import { findSends } from '../../../storage/messages/sends.js'

/** Where an inbound message goes, and what came together with it. */
export interface Arrival {
  line: Line
  accountId: string
  /** Messages of the same batch, which are not in the database yet. */
  before: readonly NewMessage[]
}

/**
 * The message that a carrier's id names. Members of a shared line share its ids but not their messages: what is
 * another account's is not there.
 */
export async function findTarget(
  sql: Sql,
  { line, accountId, before }: Arrival,
  providerId: string,
): Promise<NewMessage | undefined> {
  const target =
    before.find((message) => message.providerId === providerId) ??
    (await findOutbound(sql, line, providerId)) ??
    (await findInbound(sql, line.id, providerId))
  return target?.accountId === accountId ? target : undefined
}

async function findOutbound(sql: Sql, line: Line, providerId: string): Promise<NewMessage | undefined> {
  const attempt = (await findSends(sql, line.id, [providerId])).get(providerId)
  return attempt && (await findMessagesById(sql, [attempt.messageId])).get(attempt.messageId)
}

/** What a reply answers, and the thread it belongs to. */
export async function replyOf(sql: Sql, arrival: Arrival, item: Inbound) {
  const target = item.replyTo && (await findTarget(sql, arrival, item.replyTo.providerId))
  if (!target) return undefined
  const partIndex = item.replyTo!.partIndex ?? null
  return { replyTo: { handle: target.handle, partIndex }, originator: originatorOf(target, partIndex) }
}

/** What only some messages have: a card gets the number of its state here, once for all its repeats. */
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

/** A tapback comes as a text; this is the same for those who want to know what it is about. */
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
