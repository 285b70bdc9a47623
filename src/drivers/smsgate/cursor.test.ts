import { expect, it } from 'vitest'
import { advance, isNew, LATE_MS, readCursor, remember, writeCursor } from './cursor.js'

const NOW = 1_800_000_000_000
const start = { floor: 0, seen: new Map<string, number>() }
const row = (id: string, at: number) => ({ id, at })

it('finds a text that comes late, and each text once', () => {
  const cursor = advance(start, [row('a', NOW)], NOW)
  expect(isNew(cursor, row('a', NOW))).toBe(false)
  expect(isNew(cursor, row('late', NOW - LATE_MS))).toBe(true)
  expect(isNew(cursor, row('older', NOW - LATE_MS - 1))).toBe(false)
})

it('loses no old text when a read of several days breaks off in the middle', () => {
  const [first, second] = [row('first', NOW - 3 * LATE_MS), row('second', NOW - 2 * LATE_MS)]
  const cursor = remember(start, [first])
  expect([isNew(cursor, first), isNew(cursor, second)]).toEqual([false, true])
  expect(isNew(advance(start, [first], NOW), second)).toBe(false)
})

it('remembers at most a thousand texts, and takes none of the forgotten for new', () => {
  const rows = Array.from({ length: 1500 }, (_, i) => row(`text ${i}`, NOW - 1500 + i))
  const cursor = advance(start, rows, NOW)
  expect(cursor.seen.size).toBe(1000)
  expect(rows.filter((one) => isNew(cursor, one))).toEqual([])
  expect(readCursor(writeCursor(cursor))).toEqual(cursor)
})

it.each([null, '', '{', '[]', '{"floor":"x"}'])('begins anew with %j', (text) =>
  expect(readCursor(text)).toBeUndefined(),
)
