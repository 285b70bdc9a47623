import type { Wakes } from '../../base/wakes.js'
import { topics } from '../../core/topics.js'

/** Cheapest. A transaction of 256 messages takes 30 to 60 ms, for which nobody waits. */
const ALONE = 256
/** A few milliseconds of others' time, for about a third more processor time of one's own. */
const AMONG_OTHERS = 32
/** How long an account counts as busy after its last event. */
const BUSY_MS = 5000

/**
 * How many messages or events one transaction takes. While several accounts are busy, each takes small portions, so
 * that the others' writes and answers come between them.
 */
export function createPortion(wakes: Wakes): () => number {
  let latest = ''
  let changedAt = Number.NEGATIVE_INFINITY
  wakes.on(topics.events, (accountId) => {
    if (accountId === latest) return
    latest = accountId
    changedAt = performance.now()
  })
  return () => (performance.now() - changedAt < BUSY_MS ? AMONG_OTHERS : ALONE)
}
