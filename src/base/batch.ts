/**
 * Runs items that arrive together in one go. When a batch fails because of one of its items, each item runs alone and
 * only that item fails.
 */
interface Batch<I, O> {
  add(item: I): Promise<O>
  /** Items that were added and have no result yet. */
  size(): number
}

interface Waiting<I, O> {
  item: I
  resolve: (result: O) => void
  reject: (error: unknown) => void
}

interface BatchOptions {
  /** A full batch starts at once instead of at the end of the event loop's turn. */
  size?: number | (() => number)
  /** Maximum number of concurrent batches. They start in order. */
  atOnce?: number
  /**
   * How long the next batch waits after the previous one: the callers just answered are about to add their next item,
   * and one large batch is cheaper than two half ones. Without a previous batch there is no wait.
   */
  gatherMs?: number
}

/** `concernsAll` tells an error that would hit every item: the batch then fails without running its items alone. */
export function createBatch<I, O>(
  run: (items: I[]) => Promise<O[]>,
  concernsAll: (error: unknown) => boolean,
  options: BatchOptions = {},
): Batch<I, O> {
  const { size: most = 256, atOnce = 1, gatherMs = 0 } = options
  const size = typeof most === 'function' ? most : () => most
  const waiting: Waiting<I, O>[] = []
  let running = 0
  let open = 0
  let scheduled = false

  async function start() {
    if (running >= atOnce || waiting.length === 0) return
    running++
    const group = waiting.splice(0, size())
    try {
      const results = await run(group.map((one) => one.item))
      for (const [index, one] of group.entries()) one.resolve(results[index]!)
    } catch (error) {
      if (group.length === 1 || concernsAll(error)) for (const one of group) one.reject(error)
      else for (const one of group) await alone(one)
    }
    running--
    open -= group.length
    if (gatherMs === 0 || waiting.length >= size()) void start()
    else if (waiting.length > 0) gather()
  }

  function gather() {
    if (scheduled) return
    scheduled = true
    setTimeout(() => {
      scheduled = false
      void start()
    }, gatherMs)
  }

  async function alone(one: Waiting<I, O>) {
    try {
      one.resolve((await run([one.item]))[0]!)
    } catch (error) {
      one.reject(error)
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        open++
        if (waiting.length >= size()) void start()
        if (scheduled || running >= atOnce) return
        scheduled = true
        setImmediate(() => {
          scheduled = false
          void start()
        })
      }),
    size: () => open,
  }
}
