import { createBoundedMap } from '../../base/bounded-map.js'
import type { NewDelivery } from '../../storage/webhooks/deliveries.js'

/**
 * Deliveries that this process has just written, of all receivers. Most are due at once and need not be read back.
 */
export interface FreshDeliveries {
  /** `since` is the mark from before the write: deliveries forgotten in the meantime may be among them. */
  add(deliveries: readonly NewDelivery[], since: number): void
  mark(): number
  /** Returns each delivery once: at its next attempt it has changed. */
  take(lane: string, eventSeq: string): NewDelivery | undefined
  /** Forgets the deliveries of an account, because some were erased. */
  forget(accountId: string): void
}

/** Evicts cached deliveries of unresponsive receivers first. */
const KEPT = 5000
/** Older entries expire: another process may have changed the delivery, and its hint may have been lost. */
const KEPT_MS = 2000

export function createFreshDeliveries(now: () => number = Date.now): FreshDeliveries {
  const kept = createBoundedMap<string, NewDelivery>(KEPT, KEPT_MS)
  let forgotten = 0
  return {
    add(deliveries, since) {
      if (since !== forgotten) return
      const at = now()
      for (const delivery of deliveries) kept.set(`${delivery.lane} ${delivery.eventSeq}`, delivery, at)
    },
    mark: () => forgotten,
    take: (lane, eventSeq) => kept.take(`${lane} ${eventSeq}`, now()),
    forget(accountId) {
      forgotten++
      kept.deleteWhere((delivery) => delivery.accountId === accountId)
    },
  }
}
