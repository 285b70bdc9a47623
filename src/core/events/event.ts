import type { AlertFacts, AlertState } from '../alerts/facts.js'
import type { CallOutcome } from '../calls/call.js'
import type { Assignment, LineState } from '../lines/line.js'
import type { profileOf } from '../lines/profile.js'
import type { MessageError, Service, Status } from '../messages/message.js'

/** The types of the event log's entries. */
export const EVENT_TYPES = [
  'message.created',
  'message.updated',
  'message.received',
  'message.read',
  'message.deleted',
  'line.assigned',
  'line.unassigned',
  'line.status.changed',
  'line.blocked',
  'call.inbound',
  'call.outbound',
  'contact.created',
  'contact.opted_out',
  'contact.opted_in',
  'group.created',
  'group.updated',
  'verification.approved',
  'verification.expired',
  'verification.canceled',
  'contact_profile.completed',
  'contact_profile.failed',
  'message.reaction',
  'typing.changed',
  'webhook.removed',
  'conversation.held',
  'conversation.released',
  'line.offline',
  'queue.age',
  'webhook.failing',
  'quota.near',
  'world.reset',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/**
 * The data of each event, as it is written to the log. Its keys are put on the wire in the order in which they were
 * written.
 */
interface EventData {
  'message.created': MessageState
  'message.updated': MessageState
  'message.received': MessageState
  'message.read': { readAt: number }
  'message.deleted': Record<never, never>
  /** `handle` is that of the text in which the reaction came. */
  'message.reaction': {
    contact: string
    reaction: string
    removed: boolean
    partIndex: number
    handle: string
  }
  'line.assigned': AboutLine & { assignedAt: number }
  'line.unassigned': AboutLine & { unassignedAt: number; effectiveUntil: null }
  'line.status.changed': AboutLine & {
    status: LineState
    statusChangedAt: number
    degradedSince: number | null
  }
  'line.blocked': AboutLine & { blockedAt: number }
  'call.inbound': EndedCall & {
    eventId: string
    accountEmail: string
    forwardedTo: string | null
    answered: boolean
    endedAt: number
  }
  'call.outbound': EndedCall & {
    contactId: string | null
    recordingUrl: null
    transcript: null
    metadata: object
    disposition: 'not_answered' | 'voicemail' | 'connected'
    origin: 'DASHBOARD'
    sentBy: string | null
  }
  'contact.created': { phone: string; firstName: string; lastName: string }
  /** The subject is the person's number; on a shared line, every account of the line that it concerns has one. */
  'contact.opted_out': { contact: string; lineNumber: string }
  'contact.opted_in': { contact: string; lineNumber: string }
  'group.created': GroupDetails
  'group.updated': GroupDetails
  'verification.approved': EndedVerification
  'verification.expired': EndedVerification
  'verification.canceled': EndedVerification
  'contact_profile.completed': EndedProfileRequest
  'contact_profile.failed': EndedProfileRequest
  'typing.changed': { contact: string; lineId: string; lineNumber: string; isTyping: boolean }
  /** `type` is the webhook's type. */
  'webhook.removed': { type: string; reason: 'gone' }
  'conversation.held': HeldConversation & { alternations: number }
  'conversation.released': HeldConversation & { by: 'operator' | 'time'; messages: number }
  'line.offline': AlertState & AlertFacts['line.offline']
  'queue.age': AlertState & AlertFacts['queue.age']
  'webhook.failing': AlertState & AlertFacts['webhook.failing']
  'quota.near': AlertState & AlertFacts['quota.near']
  'world.reset': Record<string, never>
}

/**
 * The part of a message that may change, as it was at the moment of the event. The fixed part is read from the
 * message itself, so a text is stored in one place and is gone when it is erased there.
 */
export interface MessageState {
  status: Status
  service: Service
  wasDowngraded?: boolean
  error?: MessageError
  /** Absent when it equals the message's `createdAt`. */
  sentAt?: number
}

interface AboutLine {
  number: string
  assignment: Assignment
}

export type CallProvider = 'twilio' | 'telnyx'

interface EndedCall {
  callId: string
  direction: 'inbound' | 'outbound'
  status: CallOutcome | null
  /** Seconds; null for a call that was not answered. */
  duration: number | null
  provider: CallProvider
  companyId: string
  createdAt: number
  fromNumber: string
  toNumber: string
}

interface GroupDetails {
  name: string | null
  photoUrl: string | null
  members: readonly string[]
}

interface EndedVerification {
  status: 'approved' | 'expired' | 'canceled'
  serviceSid: string
}

interface EndedProfileRequest {
  eventId: string
  requestId: string
  operationId: string | null
  accountEmail: string
  fromNumber: string
  status: 'completed' | 'failed'
  profile: (ReturnType<typeof profileOf> & { publishRecordPresent: boolean }) | null
  errorCode: string | null
  errorMessage: string | null
  requestedAt: number
  observedAt: number
}

interface HeldConversation {
  lineNumber: string
  /** The other side's number; null in a group. */
  contact: string | null
  groupId: string | null
  until: number
}

interface Entry<T extends EventType> {
  accountId: string
  type: T
  /**
   * Id of the thing the event is about. For a message, this is its handle; for typing, the contact's number; for a
   * conversation, the other side's number or the group's id; for a quota, the name of the budget.
   */
  subject: string
  /**
   * When the event was written, which keeps the log in the order of its times except for transactions that overlap.
   * The time at which the thing happened, if earlier, is in `data`.
   */
  at: number
  data: EventData[T]
}

/** `NewEvent` is any event, `NewEvent<'typing.changed'>` one of that type. */
export type NewEvent<T extends EventType = EventType> = { [K in T]: Entry<K> }[T]

interface StoredEntry<T extends EventType> extends Entry<T> {
  /** Per account, from 1, in commit order; without a gap except between two incarnations of the database. */
  seq: number
}

export type Event<T extends EventType = EventType> = { [K in T]: StoredEntry<K> }[T]
