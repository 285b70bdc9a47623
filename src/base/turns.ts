import { createRota } from './rota.js'

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** Runs work in sequence, in the order of the calls. Failed work does not stop the rest. */
export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}

interface KeyedTurns {
  /** Runs the work of one key in sequence; other keys do not wait. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>
  isBusy(key: string): boolean
}

export function createKeyedTurns(): KeyedTurns {
  const last = new Map<string, Promise<unknown>>()
  return {
    inTurn(key, work) {
      const result = (last.get(key) ?? Promise.resolve()).then(work)
      const settled = result
        .catch(() => {})
        .then(() => {
          if (last.get(key) === settled) last.delete(key)
        })
      last.set(key, settled)
      return result
    },
    isBusy: (key) => last.has(key),
  }
}

/** Runs work of several owners; each owner that waits gets a turn before another owner gets its second. */
export type FairTurns = <T>(owner: string, work: () => Promise<T>) => Promise<T>

export function createFairTurns(atOnce: number): FairTurns {
  const waiting = createRota<() => Promise<void>>()
  let running = 0

  async function runNext(): Promise<void> {
    const work = running < atOnce ? waiting.take() : undefined
    if (!work) return
    running++
    await work()
    running--
    void runNext()
  }

  return (owner, work) =>
    new Promise((resolve, reject) => {
      waiting.add(owner, async () => {
        try {
          resolve(await work())
        } catch (error) {
          reject(error)
        }
      })
      void runNext()
    })
}

const ofTheLoop = createFairTurns(1)

/**
 * Resolves in a later turn of the event loop, for one caller in each turn. Long work waits for a turn before each
 * piece of a few milliseconds, so that all long work together delays other work by one piece at most.
 */
export function nextTurn(owner: string): Promise<void> {
  return ofTheLoop(owner, () => new Promise((resolve) => setImmediate(resolve)))
}
