import { setTimeout } from 'node:timers/promises'
import type { Wakes } from '../../base/wakes.js'
import { topics } from '../../core/topics.js'

/** Cheapest. A transaction of 256 messages takes 30 to 60 ms, for which nobody waits. */
const ALONE = 256
/** A few milliseconds of others' time, for about a third more processor time of one's own. */
const AMONG_OTHERS = 24
/** How long an account counts as busy after its last event. */
const BUSY_MS = 5000
/** Share of the event loop's time in use, above which those who take full portions rest. */
const MOST_LOAD = 0.3
const LOOK_MS = 3
/** Even while the loop has no time to spare, what was accepted goes out: about 400 messages a second on each line. */
const LONGEST_REST_MS = 60

export interface Portions {
  /** How many messages or events one transaction takes at the moment. */
  portion(): number
  /** To be awaited after a full portion, before the next one. */
  rest(): Promise<void>
}

/**
 * While several accounts are busy, each takes small portions, and whoever took a full one rests until the event loop
 * has time to spare: so the others' requests, writes and answers come between them.
 */
export function createPortions(wakes: Wakes, errand: (work: () => Promise<void>) => Promise<void>): Portions {
  let latest = ''
  let changedAt = Number.NEGATIVE_INFINITY
  wakes.on(topics.events, (accountId) => {
    if (accountId === latest) return
    if (latest !== '') changedAt = performance.now()
    latest = accountId
  })
  const isAmongOthers = () => performance.now() - changedAt < BUSY_MS
  return {
    portion: () => (isAmongOthers() ? AMONG_OTHERS : ALONE),
    rest: async () => void (isAmongOthers() && (await errand(untilCalm))),
  }
}

async function untilCalm() {
  const until = performance.now() + LONGEST_REST_MS
  while (performance.now() < until) {
    const before = performance.eventLoopUtilization()
    await setTimeout(LOOK_MS)
    if (performance.eventLoopUtilization(before).utilization < MOST_LOAD) return
  }
}
