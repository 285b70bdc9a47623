import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { findSeat } from '../../storage/accounts/accounts.js'
import { findCallSettings, saveLineForwarding, saveLineSeat } from '../../storage/calls/forwarding.js'
import type { Sql } from '../../storage/engine/db.js'
import { listLinesOf } from '../../storage/lines/lines.js'
import type { Ctx } from '../ctx.js'

/** Sets or removes the number that calls to a dedicated line are forwarded to. */
export async function setForwarding(ctx: Ctx, line: Line, number: string | null): Promise<void> {
  await ctx.db.tx(async (sql) => {
    if (number !== null) await refuseLoop(sql, line.accountId!, number)
    await saveLineForwarding(sql, line.id, number)
  })
}

/**
 * A call is forwarded once, so a call forwarded to another line would end there. Only the account's own lines are
 * refused here, because another account's line must look like any other number; calls to those fail when they are
 * made.
 */
export async function refuseLoop(
  sql: Sql,
  accountId: string,
  number: string,
  field = 'forwarding_number',
): Promise<void> {
  const lines = await listLinesOf(sql, accountId)
  if (lines.some((line) => line.number === number)) {
    throw new AppError(
      'invalid',
      `${field}: must not be a line of this account; a forwarded call is not forwarded again`,
    )
  }
}

/** Assigns a dedicated line to a seat, or to none. */
export async function assignSeat(ctx: Ctx, line: Line, seatId: string | null): Promise<void> {
  if (seatId !== null && !line.accountId)
    throw new AppError('invalid', 'seat_id: only a dedicated line can be assigned to a seat')
  await ctx.db.tx(async (sql) => {
    const seat = seatId === null ? null : await findSeat(sql, line.accountId!, seatId)
    if (seat === undefined) throw new AppError('invalid', 'seat_id: no such seat in the account of this line')
    await saveLineSeat(sql, line.id, seat?.id ?? null)
  })
}

/** The answer of GET for a line that may have a forwarding number. */
export async function forwardingOf(sql: Sql, line: Line): Promise<string | null> {
  return (await findCallSettings(sql, line.id)).forwardingNumber
}
