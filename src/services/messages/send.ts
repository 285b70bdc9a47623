import { AppError } from '../../core/errors.js'
import { type CardInput, newCard } from '../../core/messages/app-card.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import type { RequestIdentity } from '../replay.js'
import { checkCard, checkCardLine } from './app-cards.js'
import { type Actor, newSend, requireSendLine, resolveLinks, type SendRequest } from './outbound.js'
import { checkRecipient } from './recipients.js'

export interface SendInput extends SendRequest {
  number: string
  appCard?: CardInput | null
}

/** A message to one recipient. */
export async function sendMessage(
  ctx: Ctx,
  actor: Actor,
  input: SendInput,
  request: RequestIdentity,
): Promise<AcceptedSend> {
  const { account } = actor
  const { number: contact, appCard } = input
  const from = await requireSendLine(ctx, actor, input, contact)
  if (contact === from.line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  if (appCard) checkCardLine(account, from)
  await checkRecipient(ctx, account, contact)
  const links = await resolveLinks(ctx, account, from, { groupId: null, contact }, input)
  const message = newSend(ctx, account, from, input, links, { contact })
  if (appCard) {
    message.extra = { ...message.extra, appCard: newCard(appCard, message.handle) }
    await checkCard(ctx, message, request, 'app_card.')
  }
  return ctx.acceptance.accept(message, request)
}
