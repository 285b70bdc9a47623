import { createBoundedMap } from '../../base/bounded-map.js'

/** Recipients to remember; others start at a random number. */
const MAX_RECIPIENTS = 10_000

/**
 * Reference numbers that the parts of a text share, counted for each recipient: phones compare only the lowest
 * octet, and would join two texts with the same number.
 */
export function createPartRefs(chance: () => number): (to: string) => number {
  const last = createBoundedMap<string, number>(MAX_RECIPIENTS)
  return (to) => {
    const next = ((last.get(to) ?? Math.floor(chance() * 0x10000)) + 1) & 0xffff
    last.set(to, next)
    return next
  }
}
