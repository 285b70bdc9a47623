/** A request to erase a person, and how far it is. */
export interface Erasure {
  id: string
  /** Null: in every account. */
  accountId: string | null
  /** The address; null once it is erased. */
  person: string | null
  /** The part of the address that is kept: its last digits, or that it was an e-mail address. */
  hint: string
  state: ErasureState
  /** The next step, and the place in it. */
  step: string
  place: readonly (string | number)[]
  /** Rows by kind. */
  counts: Readonly<Record<string, number>>
  /** Rows up to this time go; later ones are new facts. */
  requestedAt: number
  /** When a process goes on with it; null once it is done. */
  dueAt: number | null
  finishedAt: number | null
}

export const ERASURE_STATES = ['running', 'waiting', 'done'] as const
export type ErasureState = (typeof ERASURE_STATES)[number]

/** The counts after further rows of a kind. */
export function addCount(counts: Erasure['counts'], kind: string, n: number): Erasure['counts'] {
  return n === 0 ? counts : { ...counts, [kind]: (counts[kind] ?? 0) + n }
}
