import type { MessageExtra } from './extra.js'

/**
 * What a message is and how its status may move. Statuses only go forward; the one exception is our own
 * "outcome unknown", which is a statement about our knowledge, so later evidence from the carrier beats it.
 */
export const STATUSES = [
  'REGISTERED',
  'QUEUED',
  'PENDING',
  'ACCEPTED',
  'SENT',
  'DELIVERED',
  'RECEIVED',
  'ERROR',
  'DECLINED',
  'SUCCESS',
] as const
export type Status = (typeof STATUSES)[number]

export const SERVICES = ['iMessage', 'RCS', 'SMS'] as const
export type Service = (typeof SERVICES)[number]

export const MESSAGE_TYPES = ['message', 'group', 'location', 'carousel'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]

export const SEND_STYLES = [
  'celebration',
  'shooting_star',
  'fireworks',
  'lasers',
  'love',
  'confetti',
  'balloons',
  'spotlight',
  'echo',
  'invisible',
  'gentle',
  'loud',
  'slam',
] as const
export type SendStyle = (typeof SEND_STYLES)[number]

export interface Message {
  id: number
  handle: string
  accountId: string
  lineId: string
  lineNumber: string
  /**
   * The other side: recipient of an outbound message, sender of an inbound one. An outbound message to a group
   * has the group's id here: it is not addressed to any one person, so it counts in nobody's conversation, and a
   * repeat of it is found where a repeat of any other is.
   */
  contact: string
  groupId: string | null
  isOutbound: boolean
  type: MessageType
  status: Status
  service: Service
  wasDowngraded: boolean | null
  content: string
  mediaUrl: string
  sendStyle: string
  statusCallback: string | null
  replyTo: ReplyTo | null
  seatId: string | null
  senderEmail: string | null
  optedOut: boolean
  error: MessageError | null
  createdAt: number
  updatedAt: number
  sentAt: number
  /** When the worker has to act on it next; null once nothing is left to do. */
  nextActionAt: number | null
  /** While it waits for the time its sender chose, in no queue yet: that time. */
  dueAt: number | null
  /** Attempts that have ended. An open attempt carries the next number. */
  attempts: number
  /** Grows with every change, so that a change is only ever made to what its maker has seen. */
  version: number
  /** The carrier's id of an inbound message: unique on its line, so a repeat is a no-op. */
  providerId: string | null
  extra: MessageExtra | null
  /** Its account removed it; only our own bookkeeping still sees it. */
  deletedAt: number | null
}

/** Whether two sends ask for the same thing: how a retry is recognised that carries no key of its own. */
export function isSameSend(a: Omit<Message, 'id'>, b: Omit<Message, 'id'>): boolean {
  return (
    a.accountId === b.accountId &&
    a.lineId === b.lineId &&
    a.contact === b.contact &&
    a.groupId === b.groupId &&
    a.type === b.type &&
    a.content === b.content &&
    a.mediaUrl === b.mediaUrl &&
    a.sendStyle === b.sendStyle &&
    a.statusCallback === b.statusCallback &&
    a.seatId === b.seatId &&
    a.replyTo?.handle === b.replyTo?.handle &&
    a.replyTo?.partIndex === b.replyTo?.partIndex &&
    (a.extra === b.extra || extraText(a) === extraText(b))
  )
}

/** A card without a session of the caller's has its own handle as one, which no retry can share. */
function extraText({ extra, handle }: Omit<Message, 'id'>): string {
  return JSON.stringify(extra, (key, value) =>
    key === 'sessionIdentifier' && value === handle ? undefined : value,
  )
}

export interface ReplyTo {
  handle: string
  partIndex: number | null
}

export interface MessageError {
  code: number
  message: string
  reason: string
  detail: string | null
}

export const RANK: Readonly<Record<Status, number>> = {
  REGISTERED: 0,
  QUEUED: 1,
  PENDING: 2,
  ACCEPTED: 3,
  SENT: 4,
  SUCCESS: 5,
  DELIVERED: 6,
  ERROR: 7,
  DECLINED: 7,
  RECEIVED: 7,
}

export const OUTCOME_UNKNOWN = 'outcome_unknown'

/**
 * Verdicts of our own, on messages that were not known to be out: the carrier took one after all, and says so. A
 * line may be blocked or removed in the very moment in which one of its messages is sent.
 */
const OWN_VERDICTS: ReadonlySet<string | undefined> = new Set([
  OUTCOME_UNKNOWN,
  'line_blocked',
  'line_removed',
])

/** Whether a message in this state may move to that status. */
export function mayAdvance(from: { status: Status; error: MessageError | null }, to: Status): boolean {
  // Inbound messages are born RECEIVED; nothing becomes one.
  if (to === 'RECEIVED') return false
  if (from.status === 'ERROR') return OWN_VERDICTS.has(from.error?.reason) && RANK[to] >= RANK.ACCEPTED
  if (from.status === 'DELIVERED') return false
  // The carrier's final word: only the device itself can add to it.
  if (from.status === 'SUCCESS') return to === 'DELIVERED'
  return RANK[to] > RANK[from.status]
}

export function isFinal(status: Status): boolean {
  return RANK[status] >= RANK.SUCCESS
}

/** The four values a MessageResponse may show. */
export function responseStatus(status: Status): 'QUEUED' | 'SENT' | 'DELIVERED' | 'ERROR' | 'RECEIVED' {
  switch (status) {
    case 'REGISTERED':
    case 'QUEUED':
    case 'PENDING':
    case 'ACCEPTED':
      return 'QUEUED'
    case 'SUCCESS':
      return 'DELIVERED'
    case 'DECLINED':
      return 'ERROR'
    default:
      return status
  }
}

/** Messages of one conversation leave in the order they were accepted, one at a time. */
export function conversationOf(message: { groupId: string | null; contact: string }): string {
  return message.groupId ?? message.contact
}
