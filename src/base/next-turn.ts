/** Callers that wait for a turn, by owner. The map's order is the order of the owners. */
const waiting = new Map<string, (() => void)[]>()

/**
 * Resolves in a later turn of the event loop, for one caller in each turn; owners alternate. Long work waits for a
 * turn after each piece of a few milliseconds, so that all such work together never delays others by more than one
 * piece.
 */
export function nextTurn(owner: string): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(release)
    const others = waiting.get(owner)
    if (others) others.push(resolve)
    else waiting.set(owner, [resolve])
  })
}

function release(): void {
  const [owner, callers] = waiting.entries().next().value!
  waiting.delete(owner)
  const resolve = callers.shift()!
  if (callers.length > 0) waiting.set(owner, callers)
  if (waiting.size > 0) setImmediate(release)
  resolve()
}
