import { AppError } from '../../core/errors.js'
import { deletedEvent } from '../../core/events/message-events.js'
import { cancelMessage } from '../../core/messages/schedule.js'
import { topics } from '../../core/topics.js'
import { appendEvents } from '../../storage/events/events.js'
import {
  countMessages,
  findMessage,
  deleteMessage as hide,
  lockMessages,
} from '../../storage/messages/messages.js'
import { lockFeed } from '../../storage/webhooks/feeds.js'
import { eraseDeliveries } from '../../storage/webhooks/log.js'
import type { Ctx } from '../ctx.js'
import { saveChanges } from './changes.js'
import { type Actor, isWithin } from './outbound.js'

/**
 * Hides a message from its account for good; `erase.ts` removes its text. A queued message still goes out, and its
 * receipts and repeated requests are still recognised. A scheduled message is canceled, because its account can no
 * longer see it to cancel it.
 */
export async function deleteMessage(ctx: Ctx, actor: Actor, handle: string): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    await lockFeed(sql, actor.account.id)
    const found = await findMessage(sql, handle, actor.account.id)
    // Another transaction may have deleted or changed the message before the lock was taken.
    const before = found && (await lockMessages(sql, [found.id])).get(found.id)
    if (!before || before.deletedAt !== null || !isWithin(actor, before.lineNumber))
      throw new AppError('not_found', 'There is no message with this handle')
    const message = before.dueAt === null ? before : cancelMessage(before, now)
    await saveChanges(sql, message === before ? [] : [{ before, after: message }])
    await hide(sql, message.id, now)
    await appendEvents(sql, [deletedEvent(message, now)])
    await countMessages(sql, [message], -1)
    await eraseDeliveries(sql, actor.account.id, [handle], now)
    sql.announce(topics.erasures)
  })
}
