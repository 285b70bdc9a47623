import type { Line } from '../../core/lines/line.js'
import { createDailyLimit, type DailyLimit, dayOf } from '../../core/lines/pacing.js'
import type { Service } from '../../core/messages/message.js'
import { findSentOn } from '../../storage/lines/days.js'
import type { Lease } from '../../storage/lines/leases.js'
import type { Ctx } from '../ctx.js'

/** Another process has taken over the line, or the line has begun a new epoch. */
export class LeaseLost extends Error {}

/** A line with the state that dispatch keeps for it. */
export interface DispatchLine extends ReceiptLine {
  groupMms: boolean
  lease: Lease
  /** Null: no daily limit. */
  daily: DailyLimit | null
  /** Refs of attempts whose commit went unanswered, by message id. None of them has left. */
  unsent: Map<number, string>
}

/** The part of a line's state that receipts need. */
export interface ReceiptLine {
  line: Line
  services: readonly Service[]
}

/** The line's remaining sends of the day, including the count of earlier processes. */
export async function dailyLimitOf(ctx: Ctx, line: Line): Promise<DailyLimit | null> {
  if (line.dailyLimit === 0) return null
  const now = ctx.clock.now()
  return createDailyLimit(line.dailyLimit, now, await findSentOn(ctx.db, line.id, dayOf(now)))
}
