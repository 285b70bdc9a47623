import { createBoundedMap } from '../../base/bounded-map.js'
import type { Line } from '../../core/lines/line.js'
import { createDailyLimit, type DailyLimit, dayOf } from '../../core/lines/pacing.js'
import type { Message, Service } from '../../core/messages/message.js'
import type { Receipt } from '../../core/messages/outcome.js'
import { findSentOn } from '../../storage/lines/days.js'
import type { Lease } from '../../storage/lines/leases.js'
import type { Attempt } from '../../storage/messages/attempts.js'
import type { Ctx } from '../ctx.js'
import { mayConcern } from './receipt-match.js'

/** A line with the state that dispatch keeps for it. */
export interface DispatchLine extends ReceiptLine {
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
  recent: RecentSends
}

/**
 * Sends that wait for their receipt, as stored. The receipt usually follows at once and then needs no query. A
 * stale entry does no harm: the message's version refuses the write.
 */
export interface RecentSends {
  add(providerId: string, send: RecentSend): void
  /** The send with exactly the receipt's id and number. */
  take(receipt: Receipt): RecentSend | undefined
}

export interface RecentSend {
  attempt: Attempt
  message: Message
}

/** The line's remaining sends of the day, including the count of earlier processes. */
export async function dailyLimitOf(ctx: Ctx, line: Line): Promise<DailyLimit | null> {
  if (line.dailyLimit === 0) return null
  const now = ctx.clock.now()
  return createDailyLimit(line.dailyLimit, now, await findSentOn(ctx.db, line.id, dayOf(now)))
}

const RECENT_SENDS = 2000

export function createRecentSends(): RecentSends {
  const sends = createBoundedMap<string, RecentSend>(RECENT_SENDS)
  return {
    add: (providerId, send) => sends.set(providerId, send),
    take(receipt) {
      const { providerId = '' } = receipt
      const send = sends.get(providerId)
      if (!send || !mayConcern(receipt, send.message.contact)) return undefined
      sends.delete(providerId)
      return send
    },
  }
}
