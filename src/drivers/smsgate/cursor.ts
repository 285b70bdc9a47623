import { fieldsOf, listOf } from '../../core/fields.js'
import type { InboxRow } from './rows.js'

/**
 * Which rows of the inbox were read. The inbox is in the order of the network's times, and a text may come hours after
 * its time, so a time alone does not tell. Rows from `floor` on are new unless their id is in `seen`.
 */
export interface Cursor {
  floor: number
  seen: ReadonlyMap<string, number>
}

/** How late a text may arrive and still be found. */
export const LATE_MS = 24 * 3_600_000
const MOST_SEEN = 1000

export function readCursor(text: string | null): Cursor | undefined {
  if (text === null) return undefined
  try {
    const { floor, seen } = fieldsOf(JSON.parse(text))
    if (typeof floor !== 'number') return undefined
    return { floor, seen: new Map(listOf(seen) as [string, number][]) }
  } catch {
    return undefined
  }
}

export function writeCursor({ floor, seen }: Cursor): string {
  return JSON.stringify({ floor, seen: [...seen] })
}

export function isNew({ floor, seen }: Cursor, { id, at }: Pick<InboxRow, 'id' | 'at'>): boolean {
  return at >= floor && !seen.has(id)
}

/** After some of the new rows were read: the others must still be found, however old they are. */
export function remember({ floor, seen }: Cursor, rows: readonly Pick<InboxRow, 'id' | 'at'>[]): Cursor {
  const all = new Map(seen)
  for (const { id, at } of rows) all.set(id, at)
  return { floor, seen: all }
}

/** After all new rows were read. Rows of the last day are remembered, at most a thousand. */
export function advance(cursor: Cursor, rows: readonly Pick<InboxRow, 'id' | 'at'>[], now: number): Cursor {
  const newest = [...remember(cursor, rows).seen].sort(([, a], [, b]) => b - a).slice(0, MOST_SEEN)
  const oldestKept = newest.length === MOST_SEEN ? newest.at(-1)![1] : 0
  const floor = Math.max(cursor.floor, now - LATE_MS, oldestKept)
  return { floor, seen: new Map(newest.filter(([, at]) => at >= floor)) }
}
