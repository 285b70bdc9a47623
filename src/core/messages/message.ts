import { compile } from '../../base/compile.js'
import type { MessageExtra } from './extra.js'
import { field, initialValues, type NamesWith, namesWith, type ValuesOf } from './field.js'

/**
 * A message, and how its status may move. Statuses only go forward; the one exception is our own
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

export const SERVICES = ['iMessage', 'RCS', 'WhatsApp', 'SMS'] as const
export type Service = (typeof SERVICES)[number]

const MESSAGE_TYPES = ['message', 'group', 'location', 'carousel'] as const
type MessageType = (typeof MESSAGE_TYPES)[number]

/**
 * Every field of a message, written once. Rows (storage/messages/rows.ts), the choices of a sender, the
 * recognition of repeated requests and what drivers get follow from this table.
 */
export const MESSAGE_FIELDS = {
  handle: field<string>()('text', '', { carried: true }),
  accountId: field<string>()('text', '', { carried: true }),
  lineId: field<string>()('text', ''),
  lineNumber: field<string>()('text', ''),
  /**
   * The other side: recipient of an outbound message, sender of an inbound one. An outbound message to a group
   * has the group's id here: it belongs to no person's conversation, and a repeated request is found the same way
   * as for other messages.
   */
  contact: field<string>()('text', ''),
  groupId: field<string | null>()('text', null),
  isOutbound: field<boolean>()('flag', true),
  type: field<MessageType>()('text', 'message'),
  status: field<Status>()('text', 'QUEUED', { changes: true }),
  service: field<Service>()('text', 'iMessage', { changes: true }),
  wasDowngraded: field<boolean | null>()('flag', null, { changes: true }),
  content: field<string>()('text', '', { chosen: true, carried: true }),
  mediaUrl: field<string>()('text', '', { chosen: true, carried: true }),
  sendStyle: field<string>()('text', '', { chosen: true }),
  statusCallback: field<string | null>()('text', null, { chosen: true }),
  replyTo: field<ReplyTo | null>()('parts', null, { chosen: true }),
  seatId: field<string | null>()('text', null, { chosen: true }),
  senderEmail: field<string | null>()('text', null),
  optedOut: field<boolean>()('flag', false, { changes: true }),
  error: field<MessageError | null>()('parts', null, { changes: true }),
  createdAt: field<number>()('number', 0),
  updatedAt: field<number>()('number', 0, { changes: true }),
  sentAt: field<number>()('number', 0, { changes: true }),
  /** When the worker acts on the message next; null if nothing is left to do. */
  nextActionAt: field<number | null>()('number', 0, { changes: true }),
  /** Attempts that have ended. An open attempt carries the next number. */
  attempts: field<number>()('number', 0, { changes: true }),
  /** Grows with every change: a transaction changes only the version it has read. */
  version: field<number>()('number', 0),
  /** The carrier's id of an inbound message: unique on its line, so a repeat is a no-op. */
  providerId: field<string | null>()('text', null),
  extra: field<MessageExtra | null>()('json', null, { carried: true }),
  /** When the account deleted the message; it is then hidden from the account. */
  deletedAt: field<number | null>()('number', null),
  /** Scheduled send time, while the message waits outside the queue. */
  dueAt: field<number | null>()('number', null, { changes: true }),
  /** The caller's trace context; null without one, and while no traces are exported. */
  trace: field<string | null>()('text', null),
}

export type NewMessage = ValuesOf<typeof MESSAGE_FIELDS>
export type Message = NewMessage & { id: number }

/** The fields that a sender sets. */
export type SendChoices = Pick<NewMessage, NamesWith<typeof MESSAGE_FIELDS, 'chosen'>>
/** The fields that a driver gets unchanged. */
export type CarriedFields = Pick<NewMessage, NamesWith<typeof MESSAGE_FIELDS, 'carried'>>

/** Clone it with a spread that stands first and alone: V8 has a fast path for that. */
export const BLANK_MESSAGE: Readonly<NewMessage> = initialValues(MESSAGE_FIELDS)

const CHOSEN = namesWith(MESSAGE_FIELDS, 'chosen')
const CARRIED = namesWith(MESSAGE_FIELDS, 'carried')
const IDENTITY = [
  'accountId',
  'lineId',
  'contact',
  'groupId',
  'type',
  ...CHOSEN.filter((name) => name !== 'replyTo'),
] as const

export const carriedOf: (message: NewMessage) => CarriedFields = compile(
  ['m'],
  `return { ${CARRIED.map((name) => `${name}: m.${name}`).join(', ')} }`,
)

/** Sets the sender's fields in a new message. */
export const choose: (message: NewMessage, choices: SendChoices) => void = compile(
  ['m', 'choices'],
  CHOSEN.map((name) => `m.${name} = choices.${name}`).join('; '),
)

/** Whether two sends ask for the same message: how a retry without an idempotency key is recognised. */
export function isSameSend(a: NewMessage, b: NewMessage): boolean {
  return (
    IDENTITY.every((name) => a[name] === b[name]) &&
    a.replyTo?.handle === b.replyTo?.handle &&
    a.replyTo?.partIndex === b.replyTo?.partIndex &&
    (a.extra === b.extra || extraText(a) === extraText(b))
  )
}

/** Leaves out a card session that is the message's own handle, which no retry can share. */
function extraText({ extra, handle }: NewMessage): string {
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
 * Errors that Trunkline itself gave to messages that were not known to have left. A later receipt of the carrier
 * overrides them: a line may be blocked or removed while one of its messages is being sent.
 */
const OWN_VERDICTS: ReadonlySet<string | undefined> = new Set([
  OUTCOME_UNKNOWN,
  'line_blocked',
  'line_removed',
])

/** Whether a message in this state may move to that status. */
export function mayAdvance(from: { status: Status; error: MessageError | null }, to: Status): boolean {
  // Inbound messages start as RECEIVED; no status changes to RECEIVED.
  if (to === 'RECEIVED') return false
  if (from.status === 'ERROR') return OWN_VERDICTS.has(from.error?.reason) && RANK[to] >= RANK.ACCEPTED
  if (from.status === 'DELIVERED') return false
  // SUCCESS is the carrier's final status; only a receipt of the device can follow.
  if (from.status === 'SUCCESS') return to === 'DELIVERED'
  return RANK[to] > RANK[from.status]
}

/** The four values a MessageResponse may show. */
export function responseStatus(status: Status): 'QUEUED' | 'SENT' | 'DELIVERED' | 'ERROR' {
  switch (status) {
    case 'REGISTERED':
    case 'QUEUED':
    case 'PENDING':
    case 'ACCEPTED':
      return 'QUEUED'
    case 'SUCCESS':
    // An inbound message was delivered to its line.
    case 'RECEIVED':
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
