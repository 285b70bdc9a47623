import { createBoundedMap } from '../../base/bounded-map.js'
import type { NewDelivery } from '../../storage/webhooks/deliveries.js'

/**
 * Deliveries as this very process has just written them, of all receivers: when their turn comes at once, as it does
 * as a rule, they need not be read back.
 */
export interface FreshDeliveries {
  /** `since` is the mark from before they were written: what was forgotten meanwhile may be among them. */
  add(deliveries: readonly NewDelivery[], since: number): void
  mark(): number
  /** Each is handed out once: at its next try it is no longer new. */
  take(lane: string, eventSeq: string): NewDelivery | undefined
  /** Something of this account is no longer to be told. */
  forget(accountId: string): void
}

/** Those of receivers that do not answer make room for the others'. */
const KEPT = 5000
/** Another process may have changed what is older, and its word of that may have got lost. */
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
