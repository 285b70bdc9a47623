import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import type { WebhookType } from '../../core/webhooks/types.js'
import { ALERT_FIELDS } from '../alerts/wire.js'
import { boolean, integer, nullable, oneOf, string } from '../http/schemas.js'
import { ProfileWire } from '../lines/contact-sharing.js'
import { MessageRecord } from '../messages/wire.js'

/** The bodies of webhook posts. `payloads.ts` makes them, and the compiler compares the two. */

/** Where the event stands in the account's log. */
const place = {
  event_seq: integer('Sequence number of the event in the account; a newer state has a higher one'),
  occurred_at: string('When the event happened, ISO 8601'),
}

/** A body without its place in the log. */
export type Body<S extends TSchema> = Omit<Static<S>, keyof typeof place>

const payload = <P extends TProperties>(title: string, fields: P) =>
  Type.Object({ ...fields, ...place }, { title })

const event = (name: string) => oneOf([name], name)
const event_id = string('Id of the event, the same in every attempt')
const accountEmail = string('Account identifier')

const { account_email: _email, date_created: _created, row_id: _row, ...message } = MessageRecord.properties
export const MessagePayload = payload('MessageWebhook', message)

export const TypingPayload = payload('TypingWebhook', {
  number: string('The contact'),
  from_number: string('The line, unlike in a message'),
  is_typing: boolean('Whether the contact types now'),
  timestamp: string('When it changed, ISO 8601'),
})

const call = {
  call_id: string('The call'),
  direction: oneOf(['inbound', 'outbound'], 'Direction'),
  status: nullable('string', 'COMPLETED, NO_ANSWER, BUSY, FAILED or CANCELLED'),
  duration: nullable('integer', 'Seconds; null for a call that was not answered'),
  company_id: string('Id of the company of the account'),
  created_at: string('When the call began, ISO 8601'),
}
export const InboundCallPayload = payload('InboundCallWebhook', {
  event_type: event('inbound_call'),
  ...call,
  provider: oneOf(['twilio', 'telnyx'], 'telnyx for a line at Telnyx, twilio for any other'),
  event_id,
  accountEmail,
  from_number: string('The caller'),
  to_number: string('The line'),
  forwarded_to: nullable('string', 'The number that the call was forwarded to'),
  answered: boolean('Whether the call was answered'),
  ended_at: string('When the call ended, ISO 8601'),
})
export const CallLogPayload = payload('CallLogWebhook', {
  event_type: event('call_log'),
  ...call,
  provider: oneOf(['twilio'], 'Always twilio, which clients know'),
  from_number: string('The line'),
  to_number: string('The person'),
  contact_id: nullable('string', 'The contact with this number, if there is one'),
  recording_url: nullable('string', 'Always null: calls are not recorded'),
  transcript: nullable('string', 'Always null: calls are not recorded'),
  metadata: Type.Object({}, { description: 'Always empty' }),
  disposition: oneOf(['not_answered', 'voicemail', 'connected'], 'Who answered'),
  origin: oneOf(['DASHBOARD'], 'Where the call was placed'),
  sent_by: nullable('string', 'The seat that called'),
})

const line = {
  event_id,
  accountEmail,
  worker_id: string('Id of the line'),
  number: string('The line'),
  sendblue_number: string('The line'),
  assignment: oneOf(['assigned', 'shared'], 'Whether the line is dedicated or shared'),
}
export const LineBlockedPayload = payload('LineBlockedWebhook', {
  event_type: event('line_blocked'),
  ...line,
  status: oneOf(['BLOCKED'], 'BLOCKED'),
  blocked_at: string('When the line was blocked, ISO 8601'),
})
export const LineAssignedPayload = payload('LineAssignedWebhook', {
  event_type: event('line_assigned'),
  ...line,
  status: oneOf(['ASSIGNED'], 'ASSIGNED'),
  assigned_at: string('When the line was assigned, ISO 8601'),
})

export const ContactCreatedPayload = payload('ContactCreatedWebhook', {
  event_type: event('contact_created'),
  event_id,
  accountEmail,
  contact_id: string('The contact'),
  phone: string('Phone number'),
  first_name: string('First name; empty when unknown'),
  last_name: string('Last name; empty when unknown'),
  created_at: string('When the contact was created, ISO 8601'),
})

export const ConsentPayload = payload('ContactConsentWebhook', {
  event_type: event('contact_consent'),
  event_id,
  accountEmail,
  number: string('The person'),
  sendblue_number: string('The line that the person wrote to'),
  opted_out: boolean('true after STOP, false after START'),
  changed_at: string('When it changed, ISO 8601'),
})

export const ProfilePayload = payload('ContactProfileWebhook', {
  event_type: oneOf(['contact_profile.completed', 'contact_profile.failed'], 'What happened'),
  event_id,
  request_id: string('The request, as its answer named it'),
  operation_id: nullable('string', "The carrier's id of the change"),
  accountEmail,
  from_number: string('The line'),
  status: oneOf(['completed', 'failed'], 'What happened'),
  profile: Type.Union([ProfileWire, Type.Null()], {
    description: 'The new name and photo; null after a failure',
  }),
  error_code: nullable('string', 'Why it failed, for programs'),
  error_message: nullable('string', 'Why it failed'),
  requested_at: string('When the change was requested, ISO 8601'),
  observed_at: string('When it ended, ISO 8601'),
})

export const AlertPayload = payload('AlertWebhook', {
  event_type: event('alert'),
  event_id,
  accountEmail,
  ...ALERT_FIELDS,
})

/** The body of each type of webhook. */
export const PAYLOADS: Readonly<Record<WebhookType, TSchema>> = {
  receive: MessagePayload,
  outbound: MessagePayload,
  typing_indicator: TypingPayload,
  call_log: CallLogPayload,
  inbound_call: InboundCallPayload,
  line_blocked: LineBlockedPayload,
  line_assigned: LineAssignedPayload,
  contact_profile: ProfilePayload,
  contact_created: ContactCreatedPayload,
  contact_consent: ConsentPayload,
  alert: AlertPayload,
}
