import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Detects use of the outer database inside a transaction, which would deadlock or read stale data. Tracking costs
 * time on every promise, so only tests switch it on.
 */
export function createTxGuard(enabled: boolean) {
  if (!enabled)
    return { inside: <T>(fn: () => T): T => fn(), outside: <T>(fn: () => T): T => fn(), end: () => {} }
  const storage = new AsyncLocalStorage<boolean>()
  return {
    inside: <T>(fn: () => T): T => storage.run(true, fn),
    outside: <T>(fn: () => T): T => {
      if (storage.getStore()) throw new Error('The outer database was used inside a transaction')
      return fn()
    },
    /** Until disabled, the tracking slows down every promise of the process. */
    end: () => storage.disable(),
  }
}
