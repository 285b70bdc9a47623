/** Whom we wrote to of late; the others begin anew. */
const REMEMBERED = 10_000

/**
 * Numbers that the parts of a text share, counted for each recipient: phones tell texts apart by the lowest octet
 * alone, and two texts of one number would become one.
 */
export function createPartRefs(chance: () => number): (to: string) => number {
  const last = new Map<string, number>()
  return (to) => {
    const next = ((last.get(to) ?? Math.floor(chance() * 0x10000)) + 1) & 0xffff
    last.delete(to)
    last.set(to, next)
    if (last.size > REMEMBERED) last.delete(last.keys().next().value!)
    return next
  }
}
