import { formatTime } from '../../base/time.js'
import type { Event } from '../../core/events/event.js'
import { messageAt } from '../../core/events/stream.js'
import { webhookIdOf } from '../../core/webhooks/webhook.js'
import type { RenderWebhook, Told } from '../../services/webhooks/fanout.js'
import { toRecord } from '../messages/wire.js'

/** Events as their receivers get them. */
export const renderWebhook: RenderWebhook = (told) => {
  const { event } = told
  switch (event.type) {
    case 'message.received':
    case 'message.created':
    case 'message.updated':
      return aboutMessage(told)
    case 'typing.changed':
      return typing(event)
    case 'call.inbound':
    case 'call.outbound':
      return call(event)
    case 'line.assigned':
    case 'line.blocked':
      return line(told)
    case 'contact.created':
      return contact(told)
    case 'contact_profile.completed':
    case 'contact_profile.failed':
      return profile(event)
    default:
      return undefined
  }
}

function aboutMessage({ event, message, group, account }: Told) {
  // Its account has removed it: nobody is told of it any more.
  if (!message || message.deletedAt !== null) return undefined
  const {
    account_email: _email,
    date_created: _created,
    row_id: _row,
    ...body
  } = toRecord(messageAt(event, message), account, group)
  return { body, lineNumber: message.lineNumber }
}

/** Here `from_number` is the line, against the sense it has in messages: existing receivers count on it. */
function typing({ at, data }: Event) {
  const { contact, lineNumber, isTyping } = data as {
    contact: string
    lineNumber: string
    isTyping: boolean
  }
  return {
    body: { number: contact, from_number: lineNumber, is_typing: isTyping, timestamp: formatTime(at) },
    lineNumber,
  }
}

function call({ type, data }: Event) {
  const inbound = type === 'call.inbound'
  return {
    body: { event_type: inbound ? 'inbound_call' : 'call_log', ...wireNames(data, ['createdAt', 'endedAt']) },
    lineNumber: (inbound ? data.toNumber : data.fromNumber) as string,
  }
}

function line({ event, account }: Told) {
  const { number, assignment } = event.data as { number: string; assignment?: string }
  const blocked = event.type === 'line.blocked'
  return {
    body: {
      event_type: blocked ? 'line_blocked' : 'line_assigned',
      event_id: webhookIdOf(event),
      accountEmail: account.email,
      worker_id: event.subject,
      number,
      sendblue_number: number,
      status: blocked ? 'BLOCKED' : 'ASSIGNED',
      ...(assignment ? { assignment } : {}),
      [blocked ? 'blocked_at' : 'assigned_at']: formatTime(event.at),
    },
    lineNumber: number,
  }
}

function contact({ event, account }: Told) {
  const { phone, firstName, lastName } = event.data as {
    phone: string
    firstName: string
    lastName: string
  }
  return {
    body: {
      event_type: 'contact_created',
      event_id: webhookIdOf(event),
      accountEmail: account.email,
      contact_id: event.subject,
      phone,
      first_name: firstName,
      last_name: lastName,
      created_at: formatTime(event.at),
    },
    lineNumber: null,
  }
}

function profile({ type, data }: Event) {
  return {
    body: { event_type: type, ...wireNames(data, ['requestedAt', 'observedAt']) },
    lineNumber: data.fromNumber as string,
  }
}

/** Fields as the wire writes them. `accountEmail` is the one that it writes in camel case. */
function wireNames(data: Record<string, unknown>, times: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name === 'accountEmail' ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      times.includes(name) && typeof value === 'number' ? formatTime(value) : value,
    ]),
  )
}
