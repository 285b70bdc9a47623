import { MESSAGE_ERROR } from '../../core/errors.js'
import { conversationOf, type Message, OUTCOME_UNKNOWN } from '../../core/messages/message.js'
import { optedOutError } from '../../core/messages/opted-out.js'
import { failMessage } from '../../core/messages/outcome.js'
import { queueScheduled } from '../../core/messages/schedule.js'
import { topics } from '../../core/topics.js'
import type { Sql } from '../../storage/engine/db.js'
import { countAsynchronousStandbys } from '../../storage/engine/incarnations.js'
import { lockMessages } from '../../storage/messages/messages.js'
import { countInDoubt, endHold, listInDoubt, releaseMessages } from '../../storage/messages/recovery.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx } from '../ctx.js'
import { saveChanges } from './changes.js'

/** What the operator decides about messages in doubt. */
export interface Decision {
  /** resend: send them now. give_up: do not send them; their outcome stays unknown. */
  action: 'resend' | 'give_up'
  /** Only messages that were to be sent before this time. */
  before: number
}

/** Messages of one transaction. */
const BATCH = 100

const GIVEN_UP = {
  code: MESSAGE_ERROR.outcomeUnknown,
  message:
    'The database was restored while the message waited: it may have been sent before, and it was not sent again',
  reason: OUTCOME_UNKNOWN,
  detail: null,
}

/** Carries out a decision for one batch. Returns how many messages it concerned, and the lines to wake. */
export async function decideInDoubt(
  ctx: Ctx,
  sql: Sql,
  { action, before }: Decision,
): Promise<{ decided: number; lines: Set<string> }> {
  const now = ctx.clock.now()
  const ids = await listInDoubt(sql, before, BATCH)
  const locked = [...(await lockMessages(sql, ids)).values()].filter(
    ({ nextActionAt }) => nextActionAt !== null,
  )
  const blocked = await findBlocked(ctx, sql, locked)
  const changes = locked.map((before): { before: Message; after: Message } => {
    if (action === 'give_up') return { before, after: failMessage(before, now, GIVEN_UP) }
    if (blocked(before) && before.attempts === 0)
      return { before, after: { ...failMessage(before, now, optedOutError(before)), optedOut: true } }
    const heldUntil = ctx.holds.until(before.lineId, before.accountId, conversationOf(before))
    return { before, after: before.dueAt === null ? before : queueScheduled(before, heldUntil, now) }
  })
  await saveChanges(sql, changes)
  const going = changes.filter(({ after }) => after.nextActionAt !== null).map(({ after }) => after)
  await releaseMessages(
    sql,
    going.map(({ id }) => id).sort((a, b) => a - b),
  )
  await endHold(sql)
  return { decided: locked.length, lines: new Set(going.map(({ lineId }) => lineId)) }
}

export function wakeLines(ctx: Ctx, lines: Iterable<string>): void {
  for (const lineId of lines) ctx.wakes.wake(topics.line(lineId))
}

/** Tells the operator at the start what waits for a decision, and what a failover could lose. */
export async function warnOfDoubt(ctx: Ctx): Promise<void> {
  const standbys = await countAsynchronousStandbys(ctx.db)
  if (standbys > 0)
    ctx.log.warn(
      { standbys },
      'standby servers are asynchronous: a promotion may lose the last commits, and messages in doubt are then held; set synchronous_standby_names',
    )
  const messages = await countInDoubt(ctx.db)
  if (messages > 0)
    ctx.log.warn({ messages, reason: ctx.db.incarnations.at(-1)?.reason }, describeDoubt(messages))
}

/** Tells the operator that messages are held, and which command decides. */
export function describeDoubt(messages: number): string {
  const are = messages === 1 ? '1 message is' : `${messages} messages are`
  return `${are} held: the database was restored, copied or promoted, and they may have been sent before. Decide with: trunkline recover`
}

/** How long a count is used; anybody may ask for readiness as often as they like. */
const COUNT_FRESH_MS = 2000

export function createDoubtCount(ctx: Ctx): () => Promise<number> {
  let counting: Promise<number> | undefined
  let countedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (counting && performance.now() - countedAt < COUNT_FRESH_MS) return counting
    countedAt = performance.now()
    counting = countInDoubt(ctx.db).catch(() => 0)
    return counting
  }
}
