import type { Event } from '../../events/event.js'
import type { LineState, PaceUnit } from '../../lines/line.js'
import type { Message, Service } from '../../messages/message.js'

/** All facts about a message at one time. */
export interface MessageFacts {
  now: number
  message: Message
  /** Oldest first. */
  attempts: readonly AttemptFacts[]
  /** Events about the message, its line and its conversation, oldest first. */
  events: readonly Event[]
  line: LineFacts
  queue: QueueFacts
  hold: { until: number; alternations: number } | null
  /** Whether the message may have been sent before the database was restored, and waits for the operator. */
  isInDoubt: boolean
  /**
   * When the recipient of a WhatsApp message wrote to the line, before it was sent and last; null for other services.
   */
  heard: { before: number | null; last: number | null } | null
  /** The recipient's virtual phone; null on a real network. */
  phone: { power: boolean } | null
  /** Whether the message has media that its simulated line did not fetch. */
  isMediaUnchecked: boolean
  /** The smaller copy that was made of its media for the carrier. */
  copy: { size: number; extension: string } | null
  /** Oldest first. */
  deliveries: readonly DeliveryFacts[]
}

export interface AttemptFacts {
  n: number
  service: Service
  state: 'on_wire' | 'accepted' | 'refused' | 'never_left' | 'unknown' | 'given_up'
  wireAt: number
  endedAt: number | null
  /** Number of lookups at the carrier. */
  lookups: number
  code: string | null
  detail: string | null
}

export interface LineFacts {
  /** Null if no process drives the line. */
  state: LineState | null
  detail: string | null
  since: number | null
  blockedAt: number | null
  /** Messages in each unit of time; 0 is unlimited. */
  pace: number
  paceUnit: PaceUnit
  /** Whether the line has used up its pace for the moment. */
  isAtPace: boolean
  /** Messages a day, on a shared line those of the account; 0 is unlimited. */
  dailyLimit: number
  /** Whether the accounts of a shared line divide its limit. */
  isShared: boolean
  /** Whether the line or the account has used up its limit for today. */
  isAtDailyLimit: boolean
}

/** Messages ahead of a waiting message. */
export interface QueueFacts {
  /** Number of earlier messages in its conversation. */
  inConversation: number
  /** The first of these messages, if the account may see it. */
  firstHandle: string | null
  /** Number of earlier messages on its line, up to a limit. */
  onLine: number
}

export interface DeliveryFacts {
  id: number
  type: string
  /** Null if the caller may not see it. */
  url: string | null
  eventType: string
  state: 'pending' | 'delivered' | 'failed' | 'canceled'
  attempts: number
  nextAt: number | null
  httpStatus: number | null
  reason: string | null
  createdAt: number
  finishedAt: number | null
}
