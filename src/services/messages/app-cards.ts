import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { type CardChanges, cardFault, continuedCard, sentCard } from '../../core/messages/app-card.js'
import type { Message, NewMessage } from '../../core/messages/message.js'
import type { SendStyle } from '../../core/messages/send-style.js'
import { findMessage } from '../../storage/messages/messages.js'
import type { UsableLine } from '../accounts/directory.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import { checkImageAt } from '../media/images.js'
import { firstAnswers, mayRepeat, type RequestIdentity } from '../replay.js'
import { type Actor, checkStyle, linesOf, newOutbound, requireLine } from './outbound.js'

const PREVIEW = {
  maxBytes: 10_000_000,
  timeoutMs: 10_000,
  types: ['image/jpeg', 'image/png', 'image/heic', 'image/heif', 'image/webp'],
} as const

/** Whether this account may send App Cards from this line. */
export function checkCardLine(account: Account, from: UsableLine): void {
  if (account.plan === 'free')
    throw new AppError('forbidden', 'app_card: App Cards are not part of the free plan')
  if (!from.capabilities.appCards) {
    throw new AppError('invalid', 'app_card: this line cannot send App Cards; they need a V2 Mac line')
  }
}

/** Checks a card before acceptance. `field` is the prefix of its fields in errors. */
export async function checkCard(
  ctx: Ctx,
  message: NewMessage,
  request: RequestIdentity,
  field: string,
): Promise<void> {
  const card = sentCard(message.extra)!
  const fault = cardFault(card)
  if (fault) throw new AppError('invalid', `${field}${fault}`)
  const { imageUrl } = card.layout
  if (imageUrl === undefined) return
  // A repeated request gets the first answer, even if the image can no longer be fetched.
  if (
    mayRepeat({ request }) &&
    (await firstAnswers(ctx.db, [{ message, request }], ctx.clock.now())).size > 0
  )
    return
  try {
    await checkImageAt(ctx, imageUrl, PREVIEW)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, `${field}layout.imageUrl: ${error.message}`, error.options)
  }
}

export interface CardUpdate {
  handle: string
  changes: CardChanges
  sendStyle: SendStyle | ''
  /** Two updates of a card with one key are one update. */
  idempotencyKey: string | undefined
}

/** Sends the next state of a card as a new message of the same session, line and thread. */
export async function updateAppCard(
  ctx: Ctx,
  actor: Actor,
  update: CardUpdate,
  request: RequestIdentity,
): Promise<AcceptedSend> {
  const { account } = actor
  const target = await findMessage(ctx.db, update.handle, account.id)
  const card = target && sentCard(target.extra)
  const from = target && (await lineOf(ctx, actor, target))
  if (!target || !card || !from)
    throw new AppError('not_found', 'There is no App Card with this handle that was sent from your lines')
  await requireLine(ctx, actor, target.lineNumber)
  // A scheduled card would replace its own update when it goes out.
  if (target.dueAt !== null) {
    throw new AppError(
      'unprocessable',
      `message_handle: the card has not been sent; it goes out at ${formatTime(target.dueAt)} and can be continued after that`,
    )
  }
  checkCardLine(account, from)
  checkStyle(from, update.sendStyle)
  const threadOriginator = target.extra?.threadOriginator
  const message = newOutbound(ctx, account, from, {
    contact: target.contact,
    sendStyle: update.sendStyle,
    statusCallback: target.statusCallback,
    replyTo: target.replyTo,
    extra: {
      appCard: continuedCard(card, target.handle, update.changes),
      ...(threadOriginator ? { threadOriginator } : {}),
    },
  })
  const identity =
    update.idempotencyKey === undefined ? request : keyed(request, target, update.idempotencyKey)
  await checkCard(ctx, message, identity, '')
  return ctx.acceptance.accept(message, identity)
}

async function lineOf(ctx: Ctx, actor: Actor, target: Message): Promise<UsableLine | undefined> {
  const from = (await linesOf(ctx, actor)).get(target.lineNumber)
  return from?.line.id === target.lineId ? from : undefined
}

/** The update's own key decides, not the body. The leading space separates it from Idempotency-Key values. */
function keyed(request: RequestIdentity, target: Message, key: string): RequestIdentity {
  return {
    accountId: request.accountId,
    path: `/api/messages/${target.handle}/update-app-card`,
    key: ` ${key}`,
    hash: '',
    retryCount: request.retryCount,
    arrival: request.arrival,
  }
}
