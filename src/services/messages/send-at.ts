import { AppError } from '../../core/errors.js'
import type { NewMessage } from '../../core/messages/message.js'
import { sendAtFault } from '../../core/messages/schedule.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import { mayRepeat, type RequestIdentity, txWithAnswers } from '../replay.js'

/**
 * Refuses a send time that is too far ahead or past. A past time may belong to a repeated request; that shows when
 * there is a message to compare.
 */
export function checkSendAt(ctx: Ctx, sendAt: number, request: RequestIdentity): void {
  const now = ctx.clock.now()
  const fault = sendAtFault(sendAt, now)
  if (fault && !(sendAt < now && mayRepeat({ request }))) throw new AppError('invalid', `send_at: ${fault}`)
}

export function isOverdue(ctx: Pick<Ctx, 'clock'>, message: NewMessage): boolean {
  const sendAt = message.extra?.sendAt
  return sendAt !== undefined && sendAt < ctx.clock.now()
}

/** The answer that the first of several equal requests got before its send time. */
export async function answerOverdue(
  ctx: Pick<Ctx, 'clock' | 'db'>,
  message: NewMessage,
  request: RequestIdentity,
): Promise<AcceptedSend> {
  const now = ctx.clock.now()
  const item = { message, request }
  const first = await txWithAnswers(ctx.db, [item], now, async (_sql, answers) => answers.get(item))
  if (!first) throw new AppError('invalid', `send_at: ${sendAtFault(message.extra!.sendAt!, now)}`)
  return { message: first, replayed: true }
}
