import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import type { Event } from '../../core/events/event.js'
import { eventId, type Gap, isAboutMessage, messageAt } from '../../core/events/stream.js'
import type { EventSubjects } from '../../services/events/subjects.js'
import { toRecord } from '../messages/wire.js'

/** Events as the stream shows them. */

export const EventWire = Type.Object({
  version: Type.Integer({ description: 'Of this envelope: 1' }),
  id: Type.String({
    description: 'The same whenever and wherever the event is shown; tell repeats by it',
  }),
  type: Type.String({ description: 'What happened' }),
  occurred_at: Type.String({ description: 'When, ISO 8601' }),
  data: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description:
      'Of message.*: message_id and the fields of the message record as they were then. typing.changed: number, is_typing. line.*: worker_id, sendblue_number, status, assignment and times. contact.created: contact_id, phone, first_name, last_name, created_at. verification.*: verification_sid, status. recovery.gap: from, to',
  }),
})

export function envelope(event: Event, subjects: EventSubjects, account: Account) {
  return {
    version: 1,
    id: eventId(event),
    type: event.type,
    occurred_at: formatTime(event.at),
    data: dataOf(event, subjects, account),
  }
}

/** Says that events with these numbers are gone; the numbers are those of the stream's ids. */
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
  const { subject, data } = event
  if (isAboutMessage(event)) return messageData(event, subjects, account)
  switch (event.type.split('.')[0]) {
    case 'line':
      return lineData(event)
    case 'contact':
      return { contact_id: subject, ...wired(data), created_at: formatTime(event.at) }
    case 'verification':
      return { verification_sid: subject, ...wired(data), updated_at: formatTime(event.at) }
    case 'group':
      return { group_id: subject, ...wired(data) }
    default:
      return wired(data)
  }
}

function messageData(event: Event, { messages, groups }: EventSubjects, account: Account): object {
  const { subject, data, at } = event
  const message = messages.get(subject)
  const ids = { message_id: subject, message_handle: subject }
  // Whoever follows must be able to go on, but what was deleted is gone: not even the people are named.
  if (!message || message.deletedAt !== null) {
    const status = typeof data.status === 'string' ? { status: data.status } : {}
    const direction = message ? { is_outbound: message.isOutbound } : {}
    return { ...ids, ...direction, ...status, updated_at: formatTime(at), deleted: true }
  }
  const record = toRecord(messageAt(event, message), account, groups.get(message.groupId ?? ''))
  if (data.status !== undefined) return { ...record, ...ids, updated_at: record.date_updated }
  const { number, sendblue_number, is_outbound, group_id } = record
  return { ...ids, is_outbound, number, sendblue_number, group_id, ...wired(data) }
}

function lineData({ subject, data }: Event): object {
  const { number, ...rest } = data
  return { worker_id: subject, sendblue_number: number, ...wired(rest) }
}

/** Names that differ in more than their spelling. */
const NAMES: Record<string, string> = {
  contact: 'number',
  lineNumber: 'sendblue_number',
  lineId: 'worker_id',
  handle: 'reaction_handle',
}

const TIME = /(At|Since|Until)$/

function wired(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [NAMES[name] ?? snakeCase(name), wireValue(name, value)]),
  )
}

function wireValue(name: string, value: unknown): unknown {
  if (typeof value === 'number' && TIME.test(name)) return formatTime(value)
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isPlain ? wired(value as Record<string, unknown>) : value
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
