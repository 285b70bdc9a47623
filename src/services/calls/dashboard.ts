import type { Account } from '../../core/accounts/account.js'
import { afterAction, afterConsoleAction, type Call, RING_MS } from '../../core/calls/call.js'
import { AppError } from '../../core/errors.js'
import { findSeat } from '../../storage/accounts/accounts.js'
import { lockCall } from '../../storage/calls/calls.js'
import type { Sql } from '../../storage/engine/db.js'
import { holdLine, listLinesOf } from '../../storage/lines/lines.js'
import type { Ctx } from '../ctx.js'
import { putThrough, saveEnds } from '../sim/calls.js'

/** Calls that a user of an account places or answers in the console. */

export async function callFromDashboard(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  ask: { from: string; to: string; seatId: string | undefined },
): Promise<Call> {
  const line = (await listLinesOf(sql, account.id)).find((one) => one.number === ask.from)
  if (line?.driver !== 'simulator' || !(await holdLine(sql, line.id))) {
    throw new AppError(
      'invalid',
      `from: ${ask.from} is not a simulated line of this account. GET /api/lines lists the lines.`,
    )
  }
  if (line.blockedAt !== null)
    throw new AppError('invalid', `from: the line ${ask.from} is blocked. Use another line.`)
  const seat = ask.seatId === undefined ? null : await findSeat(sql, account.id, ask.seatId)
  if (seat === undefined) throw new AppError('invalid', 'seat_id: no such seat in this account')
  const now = ctx.clock.now()
  return putThrough(ctx, sql, line, {
    id: ctx.newId(),
    network: account.id,
    providerId: null,
    direction: 'outbound',
    lineId: line.id,
    lineNumber: line.number,
    accountId: account.id,
    caller: line.number,
    forwardedTo: ask.to,
    state: 'ringing',
    outcome: null,
    voicemail: false,
    sentBy: seat?.id ?? account.email,
    createdAt: now,
    answeredAt: null,
    endedAt: null,
    dueAt: now + RING_MS,
  })
}

/** A user answers or declines a call to a line, or ends a call. */
export async function actAtDashboard(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  id: string,
  action: 'answer' | 'decline' | 'hangup',
): Promise<Call> {
  const call = await lockCall(sql, id)
  if (call?.accountId !== account.id || call.state === 'turned_away')
    throw new AppError('not_found', 'There is no such call')
  if (call.providerId !== null)
    throw new AppError(
      'conflict',
      'The carrier forwards this call: only a call to a simulated line can be taken here',
    )
  const now = ctx.clock.now()
  const after =
    call.direction === 'inbound'
      ? afterConsoleAction(call, action, now)
      : afterAction(call, 'caller', action, now)
  await saveEnds(ctx, sql, [after])
  return after
}
