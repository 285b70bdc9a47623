/** Runs work of several owners; each owner that waits gets a turn before an owner gets a second one. */
export type FairQueue = <T>(owner: string, work: () => Promise<T>) => Promise<T>

export function createFairQueue(atOnce: number): FairQueue {
  /** The map's order is the order of the owners' turns. */
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let running = 0

  function runNext(): void {
    const [owner, works] = running < atOnce ? (waiting.entries().next().value ?? []) : []
    if (owner === undefined || !works) return
    waiting.delete(owner)
    const work = works.shift()!
    if (works.length > 0) waiting.set(owner, works)
    running++
    void work().finally(() => {
      running--
      runNext()
    })
  }

  return (owner, work) =>
    new Promise((resolve, reject) => {
      const works = waiting.get(owner) ?? []
      works.push(() => work().then(resolve, reject))
      waiting.set(owner, works)
      runNext()
    })
}

const inTurn = createFairQueue(1)

/**
 * Resolves in a later turn of the event loop, for one caller in each turn. Long work waits for a turn before each
 * piece of a few milliseconds, so that all long work together delays other work by one piece at most.
 */
export function nextTurn(owner: string): Promise<void> {
  return inTurn(owner, () => new Promise((resolve) => setImmediate(resolve)))
}
