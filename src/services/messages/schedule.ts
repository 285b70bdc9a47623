import { createRota, type Rota } from '../../base/rota.js'
import { AppError } from '../../core/errors.js'
import { conversationOf, type Message } from '../../core/messages/message.js'
import { optedOutError } from '../../core/messages/opted-out.js'
import { failMessage } from '../../core/messages/outcome.js'
import { cancelMessage, queueScheduled } from '../../core/messages/schedule.js'
import { topics } from '../../core/topics.js'
import type { Sql, Writes } from '../../storage/engine/db.js'
import { type Change, findMessage, findMessagesById, lockMessages } from '../../storage/messages/messages.js'
import {
  listDue,
  moveToEnd,
  requireMessages,
  type SchedulePosition,
} from '../../storage/messages/schedule.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx } from '../ctx.js'
import { saveChanges, unlessChanged } from './changes.js'
import { type Actor, isWithin } from './outbound.js'

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
  for (let queued = 0; queued < ROUND; ) {
    while (due.size() < MOST_READ) {
      const found = await listDue(ctx.db, ctx.clock.now(), read, READ_AT_ONCE)
      for (const { accountId, id } of found) due.add(accountId, id)
      read = found.at(-1) ?? read
      if (found.length < READ_AT_ONCE) break
      // SQLite reads on this thread.
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (due.size() === 0) return
    const most = ctx.portion()
    const ids = takeUpTo(due, most)
    await queueBatch(ctx, ids)
    queued += ids.length
    if (ids.length === most) await ctx.rest()
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

/** Writes without a lock or a round trip in the transaction, unless another process or a cancellation was faster. */
async function queueBatch(ctx: Ctx, ids: readonly number[]): Promise<void> {
  const queued = await unlessChanged(
    async () => {
      const changes = await changesOf(ctx, ctx.db, await findMessagesById(ctx.db, ids), ids)
      await ctx.db.write((sql) => queue(sql, changes))
      return changes
    },
    () =>
      ctx.db.tx(async (sql) => {
        const changes = await changesOf(ctx, sql, await lockMessages(sql, ids), ids)
        await queue(sql, changes)
        return changes
      }),
  )
  for (const lineId of new Set(queued.filter(isGoing).map(({ after }) => after.lineId)))
    ctx.wakes.wake(topics.line(lineId))
}

const isGoing = ({ after }: Change) => after.nextActionAt !== null

/** Leaves out messages that were queued or canceled since they were listed. */
async function changesOf(
  ctx: Ctx,
  sql: Sql,
  found: ReadonlyMap<number, Message>,
  ids: readonly number[],
): Promise<Change[]> {
  const now = ctx.clock.now()
  const due = ids.flatMap((id) => found.get(id) ?? []).filter(({ dueAt }) => dueAt !== null)
  const blocked = await findBlocked(ctx, sql, due)
  return due.map((before) => ({
    before,
    after: blocked(before)
      ? { ...failMessage(before, now, optedOutError(before)), optedOut: true }
      : queueScheduled(before, ctx.holds.until(before.lineId, before.accountId, conversationOf(before)), now),
  }))
}

async function queue(sql: Writes, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  await Promise.all([
    saveChanges(sql, changes),
    requireMessages(
      sql,
      changes.map(({ before }) => before.id),
    ),
    moveToEnd(
      sql,
      changes.filter(isGoing).map(({ before }) => before.id),
    ),
  ])
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
