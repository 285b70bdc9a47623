import { formatTime } from '../../base/time.js'
import type { Account, Seat } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { MessageExtra } from '../../core/messages/extra.js'
import type { Message, ReplyTo, SendStyle } from '../../core/messages/message.js'
import { waitUntil } from '../../core/messages/schedule.js'
import { serviceChain } from '../../core/messages/service.js'
import { originatorOf } from '../../core/messages/thread.js'
import { findSeat } from '../../storage/accounts/accounts.js'
import { findMessage } from '../../storage/messages/messages.js'
import type { NewMessage } from '../../storage/messages/rows.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'

/** On whose behalf something is done, and, for a token made for some lines only, on which. */
export interface Actor {
  account: Account
  /** Numbers of the lines it is confined to; null: all lines of the account. */
  numbers: ReadonlySet<string> | null
}

/** The lines an actor may use, by number. */
export async function linesOf(ctx: Ctx, actor: Actor): Promise<ReadonlyMap<string, UsableLine>> {
  const lines = await ctx.directory.linesOf(actor.account.id)
  if (!actor.numbers) return lines
  return new Map([...lines].filter(([number]) => actor.numbers!.has(number)))
}

/** Whether what belongs to a line is the actor's business. */
export function isWithin(actor: Actor, lineNumber: string): boolean {
  return actor.numbers === null || actor.numbers.has(lineNumber)
}

/** A token that is confined to some lines is told so, whatever the other number is. */
export function keepWithin(actor: Actor, lineNumber: string): void {
  if (!isWithin(actor, lineNumber))
    throw new AppError('forbidden', `This token is confined to other lines than ${lineNumber}`)
}

/** The line to act from. One of another account is as unknown as none at all. */
export async function requireLine(ctx: Ctx, actor: Actor, fromNumber: string): Promise<UsableLine> {
  keepWithin(actor, fromNumber)
  const usable = (await linesOf(ctx, actor)).get(fromNumber)
  if (!usable) {
    throw new AppError(
      'invalid',
      `This phone number is not defined: from_number ${fromNumber} is not a line of this account. GET /api/lines lists the lines.`,
    )
  }
  if (usable.line.blockedAt !== null) {
    throw new AppError(
      'invalid',
      `from_number: the line ${fromNumber} is blocked and can send nothing. Use another line.`,
    )
  }
  return usable
}

export function checkStyle(from: UsableLine, sendStyle: SendStyle | ''): void {
  if (sendStyle && !from.capabilities.sendStyles) {
    throw new AppError('invalid', 'send_style: this line cannot send expressive styles')
  }
}

/** What the caller chose of a new outbound message; the rest is the same for all kinds. */
export type Draft = Pick<NewMessage, 'contact' | 'content' | 'mediaUrl' | 'sendStyle' | 'statusCallback'> &
  Partial<
    Pick<NewMessage, 'groupId' | 'type' | 'service' | 'replyTo' | 'seatId' | 'senderEmail' | 'extra'>
  > & {
    /** First message of the thread, for a reply. */
    threadOriginator?: ThreadOriginator
    /** When it is to go out, if not now. */
    sendAt?: number | undefined
  }

type ThreadOriginator = NonNullable<MessageExtra['threadOriginator']>

/** A message ready to be accepted. Its times are set when it is. */
export function newOutbound(
  ctx: Ctx,
  account: Pick<Account, 'id'>,
  from: UsableLine,
  draft: Draft,
): NewMessage {
  return {
    // Field by field: spreading the draft would cost every send seven microseconds.
    handle: ctx.newId(),
    accountId: account.id,
    lineId: from.line.id,
    lineNumber: from.line.number,
    contact: draft.contact,
    groupId: draft.groupId ?? null,
    isOutbound: true,
    type: draft.type ?? 'message',
    status: 'QUEUED',
    service: draft.service ?? serviceChain(from.capabilities.services)[0]!,
    wasDowngraded: null,
    content: draft.content,
    mediaUrl: draft.mediaUrl,
    sendStyle: draft.sendStyle,
    statusCallback: draft.statusCallback,
    replyTo: draft.replyTo ?? null,
    seatId: draft.seatId ?? null,
    senderEmail: draft.senderEmail ?? null,
    optedOut: false,
    error: null,
    createdAt: 0,
    updatedAt: 0,
    sentAt: 0,
    nextActionAt: 0,
    dueAt: draft.sendAt === undefined ? null : waitUntil(draft.sendAt, ctx.clock.now()),
    attempts: 0,
    version: 0,
    providerId: null,
    extra: extraOf(draft),
    deletedAt: null,
  }
}

function extraOf({ extra, threadOriginator, sendAt }: Draft): MessageExtra | null {
  if (!threadOriginator && sendAt === undefined) return extra ?? null
  return {
    ...extra,
    ...(threadOriginator ? { threadOriginator } : {}),
    ...(sendAt === undefined ? {} : { sendAt }),
  }
}

/**
 * Checks that a reply answers a message of its own conversation, on its own line, that goes out before it does.
 * Tells the thread it belongs to.
 */
export async function checkReply(
  ctx: Ctx,
  account: Account,
  from: UsableLine,
  conversation: Pick<Message, 'groupId'> & { contact?: string },
  { replyTo, sendAt }: { replyTo: ReplyTo; sendAt: number | undefined },
): Promise<ThreadOriginator> {
  if (!from.capabilities.replies)
    throw new AppError('invalid', 'reply_to: this line cannot send inline replies')
  const target = await findMessage(ctx.db, replyTo.handle, account.id)
  const sameConversation =
    target?.groupId === conversation.groupId &&
    (conversation.groupId !== null || target?.contact === conversation.contact)
  if (!target || target.lineId !== from.line.id || !sameConversation) {
    throw new AppError(
      'invalid',
      'reply_to.message_handle: no such message in this conversation on this line',
    )
  }
  if (target.dueAt !== null && target.dueAt > (sendAt ?? 0)) {
    throw new AppError(
      'unprocessable',
      `reply_to.message_handle: the message has not been sent; it goes out at ${formatTime(target.dueAt)}. Give the reply a send_at that is not before that, or send it then.`,
    )
  }
  return originatorOf(target, replyTo.partIndex)
}

/** The seat that sends, by its id or its outside subject. */
export async function seatOf(ctx: Ctx, account: Account, seatId: string): Promise<Seat> {
  const seat = await findSeat(ctx.db, account.id, seatId)
  if (!seat) throw new AppError('invalid', 'seat_id: no such seat in this account')
  return seat
}
