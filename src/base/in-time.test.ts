import { pbkdf2 } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { inRunningTime, inTime, inTimeEach } from './in-time.js'

async function all<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const got: T[] = []
  for await (const piece of pieces) got.push(piece)
  return got
}

const never = () => new Promise<never>(() => {})

describe('in time', () => {
  it('is what the work comes to, its error, or a complaint', async () => {
    expect(await inTime(Promise.resolve(7), 1000, 'no answer')).toBe(7)
    await expect(inTime(Promise.reject(new Error('broken')), 1000, 'no answer')).rejects.toThrow('broken')
    await expect(inTime(never(), 5, 'no answer')).rejects.toThrow('no answer in 5 ms')
  })

  it('counts running time only: a process that stood still reads the answer first', async () => {
    const answer = new Promise<void>((resolve) => pbkdf2('', '', 1, 8, 'sha1', () => resolve()))
    const timely = inRunningTime(answer, 50, () => new Error('no answer'))
    for (const until = performance.now() + 200; performance.now() < until; );
    await timely
    await expect(inRunningTime(never(), 50, () => new Error('no answer'))).rejects.toThrow('no answer')
  })

  it('are all pieces of a source that goes on, and then it is closed', async () => {
    let closed = false
    async function* source() {
      try {
        yield* [1, 2, 3]
      } finally {
        closed = true
      }
    }
    expect(await all(inTimeEach(source(), 1000))).toEqual([1, 2, 3])
    expect(closed).toBe(true)
  })

  it('is an error when the source stops, even when it does not let itself be closed', async () => {
    const source = { next: never, return: never }
    const pieces = { [Symbol.asyncIterator]: () => source }
    await expect(all(inTimeEach(pieces, 5))).rejects.toThrow('nothing more came in 5 ms')
  })
})
