/** The result of the work, or an error if it takes longer. Real time: carriers do not follow a world's clock. */
export function inTime<T>(work: Promise<T>, ms: number, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} in ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/**
 * Calls `onLate` after the time, unless the answer was called before. Time in which this process stood still (SIGSTOP, a
 * machine without a free core) hardly counts: the answer may lie in its buffers, and is read first.
 */
export function startDeadline(ms: number, onLate: () => void): () => void {
  let left = PARTS
  let last: NodeJS.Immediate | undefined
  const timer = setInterval(() => {
    if (--left > 0) return
    clearInterval(timer)
    last = setImmediate(onLate)
  }, ms / PARTS)
  return () => {
    clearInterval(timer)
    clearImmediate(last)
  }
}

/** A process that stands still loses one part of a deadline, however long it does. */
const PARTS = 10

/** Like `inTime`, with `startDeadline`. */
export async function inRunningTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let done: () => void
  const deadline = new Promise<never>((_, reject) => {
    done = startDeadline(ms, () => reject(late()))
  })
  return Promise.race([work, deadline]).finally(() => done())
}

/** Passes pieces on, and fails if one takes longer. */
export async function* inTimeEach<T>(pieces: AsyncIterable<T>, ms: number): AsyncGenerator<T> {
  const source = pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await inTime(source.next(), ms, 'nothing more came')
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: a stuck source may never confirm its end.
    void Promise.resolve(source.return?.()).catch(() => {})
  }
}
