import type { Event } from '../../events/event.js'
import type { LineState } from '../../lines/line.js'
import type { Message, Service } from '../../messages/message.js'

/** Everything that is known about one message at a moment. */
export interface Known {
  now: number
  message: Message
  /** Oldest first. */
  attempts: readonly KnownAttempt[]
  /** From the log, oldest first: about the message, its line and its conversation. */
  events: readonly Event[]
  line: KnownLine
  queue: KnownQueue
  hold: { until: number; alternations: number } | null
  /** The recipient's phone, where the network is a simulated one; null where nobody can look. */
  phone: { power: boolean } | null
  /** Oldest first. */
  deliveries: readonly KnownDelivery[]
}

export interface KnownAttempt {
  n: number
  service: Service
  state: 'on_wire' | 'accepted' | 'refused' | 'never_left' | 'unknown' | 'given_up'
  wireAt: number
  endedAt: number | null
  /** How often the carrier was asked about its outcome. */
  lookups: number
  code: string | null
  detail: string | null
}

export interface KnownLine {
  /** Null: no process drives it, so nobody knows. */
  state: LineState | null
  detail: string | null
  since: number | null
  blockedAt: number | null
  /** Messages a second; 0 is unlimited. */
  pace: number
  /** Whether it has sent as many in the last second as it may. */
  isAtPace: boolean
  /** Messages a day; 0 is unlimited. */
  dailyLimit: number
  /** Whether it has sent as many today as it may. */
  isAtDailyLimit: boolean
}

/** What waits before the message, while it waits itself. */
export interface KnownQueue {
  /** Earlier ones of its conversation. */
  inConversation: number
  /** The first of those, when it is one the account may see. */
  firstHandle: string | null
  /** Earlier ones on its line, counted to an end. */
  onLine: number
}

export interface KnownDelivery {
  id: number
  type: string
  /** Null for those who may not know. */
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
