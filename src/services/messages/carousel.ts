import { AppError } from '../../core/errors.js'
import type { ReplyTo, SendStyle } from '../../core/messages/message.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import type { RequestIdentity } from '../replay.js'
import { type Actor, checkReply, checkStyle, newOutbound, requireLine, seatOf } from './outbound.js'
import { checkRecipient } from './recipients.js'

export interface CarouselInput {
  fromNumber: string
  number: string
  mediaUrls: string[]
  /** The caller's own JSON; undefined when there is none. */
  metadata: unknown
  sendStyle: SendStyle | ''
  statusCallback: string | null
  replyTo: ReplyTo | null
  seatId: string | null
  /** When it is to go out, if not now. */
  sendAt?: number | undefined
}

/** Several images as one message, for one recipient. */
export async function sendCarousel(
  ctx: Ctx,
  actor: Actor,
  input: CarouselInput,
  request: RequestIdentity,
): Promise<AcceptedSend> {
  const { account } = actor
  const from = await requireLine(ctx, actor, input.fromNumber)
  const { number: contact, mediaUrls, metadata, replyTo } = input
  if (!from.capabilities.carousel) {
    throw new AppError('invalid', 'from_number: this line cannot send carousels; they need a V2 Mac line')
  }
  if (contact === from.line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  checkStyle(from, input.sendStyle)
  await checkRecipient(ctx, account, contact)
  const threadOriginator = replyTo
    ? await checkReply(ctx, account, from, { groupId: null, contact }, { replyTo, sendAt: input.sendAt })
    : undefined
  const seat = input.seatId ? await seatOf(ctx, account, input.seatId) : undefined
  const message = newOutbound(ctx, account, from, {
    contact,
    type: 'carousel',
    content: '',
    mediaUrl: mediaUrls[0]!,
    sendStyle: input.sendStyle,
    statusCallback: input.statusCallback,
    replyTo,
    threadOriginator,
    sendAt: input.sendAt,
    seatId: seat?.id,
    senderEmail: seat?.email,
    extra: { mediaUrls, ...(metadata === undefined ? {} : { metadata }) },
  })
  return ctx.acceptance.accept(message, request)
}
