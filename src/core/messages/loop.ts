import { createBoundedMap } from '../../base/bounded-map.js'

/** Two sides that answer each other this quickly are machines, if they keep it up. */
export const LOOP_PAUSE_MS = 5_000

/** Conversations of one line that take turns at the same time: the rest begin to count anew. */
const MAX_EXCHANGES = 10_000

interface Exchange {
  last: 'in' | 'out'
  turns: number
}

/** Counts how often both sides of a conversation take turns without a pause. */
export function createLoopWatch(limit: number, pauseMs = LOOP_PAUSE_MS) {
  const exchanges = createBoundedMap<string, Exchange>(MAX_EXCHANGES, pauseMs)

  /** Tells how many turns there were when there are too many; then counting begins anew. */
  return (conversation: string, side: 'in' | 'out', now: number): number | undefined => {
    if (limit === 0) return undefined
    const before = exchanges.take(conversation, now)
    const turns = before ? before.turns + (before.last === side ? 0 : 1) : 0
    if (turns >= limit) return turns
    exchanges.set(conversation, { last: side, turns }, now)
    return undefined
  }
}
