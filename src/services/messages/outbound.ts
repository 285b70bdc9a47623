import { formatTime } from '../../base/time.js'
import type { Account, Seat } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { MessageExtra } from '../../core/messages/extra.js'
import {
  BLANK_MESSAGE,
  choose,
  type Message,
  type NewMessage,
  type ReplyTo,
  type SendChoices,
} from '../../core/messages/message.js'
import { knownParts } from '../../core/messages/part.js'
import { waitUntil } from '../../core/messages/schedule.js'
import { serviceChain } from '../../core/messages/service.js'
import { originatorOf } from '../../core/messages/thread.js'
import { findSeat } from '../../storage/accounts/accounts.js'
import { findMessage } from '../../storage/messages/messages.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'
import { lineInPool } from '../lines/pools/choice.js'

/** The account that acts, and the lines its token is limited to. */
export interface Actor {
  account: Account
  /** Numbers of the lines it may use; null: all lines of the account. */
  numbers: ReadonlySet<string> | null
}

/** The lines an actor may use, by number. */
export async function linesOf(ctx: Ctx, actor: Actor): Promise<ReadonlyMap<string, UsableLine>> {
  const lines = await ctx.directory.linesOf(actor.account.id)
  if (!actor.numbers) return lines
  return new Map([...lines].filter(([number]) => actor.numbers!.has(number)))
}

/** Whether the actor may see what belongs to a line. */
export function isWithin(actor: Actor, lineNumber: string): boolean {
  return actor.numbers === null || actor.numbers.has(lineNumber)
}

/** Refuses other lines with the same words, whether they exist or not. */
export function keepWithin(actor: Actor, lineNumber: string): void {
  if (!isWithin(actor, lineNumber))
    throw new AppError('forbidden', `This token is confined to other lines than ${lineNumber}`)
}

/** The line to act from. */
export async function requireLine(ctx: Ctx, actor: Actor, fromNumber: string): Promise<UsableLine> {
  return refuseBlocked(await knownLine(ctx, actor, fromNumber))
}

/** Another account's line gets the same answer as an unknown number. */
async function knownLine(ctx: Ctx, actor: Actor, fromNumber: string): Promise<UsableLine> {
  keepWithin(actor, fromNumber)
  const usable = await ctx.directory.lineOf(actor.account.id, fromNumber)
  if (!usable) {
    throw new AppError(
      'invalid',
      `This phone number is not defined: from_number ${fromNumber} is not a line of this account. GET /api/lines lists the lines.`,
    )
  }
  return usable
}

function refuseBlocked(usable: UsableLine): UsableLine {
  const { number, blockedAt } = usable.line
  if (blockedAt === null) return usable
  throw new AppError(
    'invalid',
    `from_number: the line ${number} is blocked and can send nothing. Use another line.`,
  )
}

export function checkStyle(from: UsableLine, sendStyle: string): void {
  if (sendStyle && !from.capabilities.sendStyles) {
    throw new AppError('invalid', 'send_style: this line cannot send expressive styles')
  }
}

/** The fields of a send request that texts, group messages and carousels share. */
export interface SendRequest extends SendChoices {
  fromNumber: string
  /** Scheduled send time; undefined sends immediately. */
  sendAt?: number | undefined
}

/** Columns of a message that come from other rows: the first message of its thread, and the seat that sends it. */
export interface SendLinks {
  threadOriginator?: ThreadOriginator | undefined
  seat?: Seat | undefined
}

type ThreadOriginator = NonNullable<MessageExtra['threadOriginator']>

/**
 * The beginning of every send: the line, and whether it can send media and styles. A message to one `contact` leaves
 * from the line of its conversation, if that line and the named one are in one pool; an inline reply stays on its line.
 */
export async function requireSendLine(
  ctx: Ctx,
  actor: Actor,
  input: SendRequest,
  contact?: string,
): Promise<UsableLine> {
  const asked = await knownLine(ctx, actor, input.fromNumber)
  const isPooled = asked.line.poolId !== null && contact !== undefined && !input.replyTo
  const from = refuseBlocked(
    isPooled
      ? await lineInPool(ctx, actor.account.id, asked, contact, (number) => isWithin(actor, number))
      : asked,
  )
  if (input.mediaUrl && !from.capabilities.media)
    throw new AppError('invalid', 'media_url: this line cannot send media')
  checkStyle(from, input.sendStyle)
  return from
}

/** Resolves the reply and the seat of a send. A new group has no id yet, and no message to reply to. */
export async function resolveLinks(
  ctx: Ctx,
  account: Account,
  from: UsableLine,
  conversation: Pick<Message, 'groupId'> & { contact?: string },
  { replyTo, seatId, sendAt }: SendRequest,
): Promise<SendLinks> {
  return {
    threadOriginator: replyTo
      ? await checkReply(ctx, account, from, conversation, { replyTo, sendAt })
      : undefined,
    seat: seatId ? await seatOf(ctx, account, seatId) : undefined,
  }
}

/** A message to people: the sender's choices, with `draft` on top. */
export function newSend(
  ctx: Ctx,
  account: Account,
  from: UsableLine,
  input: SendRequest,
  { threadOriginator, seat }: SendLinks,
  draft: Partial<NewMessage>,
): NewMessage {
  const message = newOutbound(ctx, account, from, {})
  choose(message, input)
  Object.assign(message, draft)
  message.seatId = seat?.id ?? null
  message.senderEmail = seat?.email ?? null
  if (threadOriginator) message.extra = { ...message.extra, threadOriginator }
  if (input.sendAt !== undefined) {
    message.extra = { ...message.extra, sendAt: input.sendAt }
    message.dueAt = waitUntil(input.sendAt, ctx.clock.now())
  }
  return message
}

/** A message ready to be accepted. Acceptance sets its times. */
export function newOutbound(
  ctx: Ctx,
  account: Pick<Account, 'id'>,
  from: UsableLine,
  draft: Partial<NewMessage>,
): NewMessage {
  const message: NewMessage = { ...BLANK_MESSAGE }
  message.handle = ctx.newId()
  message.accountId = account.id
  message.lineId = from.line.id
  message.lineNumber = from.line.number
  message.service = serviceChain(from.capabilities.services)[0]!
  return Object.assign(message, draft)
}

/** Checks that a reply answers an earlier message of its own conversation and line. Returns its thread. */
async function checkReply(
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
  checkPart('reply_to.part_index', target, replyTo.partIndex ?? 0)
  return originatorOf(target, replyTo.partIndex)
}

/** Refuses a part that the message is not known to have. */
export function checkPart(field: string, message: Message, partIndex: number): void {
  const parts = knownParts(message)
  if (partIndex < parts) return
  const known = parts === 1 ? 'one part, number 0' : `${parts} parts, numbers 0 to ${parts - 1}`
  throw new AppError('invalid', `${field}: the message has ${known}. Omit ${field} for the first.`)
}

/** The seat that sends, by its id or its outside subject. */
async function seatOf(ctx: Ctx, account: Account, seatId: string): Promise<Seat> {
  const seat = await findSeat(ctx.db, account.id, seatId)
  if (!seat) throw new AppError('invalid', 'seat_id: no such seat in this account')
  return seat
}
