import { addCount, type Erasure } from '../../core/erasure/erasure.js'
import type { Person } from '../../core/erasure/person.js'
import type { Sql } from '../../storage/engine/db.js'
import { saveErasure } from '../../storage/erasure/erasures.js'
import type { Place, Scope } from '../../storage/erasure/walk.js'

/** An erasure that this process works on. */
export interface Turn {
  erasure: Erasure
  person: Person
  scope: Scope
  /** The step after the present one. */
  nextStep: string
}

/** One slice of a step, in a transaction of its own. Returns the erasure as the slice has left it. */
export type Step<A extends unknown[] = []> = (...args: [...A, turn: Turn]) => Promise<Erasure>

/** Another process has taken the erasure over: the transaction is rolled back. */
export class TurnLost extends Error {}

interface Done {
  /** Where the step goes on; undefined: it is finished. */
  place: Place | undefined
  /** Rows by kind. */
  counts?: Readonly<Record<string, number>>
  changes?: Partial<Pick<Erasure, 'state' | 'dueAt' | 'finishedAt' | 'person'>>
}

/** Saves how far the erasure is, in the transaction that did the work. */
export async function saveTurn(
  sql: Sql,
  turn: Turn,
  { place, counts = {}, changes }: Done,
): Promise<Erasure> {
  const before = turn.erasure
  let total = before.counts
  for (const [kind, n] of Object.entries(counts)) total = addCount(total, kind, n)
  const after: Erasure = {
    ...before,
    state: 'running',
    step: place ? before.step : turn.nextStep,
    place: place ?? [],
    counts: total,
    ...changes,
  }
  if (!(await saveErasure(sql, before, after))) throw new TurnLost()
  return after
}
