import { createBoundedMap } from '../../base/bounded-map.js'

/** Two sides that keep answering each other within this time are machines. */
const LOOP_PAUSE_MS = 5_000

/** Maximum number of alternating conversations that a line counts; others start again at zero. */
const MAX_EXCHANGES = 10_000

interface Exchange {
  last: 'in' | 'out'
  turns: number
}

/** Counts quick alternations between the two sides of a conversation. */
export function createLoopWatch(limit: number, pauseMs = LOOP_PAUSE_MS) {
  const exchanges = createBoundedMap<string, Exchange>(MAX_EXCHANGES, pauseMs)

  /** Returns the number of alternations once it reaches the limit, and starts again at zero. */
  return (conversation: string, side: 'in' | 'out', now: number): number | undefined => {
    if (limit === 0) return undefined
    const before = exchanges.take(conversation, now)
    const turns = before ? before.turns + (before.last === side ? 0 : 1) : 0
    if (turns >= limit) return turns
    exchanges.set(conversation, { last: side, turns }, now)
    return undefined
  }
}
