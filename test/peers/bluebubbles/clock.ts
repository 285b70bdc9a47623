/** The Mac's clock; tests may provide a virtual one. */
export interface PeerClock {
  now(): number
  /** Calls `fn` after `ms` milliseconds; returns a function that cancels the call. */
  after(ms: number, fn: () => void): () => void
}

export const realClock: PeerClock = {
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
}

/** A clock whose timers can all be cancelled at once, when the Mac is switched off for good. */
export function leash(clock: PeerClock): PeerClock & { drop(): void } {
  const running = new Set<() => void>()
  return {
    now: () => clock.now(),
    after(ms, fn) {
      const cancel = clock.after(ms, () => {
        running.delete(cancel)
        fn()
      })
      running.add(cancel)
      return () => {
        running.delete(cancel)
        cancel()
      }
    },
    drop() {
      for (const cancel of running) cancel()
      running.clear()
    },
  }
}
