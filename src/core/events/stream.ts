import { formatTime } from '../../base/time.js'
import type { Event, EventType } from './event.js'
import { eventNumber, type Incarnation } from './incarnation.js'

/** Event types that a client of the event stream gets by default. */
export const STREAM_TYPES = [
  'message.received',
  'message.created',
  'message.updated',
  'typing.changed',
  'line.assigned',
  'line.unassigned',
  'line.status.changed',
  'line.blocked',
  'contact.created',
  'verification.approved',
  'verification.expired',
  'verification.canceled',
] as const satisfies readonly EventType[]

/**
 * The id by which clients recognise a repeated event. A client that closes a gap from a list makes the ids of some
 * types itself, so those ids are made of the fields that the list shows. All other ids end in the event's sequence
 * number with its incarnation, which is unique.
 */
export function eventId(event: Event, incarnations: readonly Incarnation[]): string {
  const { type, subject, at, seq } = event
  switch (event.type) {
    case 'message.received':
    case 'message.created':
    case 'message.deleted':
      return `message:${subject}:${lastPart(type)}`
    case 'message.updated':
      return `message:${subject}:updated:${formatTime(at)}`
    case 'contact.created':
      return `contact:${subject}:created:${formatTime(at)}`
    case 'line.status.changed':
      return `line:${subject}:status:${event.data.status}:${formatTime(event.data.statusChangedAt)}`
    case 'verification.approved':
    case 'verification.expired':
    case 'verification.canceled':
      return `verification:${subject}:${lastPart(type)}`
    default: {
      const [kind, ...what] = type.split('.')
      return `${kind}:${subject}:${what.join('.')}:${eventNumber(incarnations, seq)}`
    }
  }
}

function lastPart(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1)
}

/** Numbers of events that are no longer in the log, first and last. */
export interface Gap {
  from: number
  to: number
}
