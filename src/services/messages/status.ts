import type { Message } from '../../core/messages/message.js'
import { topics } from '../../core/topics.js'
import { findMessage } from '../../storage/messages/messages.js'
import type { Ctx } from '../ctx.js'

/**
 * The message with its current status. If the outcome of its send is unknown, asks the carrier at once, so that the
 * caller gets an answer instead of sending again.
 */
export async function resolveStatus(ctx: Ctx, message: Message): Promise<Message> {
  if (message.status !== 'PENDING') return message
  const driven = ctx.lines.get(message.lineId)
  if (!driven) {
    ctx.wakes.wake(topics.ask(message.lineId), String(message.id))
    return message
  }
  await driven.resolve(message.id)
  return (await findMessage(ctx.db, message.handle)) ?? message
}
