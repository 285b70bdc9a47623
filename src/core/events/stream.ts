import { formatTime } from '../../base/time.js'
import type { Message, MessageError, Service, Status } from '../messages/message.js'
import type { Event, EventType } from './event.js'

/** What clients of the account's stream expect without asking. Everything else is sent to those who name it. */
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
 * The id under which clients tell events apart. Those that a client can also make of a list, when it closes a gap
 * that way, are made the same way here; the others end in the event's number, which no other event has.
 */
export function eventId(event: Event): string {
  const { type, subject, at, seq, data } = event
  switch (type) {
    case 'message.received':
    case 'message.created':
    case 'message.deleted':
      return `message:${subject}:${lastPart(type)}`
    case 'message.updated':
      return `message:${subject}:updated:${formatTime(at)}`
    case 'contact.created':
      return `contact:${subject}:created:${formatTime(at)}`
    case 'line.status.changed': {
      const { status, statusChangedAt } = data as { status: string; statusChangedAt?: number | null }
      const since = statusChangedAt == null ? 'unknown' : formatTime(statusChangedAt)
      return `line:${subject}:status:${status}:${since}`
    }
    case 'verification.approved':
    case 'verification.expired':
    case 'verification.canceled':
      return `verification:${subject}:${lastPart(type)}`
    default: {
      const [kind, ...what] = type.split('.')
      return `${kind}:${subject}:${what.join('.')}:${seq}`
    }
  }
}

function lastPart(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1)
}

/** Whether an event is about a message: its subject is then the message's handle. */
export function isAboutMessage({ type }: Pick<Event, 'type'>): boolean {
  return type.startsWith('message.')
}

interface MessageState {
  status?: Status
  service?: Service
  wasDowngraded?: boolean
  error?: MessageError
  sentAt?: number
}

/** A message as it was at the moment of an event: see messageEvent for what the event holds of it. */
export function messageAt<M extends Omit<Message, 'id'>>(event: Event, message: M): M {
  const then = event.data as MessageState
  // Some events are about a message but do not change it.
  if (then.status === undefined) return message
  return {
    ...message,
    status: then.status,
    service: then.service ?? message.service,
    wasDowngraded: then.wasDowngraded ?? null,
    error: then.error ?? null,
    sentAt: then.sentAt ?? message.createdAt,
    updatedAt: event.at,
  }
}

/** Numbers of events that are no longer in the log, first and last. */
export interface Gap {
  from: number
  to: number
}
