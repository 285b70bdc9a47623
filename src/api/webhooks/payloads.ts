import { formatTime } from '../../base/time.js'
import type { Event } from '../../core/events/event.js'
import { type MessageEvent, messageAt } from '../../core/events/message-events.js'
import type { RenderWebhook, WebhookSource } from '../../services/webhooks/fanout.js'
import { snakeCase } from '../http/render.js'
import { toRecord } from '../messages/wire.js'

/**
 * The bodies of webhook posts. Each says where its event stands in the account's log, so that a receiver can tell an
 * older state that arrives late from a newer one.
 */
export const renderWebhook: RenderWebhook = (source) => {
  const rendered = bodyOf(source)
  if (!rendered) return undefined
  const { seq, at } = source.event
  return { ...rendered, body: { ...rendered.body, event_seq: seq, occurred_at: formatTime(at) } }
}

function bodyOf(source: WebhookSource): ReturnType<RenderWebhook> {
  const { event } = source
  switch (event.type) {
    case 'message.received':
    case 'message.created':
    case 'message.updated':
      return aboutMessage(event, source)
    case 'typing.changed':
      return typing(event)
    case 'call.inbound':
      return call('inbound_call', event.data, event.data.toNumber)
    case 'call.outbound':
      return call('call_log', event.data, event.data.fromNumber)
    case 'line.assigned':
    case 'line.blocked':
      return line(event, source)
    case 'contact.created':
      return contact(event, source)
    case 'contact.opted_out':
    case 'contact.opted_in':
      return consent(event, source)
    case 'contact_profile.completed':
    case 'contact_profile.failed':
      return profile(event)
    default:
      // A compile error here means that an event of the table has no payload.
      return event satisfies never
  }
}

function aboutMessage(event: MessageEvent, { message, group, account }: WebhookSource) {
  // A deleted message has no further webhooks.
  if (!message || message.deletedAt !== null) return undefined
  const {
    account_email: _email,
    date_created: _created,
    row_id: _row,
    ...body
  } = toRecord(messageAt(event, message), account, group)
  return { body, lineNumber: message.lineNumber }
}

/** `from_number` is the line here, unlike in a message: existing receivers rely on that. */
function typing({ at, data }: Event<'typing.changed'>) {
  const { contact, lineNumber, isTyping } = data
  return {
    body: { number: contact, from_number: lineNumber, is_typing: isTyping, timestamp: formatTime(at) },
    lineNumber,
  }
}

function call(type: string, data: Event<'call.inbound' | 'call.outbound'>['data'], lineNumber: string) {
  return { body: { event_type: type, ...wireNames(data, ['createdAt', 'endedAt']) }, lineNumber }
}

function line(event: Event<'line.assigned' | 'line.blocked'>, { account, webhookId }: WebhookSource) {
  const { number, assignment } = event.data
  const blocked = event.type === 'line.blocked'
  return {
    body: {
      event_type: blocked ? 'line_blocked' : 'line_assigned',
      event_id: webhookId,
      accountEmail: account.email,
      worker_id: event.subject,
      number,
      sendblue_number: number,
      status: blocked ? 'BLOCKED' : 'ASSIGNED',
      assignment,
      [blocked ? 'blocked_at' : 'assigned_at']: formatTime(event.at),
    },
    lineNumber: number,
  }
}

function contact(event: Event<'contact.created'>, { account, webhookId }: WebhookSource) {
  const { phone, firstName, lastName } = event.data
  return {
    body: {
      event_type: 'contact_created',
      event_id: webhookId,
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

function consent(
  event: Event<'contact.opted_out' | 'contact.opted_in'>,
  { account, webhookId }: WebhookSource,
) {
  const { contact: number, lineNumber } = event.data
  return {
    body: {
      event_type: 'contact_consent',
      event_id: webhookId,
      accountEmail: account.email,
      number,
      sendblue_number: lineNumber,
      opted_out: event.type === 'contact.opted_out',
      changed_at: formatTime(event.at),
    },
    lineNumber,
  }
}

function profile({ type, data }: Event<'contact_profile.completed' | 'contact_profile.failed'>) {
  return {
    body: { event_type: type, ...wireNames(data, ['requestedAt', 'observedAt']) },
    lineNumber: data.fromNumber,
  }
}

/** Snake case except for `accountEmail`, which existing receivers expect in camel case. */
function wireNames(data: object, times: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name === 'accountEmail' ? name : snakeCase(name),
      times.includes(name) && typeof value === 'number' ? formatTime(value) : value,
    ]),
  )
}
