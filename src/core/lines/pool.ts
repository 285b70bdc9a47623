import { createHash } from 'node:crypto'

/** Lines of an account that send as one. */
export interface Pool {
  id: string
  accountId: string
  name: string
  createdAt: number
}

export const MOST_POOL_LINES = 100

/** A line that could take a new conversation. */
export interface Candidate {
  lineId: string
  isDown: boolean
  /** Milliseconds until its waiting messages have left. */
  waitMs: number
}

/** The line with most room. Conversations spread evenly over lines with equal room, the same way in every process. */
export function roomiest<T extends Candidate>(lines: readonly T[], contact: string): T | undefined {
  const ranked = lines.map((line) => ({ line, lot: lotOf(contact, line.lineId) }))
  ranked.sort(
    (a, b) =>
      Number(a.line.isDown) - Number(b.line.isDown) ||
      a.line.waitMs - b.line.waitMs ||
      (a.lot < b.lot ? -1 : 1),
  )
  return ranked[0]?.line
}

function lotOf(contact: string, lineId: string): string {
  return createHash('sha256').update(`${contact} ${lineId}`).digest('hex')
}
