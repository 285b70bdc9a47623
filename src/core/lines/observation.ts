import type { LineState } from './line.js'

/** A finding about a line, and the state of a line of which it is the worst. */
export interface Observation {
  ok: boolean
  what: string
  /** How to fix it, if it is not ok. */
  advice?: string
  state: LineState
}

export const fine = (what: string): Observation => ({ ok: true, what, state: 'ONLINE' })

export const bad = (state: LineState, what: string, advice?: string): Observation => ({
  ok: false,
  what,
  ...(advice !== undefined && { advice }),
  state,
})

const RANKS: readonly LineState[] = ['ONLINE', 'UNKNOWN', 'DEGRADED', 'OFFLINE']

/** The state that follows from observations, explained by the first of the worst. */
export function worstOf(found: readonly Observation[]): { state: LineState; detail: string | undefined } {
  const worst = found.reduce((a, b) => (RANKS.indexOf(b.state) > RANKS.indexOf(a.state) ? b : a), fine(''))
  const detail = [worst.what, worst.advice].filter(Boolean).join('. ')
  return { state: worst.state, detail: worst.ok ? undefined : detail }
}

/** Observations as they are shown to the person who sets up a line. */
export function findingsIn(found: readonly Observation[]): Omit<Observation, 'state'>[] {
  return found.map(({ ok, what, advice }) => ({ ok, what, ...(advice !== undefined && { advice }) }))
}
