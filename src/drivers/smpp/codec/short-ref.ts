const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/**
 * A 16-bit hash of a send's ref, which carriers can return in receipts. Folded FNV-1a: it needs no security, only
 * an even spread at low cost.
 */
export function shortRef(ref: string): number {
  let hash = OFFSET
  for (let i = 0; i < ref.length; i++) hash = Math.imul(hash ^ ref.charCodeAt(i), PRIME)
  return ((hash >>> 16) ^ hash) & 0xffff
}
