import type { CallOutcome } from '../../../core/calls/call.js'
import { type Fields, fieldsOf, parseJson, textOf, wholeOf } from '../../../core/fields.js'
import { idOf, timeOf } from '../statuses.js'

/**
 * What Telnyx returns with every event of a forwarded call, so that any process knows the call: the number of our line,
 * the caller's leg, the caller, and when the call began.
 */
export interface CallState {
  line: string
  leg: string
  from: string
  at: number
}

/** One side of a call: the caller's, or that of the phone which the call is forwarded to. */
export interface Leg {
  /** Id of the call, which both legs have in common. */
  session: string
  /** Id of the leg for commands. */
  id: string
  isCaller: boolean
  /** Absent before the call is forwarded. */
  state: CallState | undefined
  from: string
  startedAt: number
}

/** Reads the leg of a call to the line; undefined for anything else. */
export function legOf(payload: Fields, line: string, now: number): Leg | undefined {
  const session = idOf(payload.call_session_id)
  const id = legIdOf(payload.call_control_id)
  if (!session || !id) return undefined
  const state = stateIn(payload.client_state)
  if (state ? state.line !== line : payload.to !== line) return undefined
  return {
    session,
    id,
    isCaller: state === undefined || state.leg === id,
    state,
    from: state?.from ?? textOf(payload.from),
    startedAt: state ? Math.min(state.at, now) : timeOf(payload.start_time, now),
  }
}

function legIdOf(value: unknown): string | undefined {
  const text = textOf(value)
  return /^[0-9a-zA-Z:_-]{8,200}$/.test(text) ? text : undefined
}

export function stateOf(state: CallState): string {
  return Buffer.from(JSON.stringify(state)).toString('base64')
}

function stateIn(value: unknown): CallState | undefined {
  const { line, leg, from, at } = fieldsOf(parseJson(Buffer.from(textOf(value), 'base64')))
  const id = legIdOf(leg)
  const moment = wholeOf(at)
  if (!id || textOf(line) === '' || textOf(from) === '' || moment === undefined || moment <= 0)
    return undefined
  return { line: textOf(line), leg: id, from: textOf(from), at: moment }
}

const OUTCOMES: Readonly<Record<string, CallOutcome>> = {
  normal_clearing: 'COMPLETED',
  time_limit: 'COMPLETED',
  user_busy: 'BUSY',
  call_rejected: 'BUSY',
  no_answer: 'NO_ANSWER',
  timeout: 'NO_ANSWER',
  originator_cancel: 'CANCELLED',
}

/** How the call to the phone ended. */
export function outcomeOf(cause: unknown): CallOutcome {
  const name = textOf(cause)
  return Object.hasOwn(OUTCOMES, name) ? OUTCOMES[name]! : 'FAILED'
}

/**
 * How the caller's own leg ended the call; undefined if the leg of the phone tells it. The caller's leg ends normally
 * after a talk, and also if nobody answered.
 */
export function callerOutcomeOf({ state }: Leg, { hangup_cause: cause, hangup_source: source }: Fields) {
  if (cause === 'originator_cancel') return 'CANCELLED'
  if (state) return undefined
  return source === 'caller' ? 'CANCELLED' : 'FAILED'
}
