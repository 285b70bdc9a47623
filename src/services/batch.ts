import { AppError } from '../core/errors.js'
import { CommitUnknown } from '../storage/db.js'

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

const BATCH_LIMIT = 256

export function createBatch<I, O>(run: (items: I[]) => Promise<O[]>): Batch<I, O> {
  const waiting: Waiting<I, O>[] = []
  let running = false

  async function flush() {
    while (waiting.length > 0) {
      const group = waiting.splice(0, BATCH_LIMIT)
      try {
        const results = await run(group.map((one) => one.item))
        for (const [index, one] of group.entries()) one.resolve(results[index]!)
      } catch (error) {
        if (group.length === 1 || concernsAll(error)) for (const one of group) one.reject(error)
        else for (const one of group) await alone(one)
      }
    }
    running = false
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
        if (running) return
        running = true
        setImmediate(flush)
      }),
  }
}

/** Trouble of the storage itself: doing the items one by one would only take longer to fail. */
function concernsAll(error: unknown): boolean {
  return error instanceof CommitUnknown || (error instanceof AppError && error.code === 'unavailable')
}
