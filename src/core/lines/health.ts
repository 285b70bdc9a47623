import type { NewEvent } from '../events/event.js'
import type { Line, LineState } from './line.js'

/** How a line is and since when. */
export interface LineHealth {
  state: LineState
  detail: string | null
  changedAt: number
  /** Set while it is DEGRADED. */
  degradedSince: number | null
}

/** What the driver's word makes of a line's health. The same state again keeps its time. */
export function healthAfter(
  before: LineHealth | undefined,
  state: LineState,
  detail: string | null,
  now: number,
): LineHealth {
  if (before?.state === state) return { ...before, detail }
  return { state, detail, changedAt: now, degradedSince: state === 'DEGRADED' ? now : null }
}

/** What a line is to an account: its own, or one it shares with others. */
export type Assignment = 'assigned' | 'shared'

export function assignmentOf(line: Pick<Line, 'kind'>): Assignment {
  return line.kind === 'shared' ? 'shared' : 'assigned'
}

export function assignedEvent(accountId: string, line: Line, at: number): NewEvent {
  const data = { number: line.number, assignment: assignmentOf(line), assignedAt: at }
  return { accountId, type: 'line.assigned', subject: line.id, at, data }
}

/** From now on the account cannot use the line: there is no time of grace. */
export function unassignedEvent(accountId: string, line: Line, at: number): NewEvent {
  const data = {
    number: line.number,
    assignment: assignmentOf(line),
    unassignedAt: at,
    effectiveUntil: null,
  }
  return { accountId, type: 'line.unassigned', subject: line.id, at, data }
}

export function blockedEvent(accountId: string, line: Line, at: number): NewEvent {
  const data = { number: line.number, assignment: assignmentOf(line), blockedAt: at }
  return { accountId, type: 'line.blocked', subject: line.id, at, data }
}

export function statusEvent(accountId: string, line: Line, health: LineHealth): NewEvent {
  const data = {
    number: line.number,
    assignment: assignmentOf(line),
    status: health.state,
    statusChangedAt: health.changedAt,
    degradedSince: health.degradedSince,
  }
  return { accountId, type: 'line.status.changed', subject: line.id, at: health.changedAt, data }
}
