/** The result of the work, or an error if it takes longer. Real time: carriers do not follow a world's clock. */
export function inTime<T>(work: Promise<T>, ms: number, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} in ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
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
