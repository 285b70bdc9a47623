import { AppError, MESSAGE_ERROR } from '../../core/errors.js'
import { blockedEvent, statusEvent } from '../../core/lines/events.js'
import type { LineHealth } from '../../core/lines/health.js'
import type { Line } from '../../core/lines/line.js'
import type { Message } from '../../core/messages/message.js'
import { failMessage } from '../../core/messages/outcome.js'
import { appendEvents } from '../../storage/events/events.js'
import { blockLine, findLine, listBlockedBacklog, unblockLine } from '../../storage/lines/lines.js'
import { findLineHealth, restartLineState } from '../../storage/lines/states.js'
import { findNextAttempts } from '../../storage/messages/attempts.js'
import { lockMessages } from '../../storage/messages/messages.js'
import type { Ctx } from '../ctx.js'
import { saveChanges } from '../messages/changes.js'
import { linesChanged } from './lines.js'
import { accountsOf } from './states.js'

/** State of a blocked line, whatever its driver reports. */
const BLOCKED = (at: number): LineHealth => ({
  state: 'OFFLINE',
  detail: null,
  changedAt: at,
  degradedSince: null,
})

/**
 * Blocks a line because its carrier or the operator says so. Its waiting messages end as errors and are not sent
 * later, even if the line is unblocked. It still receives. `inWorld`: only if the line is still in this world.
 */
export async function block(ctx: Ctx, id: string, inWorld?: number): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const line = await findLine(sql, id)
    if (inWorld !== undefined && line?.resets !== inWorld) return
    if (!line) throw new AppError('not_found', `There is no line ${id}`)
    const now = ctx.clock.now()
    if (!(await blockLine(sql, id, now))) return
    const accounts = await accountsOf(sql, line)
    await appendEvents(
      sql,
      accounts.flatMap((accountId) => [
        blockedEvent(accountId, line, now),
        statusEvent(accountId, line, BLOCKED(now)),
      ]),
    )
  })
  linesChanged(ctx, [id])
  await failBlocked(ctx)
}

/** The line's driver reports a block. */
export function blockedByCarrier(ctx: Ctx, line: Line, detail: string): void {
  ctx.log.warn({ line: line.id, detail }, 'the carrier has blocked a line')
  ctx
    .errand(() => block(ctx, line.id, line.resets))
    .catch((error) => {
      ctx.log.error({ err: error, line: line.id }, 'a blocked line is still in use; trying again in a second')
      ctx.clock.after(1000, () => blockedByCarrier(ctx, line, detail))
    })
}

/** Unblocks a line, which takes the state of its driver. */
export async function unblock(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.tx(async (sql) => {
    if (!(await unblockLine(sql, id))) return
    await restartLineState(sql, id, ctx.clock.now())
    const line = await findLine(sql, id)
    const health = await findLineHealth(sql, id)
    // Without a driver the state is unknown.
    if (!line || !health) return
    const accounts = await accountsOf(sql, line)
    await appendEvents(
      sql,
      accounts.map((accountId) => statusEvent(accountId, line, health)),
    )
  })
  linesChanged(ctx, [id])
}

const AT_ONCE = 50

/** Ends the waiting messages of blocked lines. */
export async function failBlocked(ctx: Ctx): Promise<void> {
  for (;;) {
    const ids = await listBlockedBacklog(ctx.db, AT_ONCE)
    await endAsBlocked(ctx, ids)
    if (ids.length < AT_ONCE) return
  }
}

/**
 * Ends messages that reached a blocked line after the block. Does nothing if the line is unblocked, which its driver
 * learns later.
 */
export async function endIfBlocked(ctx: Ctx, line: Line, due: readonly Message[]): Promise<boolean> {
  if (((await findLine(ctx.db, line.id))?.blockedAt ?? null) === null) return false
  await endAsBlocked(
    ctx,
    due.map(({ id }) => id),
  )
  return true
}

/** Ends these messages, unless they have ended already. */
async function endAsBlocked(ctx: Ctx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const messages = await lockMessages(sql, ids)
    // A message that is on the wire by now does not wait any more.
    const attempts = await findNextAttempts(sql, [...messages.values()])
    const error = {
      code: MESSAGE_ERROR.failed,
      reason: 'line_blocked',
      message: 'The line was blocked before the message was sent',
      detail: null,
    }
    await saveChanges(
      sql,
      [...messages.values()]
        .filter(({ id, nextActionAt, status }) => {
          return nextActionAt !== null && status !== 'PENDING' && attempts.get(id)?.state !== 'on_wire'
        })
        .map((before) => ({ before, after: failMessage(before, now, error) })),
    )
  })
}
