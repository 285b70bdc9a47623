/** Two sides that answer each other this quickly are machines, if they keep it up. */
export const LOOP_PAUSE_MS = 5_000

interface Exchange {
  last: 'in' | 'out'
  at: number
  turns: number
}

/**
 * Counts how often both sides of a conversation take turns without a pause. Only conversations of the last
 * seconds are remembered.
 */
export function createLoopWatch(limit: number, pauseMs = LOOP_PAUSE_MS) {
  const exchanges = new Map<string, Exchange>()

  function forget(now: number) {
    for (const [name, { at }] of exchanges) {
      if (now - at <= pauseMs) return
      exchanges.delete(name)
    }
  }

  /** Tells how many turns there were when there are too many; then counting begins anew. */
  return (conversation: string, side: 'in' | 'out', now: number): number | undefined => {
    if (limit === 0) return undefined
    forget(now)
    const before = exchanges.get(conversation)
    const turns = before ? before.turns + (before.last === side ? 0 : 1) : 0
    // Always the newest at the end, so that the oldest are found at once.
    exchanges.delete(conversation)
    if (turns >= limit) return turns
    exchanges.set(conversation, { last: side, at: now, turns })
    return undefined
  }
}
