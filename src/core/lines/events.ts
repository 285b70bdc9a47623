import type { NewEvent } from '../events/event.js'
import type { LineHealth } from './health.js'
import { assignmentOf, type Line } from './line.js'

export function assignedEvent(accountId: string, line: Line, at: number): NewEvent {
  const data = { number: line.number, assignment: assignmentOf(line), assignedAt: at }
  return { accountId, type: 'line.assigned', subject: line.id, at, data }
}

/** The account loses the line at once, without a grace period. */
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

/** A contact begins or stops typing to a line. */
export function typingEvent(
  accountId: string,
  line: Line,
  contact: string,
  isTyping: boolean,
  at: number,
): NewEvent {
  const data = { contact, lineId: line.id, lineNumber: line.number, isTyping }
  return { accountId, type: 'typing.changed', subject: contact, at, data }
}
