import { createHash } from 'node:crypto'

/** A number of sixteen bits that stands for a send: what carriers can hand back in receipts. */
export function shortRef(ref: string): number {
  return createHash('sha256').update(ref).digest().readUInt16BE(0)
}
