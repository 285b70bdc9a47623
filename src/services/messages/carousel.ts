import { AppError } from '../../core/errors.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import type { RequestIdentity } from '../replay.js'
import { type Actor, newSend, requireSendLine, resolveLinks, type SendRequest } from './outbound.js'
import { checkRecipient } from './recipients.js'

export interface CarouselInput extends SendRequest {
  number: string
  mediaUrls: string[]
  /** The caller's own JSON; undefined when there is none. */
  metadata: unknown
}

/** Several images as one message, for one recipient. */
export async function sendCarousel(
  ctx: Ctx,
  actor: Actor,
  input: CarouselInput,
  request: RequestIdentity,
): Promise<AcceptedSend> {
  const { account } = actor
  const { number: contact, mediaUrls, metadata } = input
  const from = await requireSendLine(ctx, actor, input, contact)
  if (!from.capabilities.carousel) {
    throw new AppError('invalid', 'from_number: this line cannot send carousels; they need a V2 Mac line')
  }
  if (contact === from.line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  await checkRecipient(ctx, account, contact)
  const links = await resolveLinks(ctx, account, from, { groupId: null, contact }, input)
  const message = newSend(ctx, account, from, input, links, {
    contact,
    type: 'carousel',
    mediaUrl: mediaUrls[0]!,
    extra: { mediaUrls, ...(metadata === undefined ? {} : { metadata }) },
  })
  return ctx.acceptance.accept(message, request)
}
