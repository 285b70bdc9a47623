const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/**
 * A number of sixteen bits that stands for a send: what carriers can hand back in receipts. FNV-1a, folded: all it
 * has to do is to spread, and every send pays for it.
 */
export function shortRef(ref: string): number {
  let hash = OFFSET
  for (let i = 0; i < ref.length; i++) hash = Math.imul(hash ^ ref.charCodeAt(i), PRIME)
  return ((hash >>> 16) ^ hash) & 0xffff
}
