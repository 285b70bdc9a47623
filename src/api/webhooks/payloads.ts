import { formatTime } from '../../base/time.js'
import type { AlertEvent } from '../../core/alerts/alert.js'
import type { Event } from '../../core/events/event.js'
import { type MessageEvent, messageAt } from '../../core/events/message-events.js'
import type { RenderWebhook, WebhookSource } from '../../services/webhooks/fanout.js'
import { alertEventWire } from '../alerts/wire.js'
import { toRecord } from '../messages/wire.js'
import type {
  AlertPayload,
  Body,
  CallLogPayload,
  ConsentPayload,
  ContactCreatedPayload,
  InboundCallPayload,
  LineAssignedPayload,
  LineBlockedPayload,
  MessagePayload,
  ProfilePayload,
  TypingPayload,
} from './payload-wire.js'

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
      return inboundCall(event)
    case 'call.outbound':
      return outboundCall(event)
    case 'line.assigned':
    case 'line.blocked':
      return { body: line(event, source), lineNumber: event.data.number }
    case 'contact.created':
      return contact(event, source)
    case 'contact.opted_out':
    case 'contact.opted_in':
      return consent(event, source)
    case 'contact_profile.completed':
    case 'contact_profile.failed':
      return profile(event)
    case 'line.offline':
    case 'queue.age':
    case 'webhook.failing':
    case 'quota.near':
      return alert(event, source)
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
  return { body: body satisfies Body<typeof MessagePayload>, lineNumber: message.lineNumber }
}

/** `from_number` is the line here, unlike in a message: existing receivers rely on that. */
function typing({ at, data }: Event<'typing.changed'>) {
  const { contact, lineNumber, isTyping } = data
  const body: Body<typeof TypingPayload> = {
    number: contact,
    from_number: lineNumber,
    is_typing: isTyping,
    timestamp: formatTime(at),
  }
  return { body, lineNumber }
}

function inboundCall({ data }: Event<'call.inbound'>) {
  const body: Body<typeof InboundCallPayload> = {
    event_type: 'inbound_call',
    ...call(data),
    event_id: data.eventId,
    accountEmail: data.accountEmail,
    from_number: data.fromNumber,
    to_number: data.toNumber,
    forwarded_to: data.forwardedTo,
    answered: data.answered,
    ended_at: formatTime(data.endedAt),
  }
  return { body, lineNumber: data.toNumber }
}

function outboundCall({ data }: Event<'call.outbound'>) {
  const body: Body<typeof CallLogPayload> = {
    event_type: 'call_log',
    ...call(data),
    from_number: data.fromNumber,
    to_number: data.toNumber,
    contact_id: data.contactId,
    recording_url: data.recordingUrl,
    transcript: data.transcript,
    metadata: data.metadata,
    disposition: data.disposition,
    origin: data.origin,
    sent_by: data.sentBy,
  }
  return { body, lineNumber: data.fromNumber }
}

function call(data: Event<'call.inbound' | 'call.outbound'>['data']) {
  return {
    call_id: data.callId,
    direction: data.direction,
    status: data.status,
    duration: data.duration,
    provider: data.provider,
    company_id: data.companyId,
    created_at: formatTime(data.createdAt),
  }
}

function line(
  event: Event<'line.assigned' | 'line.blocked'>,
  { account, webhookId }: WebhookSource,
): Body<typeof LineAssignedPayload> | Body<typeof LineBlockedPayload> {
  const { number, assignment } = event.data
  const about = {
    event_id: webhookId,
    accountEmail: account.email,
    worker_id: event.subject,
    number,
    sendblue_number: number,
  }
  const at = formatTime(event.at)
  return event.type === 'line.blocked'
    ? { event_type: 'line_blocked', ...about, status: 'BLOCKED', assignment, blocked_at: at }
    : { event_type: 'line_assigned', ...about, status: 'ASSIGNED', assignment, assigned_at: at }
}

function contact(event: Event<'contact.created'>, { account, webhookId }: WebhookSource) {
  const { phone, firstName, lastName } = event.data
  const body: Body<typeof ContactCreatedPayload> = {
    event_type: 'contact_created',
    event_id: webhookId,
    accountEmail: account.email,
    contact_id: event.subject,
    phone,
    first_name: firstName,
    last_name: lastName,
    created_at: formatTime(event.at),
  }
  return { body, lineNumber: null }
}

function consent(
  event: Event<'contact.opted_out' | 'contact.opted_in'>,
  { account, webhookId }: WebhookSource,
) {
  const { contact: number, lineNumber } = event.data
  const body: Body<typeof ConsentPayload> = {
    event_type: 'contact_consent',
    event_id: webhookId,
    accountEmail: account.email,
    number,
    sendblue_number: lineNumber,
    opted_out: event.type === 'contact.opted_out',
    changed_at: formatTime(event.at),
  }
  return { body, lineNumber }
}

function profile({ type, data }: Event<'contact_profile.completed' | 'contact_profile.failed'>) {
  const body: Body<typeof ProfilePayload> = {
    event_type: type,
    event_id: data.eventId,
    request_id: data.requestId,
    operation_id: data.operationId,
    accountEmail: data.accountEmail,
    from_number: data.fromNumber,
    status: data.status,
    profile: data.profile,
    error_code: data.errorCode,
    error_message: data.errorMessage,
    requested_at: formatTime(data.requestedAt),
    observed_at: formatTime(data.observedAt),
  }
  return { body, lineNumber: data.fromNumber }
}

function alert(event: AlertEvent, { account, webhookId }: WebhookSource) {
  const body: Body<typeof AlertPayload> = {
    event_type: 'alert',
    event_id: webhookId,
    accountEmail: account.email,
    ...alertEventWire(event),
  }
  return { body, lineNumber: 'lineNumber' in event.data ? event.data.lineNumber : null }
}
