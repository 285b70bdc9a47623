import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Catches the use of the outer database inside a transaction, which would deadlock or read stale data. It costs
 * async context tracking on every promise, so the tests switch it on and production does without.
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
    /** What is not ended is paid for by every promise of the process, as long as it lives. */
    end: () => storage.disable(),
  }
}
