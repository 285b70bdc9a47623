import { conversationOf, type Message, type NewMessage } from '../../../core/messages/message.js'
import { optedOutError } from '../../../core/messages/opted-out.js'
import type { Ctx } from '../../ctx.js'

/** A new message goes out at once unless its recipient has opted out, it is scheduled or its conversation is held. */
export function setFirstStatus(ctx: Pick<Ctx, 'holds'>, message: NewMessage, isBlocked: boolean): void {
  if (isBlocked) block(message)
  else if (message.dueAt !== null) wait(message, message.dueAt)
  else hold(ctx, message)
}

function block(message: NewMessage) {
  Object.assign(message, {
    status: 'ERROR',
    optedOut: true,
    nextActionAt: null,
    dueAt: null,
    error: optedOutError(message),
  } satisfies Partial<Message>)
}

/** A scheduled message. The hold of its conversation is checked when it is due. */
function wait(message: NewMessage, until: number) {
  message.status = 'REGISTERED'
  message.nextActionAt = until
}

/** A message in a held conversation waits as REGISTERED until the hold ends. */
function hold(ctx: Pick<Ctx, 'holds'>, message: NewMessage) {
  const until = ctx.holds.until(message.lineId, message.accountId, conversationOf(message))
  if (until === undefined) return
  message.status = 'REGISTERED'
  message.nextActionAt = until
}
