/** What the work comes to, or an error when that takes longer. Machine time: nobody moves the clock of a carrier. */
export function inTime<T>(work: Promise<T>, ms: number, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} in ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** The same pieces, as long as each comes in time. */
export async function* inTimeEach<T>(pieces: AsyncIterable<T>, ms: number): AsyncGenerator<T> {
  const source = pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await inTime(source.next(), ms, 'nothing more came')
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not waited for: a source that has stopped may never say that it ends.
    void Promise.resolve(source.return?.()).catch(() => {})
  }
}
