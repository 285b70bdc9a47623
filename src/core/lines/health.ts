import type { LineState } from './line.js'

/** The state of a line and since when it has it. */
export interface LineHealth {
  state: LineState
  detail: string | null
  changedAt: number
  /** Set while the line is DEGRADED. */
  degradedSince: number | null
}

/** The health after the driver reported a state. Reporting the current state again keeps its time. */
export function healthAfter(
  before: LineHealth | undefined,
  state: LineState,
  detail: string | null,
  now: number,
): LineHealth {
  if (before?.state === state) return { ...before, detail }
  return { state, detail, changedAt: now, degradedSince: state === 'DEGRADED' ? now : null }
}
