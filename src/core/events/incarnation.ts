/** A life of the database; see storage/engine/incarnations.ts. */
export interface Incarnation {
  n: number
  /** Empty for the first one. */
  id: string
  reason: string
  begunAt: number
  /** Its events have higher numbers than this. */
  eventBase: number
}

/**
 * An event's number with the incarnation that it belongs to. After a restore, a receiver that knows event 1201 of the
 * lost days must not take another event for it.
 */
export function eventNumber(incarnations: readonly Incarnation[], seq: number): string {
  const id = incarnations.findLast(({ eventBase }) => eventBase < seq)?.id
  return id ? `${id}_${seq}` : String(seq)
}
