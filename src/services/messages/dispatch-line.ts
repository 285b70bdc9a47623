import type { Line } from '../../core/lines/line.js'
import { createDailyLimit, type DailyLimit, dayOf } from '../../core/lines/pacing.js'
import type { Message, Service } from '../../core/messages/message.js'
import type { Receipt } from '../../core/messages/outcome.js'
import { findSentOn } from '../../storage/lines/days.js'
import type { Lease } from '../../storage/lines/leases.js'
import type { Attempt } from '../../storage/messages/attempts.js'
import type { Ctx } from '../ctx.js'
import { mayConcern } from './receipt-match.js'

/** A line with what dispatch needs to know of it. */
export interface DispatchLine extends ReceiptLine {
  lease: Lease
  /** Null: as many as the pace allows. */
  daily: DailyLimit | null
  /**
   * Attempts that may or may not have been written, by their message: the answer to their commit was lost. Of these
   * it is certain that nothing has left.
   */
  unsent: Map<number, string>
}

/** What the receipts of a line need. */
export interface ReceiptLine {
  line: Line
  services: readonly Service[]
  recent: RecentSends
}

/**
 * Sends whose receipt is still to come, as they were written: it usually follows at once, and then needs no
 * look into the database. Whoever uses an entry that is no longer true is stopped by the message's version.
 */
export interface RecentSends {
  add(providerId: string, send: RecentSend): void
  /** The one that a receipt is about, by its very id and number. */
  take(receipt: Receipt): RecentSend | undefined
}

export interface RecentSend {
  attempt: Attempt
  message: Message
}

/** What is left of the line's day: whoever drove it before has counted, too. */
export async function dailyLimitOf(ctx: Ctx, line: Line): Promise<DailyLimit | null> {
  if (line.dailyLimit === 0) return null
  const now = ctx.clock.now()
  return createDailyLimit(line.dailyLimit, now, await findSentOn(ctx.db, line.id, dayOf(now)))
}

const RECENT_SENDS = 2000

export function createRecentSends(): RecentSends {
  const sends = new Map<string, RecentSend>()
  return {
    add(providerId, send) {
      if (sends.size >= RECENT_SENDS) sends.delete(sends.keys().next().value!)
      sends.set(providerId, send)
    },
    take(receipt) {
      const { providerId = '' } = receipt
      const send = sends.get(providerId)
      if (!send || !mayConcern(receipt, send.message.contact)) return undefined
      sends.delete(providerId)
      return send
    },
  }
}
