import type { CallOutcome } from '../../../core/calls/call.js'
import { fieldsOf, textOf } from '../../../core/fields.js'

const OUTCOMES: Readonly<Record<string, CallOutcome>> = {
  completed: 'COMPLETED',
  answered: 'COMPLETED',
  busy: 'BUSY',
  'no-answer': 'NO_ANSWER',
  failed: 'FAILED',
  canceled: 'CANCELLED',
}

/** How a call ended; undefined if it has not, or if the status is not known. */
export function outcomeOf(status: string | null): CallOutcome | undefined {
  return status !== null && Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined
}

export function callSidOf(value: unknown): string | undefined {
  const text = textOf(value)
  return /^CA[0-9a-fA-F]{32}$/.test(text) ? text : undefined
}

/** A call resource: a call to the number, or its leg to the phone that it is forwarded to. */
export interface CallRow {
  sid: string
  direction: string
  from: string
  to: string
  status: string
  startedAt: number
  endedAt: number | undefined
  seconds: number | undefined
}

/** Reads a call resource; undefined if it lacks what identifies a call. */
export function callRowOf(json: unknown): CallRow | undefined {
  const row = fieldsOf(json)
  const sid = callSidOf(row.sid)
  const startedAt = timeOf(row.start_time) ?? timeOf(row.date_created)
  if (!sid || startedAt === undefined) return undefined
  return {
    sid,
    direction: textOf(row.direction),
    from: textOf(row.from),
    to: textOf(row.to),
    status: textOf(row.status),
    startedAt,
    endedAt: timeOf(row.end_time),
    seconds: secondsOf(row.duration),
  }
}

/** Twilio writes a duration as text; undefined if there is none. */
export function secondsOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : textOf(value)
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined
}

function timeOf(value: unknown): number | undefined {
  const at = Date.parse(textOf(value))
  return at > 0 ? at : undefined
}

/** Numbers that Twilio gives for callers who hide theirs: words on the keys of a phone. */
const HIDDEN = new Set(['+266696687', '+7378742833', '+2562533', '+8656696', '+86282452253'])

/** The number that the forwarded phone sees. Twilio accepts the caller's own, if it is one, and those of the account. */
export function callerIdFor(from: string, line: string): string {
  return /^\+[1-9]\d{6,14}$/.test(from) && !HIDDEN.has(from) ? from : line
}
