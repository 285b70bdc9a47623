import { AppError } from '../../core/errors.js'
import { conversationOf, type Message } from '../../core/messages/message.js'
import { failMessage } from '../../core/messages/outcome.js'
import { cancelMessage, queueScheduled } from '../../core/messages/schedule.js'
import { topics } from '../../core/topics.js'
import { findMessage, lockMessages } from '../../storage/messages/messages.js'
import { listDue, moveToEnd } from '../../storage/messages/schedule.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx } from '../ctx.js'
import { optedOutError } from './acceptance.js'
import { saveChanges } from './changes.js'
import { type Actor, isWithin } from './outbound.js'

const AT_ONCE = 200

/** Queues due messages in the order of their send times. Recipients who opted out since then get nothing. */
export async function queueDue(ctx: Ctx): Promise<void> {
  for (;;) {
    const { found, lines } = await ctx.db.tx(async (sql) => {
      const now = ctx.clock.now()
      const ids = await listDue(sql, now, AT_ONCE)
      const locked = await lockMessages(sql, ids)
      // Another process may have queued or canceled a message before the lock was taken.
      const due = ids.flatMap((id) => locked.get(id) ?? []).filter(({ dueAt }) => dueAt !== null)
      const blocked = await findBlocked(sql, due)
      const changes = due.map((before): { before: Message; after: Message } => ({
        before,
        after: blocked(before)
          ? { ...failMessage(before, now, optedOutError(before)), optedOut: true }
          : queueScheduled(before, ctx.holds.until(before.lineId, conversationOf(before)), now),
      }))
      await saveChanges(sql, changes)
      const going = changes.flatMap(({ after }) => (after.nextActionAt === null ? [] : after))
      await moveToEnd(
        sql,
        going.map(({ id }) => id),
      )
      return { found: ids.length, lines: new Set(going.map(({ lineId }) => lineId)) }
    })
    for (const lineId of lines) ctx.wakes.wake(topics.line(lineId))
    if (found < AT_ONCE) return
  }
}

/** Cancels a scheduled message. The lock decides between canceling and queueing. */
export async function cancelScheduled(ctx: Ctx, actor: Actor, handle: string): Promise<Message> {
  return ctx.db.tx(async (sql) => {
    const found = await findMessage(sql, handle, actor.account.id)
    if (!found || !isWithin(actor, found.lineNumber))
      throw new AppError('not_found', 'There is no message with this handle')
    // One that was queued before the lock was taken has another id since.
    const before = (await lockMessages(sql, [found.id])).get(found.id)
    if (!before || before.dueAt === null) {
      throw new AppError(
        'conflict',
        'The message does not wait for its time, or no longer: it cannot be canceled. GET /api/status tells what became of it.',
      )
    }
    const after = cancelMessage(before, ctx.clock.now())
    await saveChanges(sql, [{ before, after }])
    return after
  })
}
