import { createFifo } from '../../../base/rota.js'
import { AppError } from '../../../core/errors.js'

/** Work waits for a connection in the order in which it came, however long a connection takes to open. */
export interface Seats {
  /** Waits for a free connection, and fails if none is free in time. */
  take(): Promise<void>
  free(): void
  /** Fails everything that waits now: no connection can be made. */
  refuse(reason: unknown): void
}

interface Waiter {
  sit(): void
  refuse(reason: unknown): void
  hasLeft: boolean
}

export function createSeats(count: number, waitMs: number): Seats {
  const waiting = createFifo<Waiter>()
  let left = count
  const next = () => {
    for (let waiter = waiting.shift(); waiter; waiter = waiting.shift()) if (!waiter.hasLeft) return waiter
    return undefined
  }
  return {
    async take() {
      if (left > 0) {
        left--
        return
      }
      await new Promise<void>((resolve, reject) => {
        const leave = (then: () => void) => {
          clearTimeout(timer)
          waiter.hasLeft = true
          then()
        }
        const waiter: Waiter = {
          hasLeft: false,
          sit: () => leave(resolve),
          refuse: (reason) => leave(() => reject(reason)),
        }
        const timer = setTimeout(() => waiter.refuse(allTaken(count, waitMs)), waitMs)
        waiting.push(waiter)
      })
    },
    free() {
      const waiter = next()
      if (waiter) waiter.sit()
      else left++
    },
    refuse(reason) {
      for (let waiter = next(); waiter; waiter = next()) waiter.refuse(reason)
    },
  }
}

/** The database is well and has too much to do, which an operator must not take for a lost network. */
function allTaken(count: number, waitMs: number): AppError {
  const text = `Every connection to the database (${count}) was in use for ${waitMs / 1000} s. Try again.`
  return new AppError('unavailable', text, { retryAfterMs: 1000 })
}
