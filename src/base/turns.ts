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
