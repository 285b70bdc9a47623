import type { Line } from '../core/line.js'
import type { Message, Service } from '../core/message.js'
import type { Attempt } from '../storage/attempts.js'
import type { Lease } from '../storage/leases.js'

/** A line with what dispatch needs to know of it. */
export interface DispatchLine extends ReceiptLine {
  lease: Lease
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
  take(providerId: string): RecentSend | undefined
}

export interface RecentSend {
  attempt: Attempt
  message: Message
}

const RECENT_SENDS = 2000

export function createRecentSends(): RecentSends {
  const sends = new Map<string, RecentSend>()
  return {
    add(providerId, send) {
      if (sends.size >= RECENT_SENDS) sends.delete(sends.keys().next().value!)
      sends.set(providerId, send)
    },
    take(providerId) {
      const send = sends.get(providerId)
      sends.delete(providerId)
      return send
    },
  }
}
