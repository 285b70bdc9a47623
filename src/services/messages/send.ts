import { AppError } from '../../core/errors.js'
import { type CardInput, newCard } from '../../core/messages/app-card.js'
import type { ReplyTo, SendStyle } from '../../core/messages/message.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import type { RequestIdentity } from '../replay.js'
import { checkCard, checkCardLine } from './app-cards.js'
import { type Actor, checkReply, checkStyle, newOutbound, requireLine, seatOf } from './outbound.js'
import { checkRecipient } from './recipients.js'

export interface SendInput {
  fromNumber: string
  number: string
  content: string
  mediaUrl: string
  sendStyle: SendStyle | ''
  statusCallback: string | null
  replyTo: ReplyTo | null
  seatId: string | null
  appCard?: CardInput | null
  /** When it is to go out, if not now. */
  sendAt?: number | undefined
}

/** A message to one recipient. */
export async function sendMessage(
  ctx: Ctx,
  actor: Actor,
  input: SendInput,
  request: RequestIdentity,
): Promise<AcceptedSend> {
  const { account } = actor
  const from = await requireLine(ctx, actor, input.fromNumber)
  const { line, capabilities } = from
  if (input.number === line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  if (input.mediaUrl && !capabilities.media)
    throw new AppError('invalid', 'media_url: this line cannot send media')
  checkStyle(from, input.sendStyle)
  if (input.appCard) checkCardLine(account, from)
  const { number: contact, replyTo } = input
  await checkRecipient(ctx, account, contact)
  const threadOriginator = replyTo
    ? await checkReply(ctx, account, from, { groupId: null, contact }, { replyTo, sendAt: input.sendAt })
    : undefined
  const seat = input.seatId ? await seatOf(ctx, account, input.seatId) : undefined
  const message = newOutbound(ctx, account, from, {
    contact,
    content: input.content,
    mediaUrl: input.mediaUrl,
    sendStyle: input.sendStyle,
    statusCallback: input.statusCallback,
    replyTo,
    threadOriginator,
    sendAt: input.sendAt,
    seatId: seat?.id,
    senderEmail: seat?.email,
  })
  if (input.appCard) {
    message.extra = { ...message.extra, appCard: newCard(input.appCard, message.handle) }
    await checkCard(ctx, message, request, 'app_card.')
  }
  return ctx.acceptance.accept(message, request)
}
