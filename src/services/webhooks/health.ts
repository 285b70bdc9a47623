import type { Writes } from '../../storage/engine/db.js'
import type { Delivery, DeliveryAttempt } from '../../storage/webhooks/deliveries.js'
import { saveFaults, type WebhookFault } from '../../storage/webhooks/faults.js'

interface Post {
  delivery: Delivery
  attempt: DeliveryAttempt | null
  /** The lease under which it was posted. */
  held: object
}

/** Notes which webhooks fail, together with the results of their posts. */
export interface WebhookHealth {
  save(sql: Writes, posts: readonly Post[]): Promise<void>
  /** The posts are stored. */
  saved(posts: readonly Post[]): void
}

/**
 * A webhook that is known to work costs nothing: only its first success under a lease, and the first one after a
 * failure, remove the row of a webhook that fails. Status callbacks are no webhooks.
 */
export function createWebhookHealth(): WebhookHealth {
  /** Webhooks that have no row. No other process posts to them while this one holds their shard. */
  const healthy = new WeakMap<object, Set<string>>()
  const isKnown = ({ delivery, held }: Post) => healthy.get(held)?.has(delivery.endpointId!) ?? false

  return {
    async save(sql, posts) {
      const faults = new Map<string, WebhookFault>()
      const recovered = new Set<string>()
      for (const post of posts.filter(isPost)) {
        const { delivery, attempt } = post
        const endpointId = delivery.endpointId!
        if (isDelivered(post)) {
          // Its failure in this batch is not stored, but an earlier one may be.
          if (faults.delete(endpointId) || !isKnown(post)) recovered.add(endpointId)
          continue
        }
        // At once: the write may be stored although it seems to fail.
        healthy.get(post.held)?.delete(endpointId)
        const before = faults.get(endpointId)
        faults.set(endpointId, {
          endpointId,
          accountId: delivery.accountId,
          since: before?.since ?? attempt!.at,
          failures: (before?.failures ?? 0) + 1,
          httpStatus: delivery.httpStatus,
          reason: delivery.reason ?? '',
        })
      }
      await saveFaults(sql, [...recovered], [...faults.values()])
    },
    saved(posts) {
      for (const post of posts.filter(isPost)) {
        const known = healthy.get(post.held) ?? new Set()
        healthy.set(post.held, known)
        if (isDelivered(post)) known.add(post.delivery.endpointId!)
        else known.delete(post.delivery.endpointId!)
      }
    },
  }
}

const isPost = ({ delivery, attempt }: Post) => delivery.endpointId !== null && attempt !== null
const isDelivered = ({ delivery }: Post) => delivery.state === 'delivered'
