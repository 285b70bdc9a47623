import { createRota, type Rota } from '../../base/rota.js'
import { AppError } from '../../core/errors.js'
import { conversationOf, type Message } from '../../core/messages/message.js'
import { failMessage } from '../../core/messages/outcome.js'
import { cancelMessage, queueScheduled } from '../../core/messages/schedule.js'
import { topics } from '../../core/topics.js'
import { findMessage, lockMessages } from '../../storage/messages/messages.js'
import { listDue, moveToEnd, type SchedulePosition } from '../../storage/messages/schedule.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx } from '../ctx.js'
import { optedOutError } from './acceptance.js'
import { saveChanges } from './changes.js'
import { type Actor, isWithin } from './outbound.js'

/** Messages of one transaction, which takes about 10 ms. */
const AT_ONCE = 50
const READ_AT_ONCE = 1000
/** Due messages that wait in memory for their turn, 8 bytes each. */
const MOST_READ = 200_000
/** Messages of one round. The next one reads from the start, and finds messages that were committed late. */
const ROUND = 5000

/**
 * Queues due messages: accounts take turns, and the messages of each account keep the order of their send times.
 * Recipients who opted out since then get nothing. One call is one round; the alarm calls again while messages are due.
 */
export async function queueDue(ctx: Ctx): Promise<void> {
  const due = createRota<number>()
  let read: SchedulePosition = { dueAt: 0, id: 0 }
  for (let queued = 0; queued < ROUND; queued += AT_ONCE) {
    while (due.size() < MOST_READ) {
      const found = await listDue(ctx.db, ctx.clock.now(), read, READ_AT_ONCE)
      for (const { accountId, id } of found) due.add(accountId, id)
      read = found.at(-1) ?? read
      if (found.length < READ_AT_ONCE) break
      // SQLite reads on this thread.
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (due.size() === 0) return
    await queueBatch(ctx, takeUpTo(due, AT_ONCE))
  }
}

function takeUpTo(due: Rota<number>, most: number): number[] {
  const ids: number[] = []
  for (let id = due.take(); id !== undefined; id = due.take()) {
    ids.push(id)
    if (ids.length === most) break
  }
  return ids
}

async function queueBatch(ctx: Ctx, ids: readonly number[]): Promise<void> {
  const lines = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const locked = await lockMessages(sql, ids)
    // Another process may have queued or canceled a message before the lock was taken.
    const due = ids.flatMap((id) => locked.get(id) ?? []).filter(({ dueAt }) => dueAt !== null)
    const blocked = await findBlocked(sql, due)
    const changes = due.map((before): { before: Message; after: Message } => ({
      before,
      after: blocked(before)
        ? { ...failMessage(before, now, optedOutError(before)), optedOut: true }
        : queueScheduled(
            before,
            ctx.holds.until(before.lineId, before.accountId, conversationOf(before)),
            now,
          ),
    }))
    await saveChanges(sql, changes)
    const going = changes.flatMap(({ after }) => (after.nextActionAt === null ? [] : after))
    await moveToEnd(
      sql,
      going.map(({ id }) => id),
    )
    return new Set(going.map(({ lineId }) => lineId))
  })
  for (const lineId of lines) ctx.wakes.wake(topics.line(lineId))
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
