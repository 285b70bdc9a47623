import { fieldsOf } from '../../../core/fields.js'
import { isCallEvent } from './calls.js'

const sessionOf = (event: unknown) => fieldsOf(fieldsOf(event).payload).call_session_id

/**
 * The events in rows of the log. An event of a call that got through was taken then. A call that has ended needs no
 * route any more: without one it was missed.
 */
export function eventsIn(rows: readonly unknown[]): unknown[] {
  const events = rows
    .map(fieldsOf)
    .filter(({ status, webhook }) => status === 'failed' || !isCallEvent(webhook))
    .map(({ webhook }) => webhook)
  const over = new Set(events.filter((event) => fieldsOf(event).event_type === 'call.hangup').map(sessionOf))
  return events.filter(
    (event) => fieldsOf(event).event_type !== 'call.initiated' || !over.has(sessionOf(event)),
  )
}
