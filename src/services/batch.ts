import { AppError } from '../core/errors.js'
import { CommitUnknown } from '../storage/engine/db.js'

/**
 * Things that arrive together are done together: one transaction and one flush to disk for all of them. When a
 * batch fails because of one of its items, each is done alone and only that one fails.
 */
export interface Batch<I, O> {
  add(item: I): Promise<O>
}

interface Waiting<I, O> {
  item: I
  resolve: (result: O) => void
  reject: (error: unknown) => void
}

export interface BatchOptions {
  /** Items of one batch. Reaching it starts the batch at once instead of at the end of the turn. */
  size?: number
  /** Batches under way at once. They start in order. */
  atOnce?: number
  /**
   * How long the next batch waits after one has ended, while more may come: the callers that were just answered
   * are about to ask again, and one large batch is cheaper than two half ones. Nobody waits when all is quiet.
   */
  gatherMs?: number
}

export function createBatch<I, O>(
  run: (items: I[]) => Promise<O[]>,
  options: BatchOptions = {},
): Batch<I, O> {
  const { size = 256, atOnce = 1, gatherMs = 0 } = options
  const waiting: Waiting<I, O>[] = []
  let running = 0
  let scheduled = false

  async function start() {
    if (running >= atOnce || waiting.length === 0) return
    running++
    const group = waiting.splice(0, size)
    try {
      const results = await run(group.map((one) => one.item))
      for (const [index, one] of group.entries()) one.resolve(results[index]!)
    } catch (error) {
      if (group.length === 1 || concernsAll(error)) for (const one of group) one.reject(error)
      else for (const one of group) await alone(one)
    }
    running--
    if (gatherMs === 0 || waiting.length >= size) void start()
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
        if (waiting.length >= size) void start()
        if (scheduled || running >= atOnce) return
        scheduled = true
        setImmediate(() => {
          scheduled = false
          void start()
        })
      }),
  }
}

/** Trouble of the storage itself: doing the items one by one would only take longer to fail. */
export function concernsAll(error: unknown): boolean {
  return error instanceof CommitUnknown || (error instanceof AppError && error.code === 'unavailable')
}

/** Runs what it is given one after the other, in order. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}
