import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { isAlert } from '../../core/alerts/alert.js'
import type { Event } from '../../core/events/event.js'
import { isAboutMessage, type MessageEvent, messageAt } from '../../core/events/message-events.js'
import { eventId, type Gap } from '../../core/events/stream.js'
import type { Ctx } from '../../services/ctx.js'
import type { EventSubjects } from '../../services/events/subjects.js'
import { alertEventWire } from '../alerts/wire.js'
import { snakeCase } from '../http/render.js'
import { integer, string } from '../http/schemas.js'
import { toRecord } from '../messages/wire.js'

/** Events as the stream shows them. */

export const EventWire = Type.Object(
  {
    version: integer('Version of this envelope: 1'),
    id: string('Unique id of the event in streams and webhooks; use it to detect repeats'),
    type: string('What happened'),
    occurred_at: string('When, ISO 8601'),
    data: Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description:
        'For message.*: message_id and the fields of the message record at that time. typing.changed: number, is_typing. line.*: worker_id, sendblue_number, status, assignment and times. contact.created: contact_id, phone, first_name, last_name, created_at. contact.opted_out, contact.opted_in: number, sendblue_number, after STOP or START on that line. verification.*: verification_sid, status. line.offline, queue.age, webhook.failing, quota.near: as in the webhook alert. recovery.gap: from, to',
    }),
  },
  { title: 'Event' },
)

export function envelope({ db }: Pick<Ctx, 'db'>, event: Event, subjects: EventSubjects, account: Account) {
  return {
    version: 1,
    id: eventId(event, db.incarnations),
    type: event.type,
    occurred_at: formatTime(event.at),
    data: dataOf(event, subjects, account),
  }
}

/** Tells the reader that the events with these sequence numbers are no longer in the log. */
export function gapEnvelope({ from, to }: Gap, now: number) {
  return {
    version: 1,
    id: `recovery:gap:${from}:${to}`,
    type: 'recovery.gap',
    occurred_at: formatTime(now),
    data: { from, to },
  }
}

function dataOf(event: Event, subjects: EventSubjects, account: Account): object {
  if (isAboutMessage(event)) return messageData(event, subjects, account)
  if (isAlert(event)) return alertEventWire(event)
  const { subject } = event
  switch (event.type) {
    case 'line.assigned':
    case 'line.unassigned':
    case 'line.status.changed':
    case 'line.blocked': {
      const { number, ...rest } = event.data
      return { worker_id: subject, sendblue_number: number, ...wired(rest) }
    }
    case 'contact.created':
      return { contact_id: subject, ...wired(event.data), created_at: formatTime(event.at) }
    case 'verification.approved':
    case 'verification.expired':
    case 'verification.canceled':
      return { verification_sid: subject, ...wired(event.data), updated_at: formatTime(event.at) }
    case 'group.created':
    case 'group.updated':
      return { group_id: subject, ...wired(event.data) }
    default:
      return wired(event.data)
  }
}

function messageData(event: MessageEvent, { messages, groups }: EventSubjects, account: Account): object {
  const { subject, data, at } = event
  const message = messages.get(subject)
  const ids = { message_id: subject, message_handle: subject }
  // The reader still gets the event, but without the fields of the deleted message, such as its contact's number.
  if (!message || message.deletedAt !== null) {
    const status = 'status' in data ? { status: data.status } : {}
    const direction = message ? { is_outbound: message.isOutbound } : {}
    return { ...ids, ...direction, ...status, updated_at: formatTime(at), deleted: true }
  }
  const record = toRecord(messageAt(event, message), account, groups.get(message.groupId ?? ''))
  if ('status' in data) return { ...record, ...ids, updated_at: record.date_updated }
  const { number, sendblue_number, is_outbound, group_id } = record
  return { ...ids, is_outbound, number, sendblue_number, group_id, ...wired(data) }
}

/** Names whose wire form differs in more than its spelling. */
const NAMES: Record<string, string> = {
  contact: 'number',
  lineNumber: 'sendblue_number',
  lineId: 'worker_id',
  handle: 'reaction_handle',
}

const TIME = /(At|Since|Until|^until)$/

function wired(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [NAMES[name] ?? snakeCase(name), wireValue(name, value)]),
  )
}

function wireValue(name: string, value: unknown): unknown {
  if (typeof value === 'number' && TIME.test(name)) return formatTime(value)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? wired(value) : value
}
