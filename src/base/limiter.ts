import { createBoundedMap } from './bounded-map.js'

/**
 * A sliding log for each name: never more than `limit` in any window. A token bucket of that size allows almost twice
 * as many in some windows.
 */
export interface Limiter {
  /** Milliseconds to wait, or 0 when the call is allowed, which counts it. */
  take(name: string, limit?: number): number
  /** Like `take`, without counting. */
  wait(name: string): number
  /** Calls counted in the window that ends now. */
  count(name: string): number
}

const NAMES_KEPT = 10_000

export function createLimiter(defaultLimit: number, windowMs: number, now: () => number): Limiter {
  const logs = createBoundedMap<string, number[]>(NAMES_KEPT)
  const recent = (name: string): number[] => {
    const since = now() - windowMs
    const log = logs.get(name) ?? []
    let old = 0
    while (old < log.length && log[old]! <= since) old++
    if (old > 0) log.splice(0, old)
    return log
  }
  const waitFor = (log: number[], limit: number) =>
    log.length < limit ? 0 : Math.max(1, log[log.length - limit]! + windowMs - now())

  return {
    take(name, limit = defaultLimit) {
      const log = recent(name)
      const wait = waitFor(log, limit)
      if (wait > 0) return wait
      log.push(now())
      logs.set(name, log)
      return 0
    },
    wait: (name) => waitFor(recent(name), defaultLimit),
    count: (name) => recent(name).length,
  }
}
