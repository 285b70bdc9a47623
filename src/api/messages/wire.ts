import { type Static, type TSchema, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { type Group, handlesOf } from '../../core/groups/group.js'
import type { MessageExtra } from '../../core/messages/extra.js'
import {
  type Message,
  type ReplyTo,
  responseStatus,
  SEND_STYLES,
  SERVICES,
  STATUSES,
} from '../../core/messages/message.js'
import { AppCardWire, appCardWire } from './app-card-wire.js'

/** Messages as they look on the wire. This is the only place that knows the wire's names for them. */

export const nullable = (type: 'string' | 'number' | 'boolean' | 'integer', description: string): TSchema =>
  Type.Unsafe({ type: [type, 'null'], description })

const ReplyToWire = Type.Object(
  {
    message_handle: Type.String({ description: 'Handle of the message this one answers' }),
    part_index: Type.Optional(
      Type.Integer({ description: 'Known part of a multipart target; left out when no part is known' }),
    ),
  },
  { description: 'Immediate parent of an inline reply; left out outside reply threads' },
)

export const LocationWire = Type.Object(
  {
    latitude: Type.Number({ description: 'Degrees' }),
    longitude: Type.Number({ description: 'Degrees' }),
    accuracy: Type.Optional(Type.Number({ description: 'Metres' })),
    altitude: Type.Optional(Type.Number({ description: 'Metres' })),
    duration: Type.Optional(Type.String({ description: 'How long the person shares' })),
    timestamp: Type.Optional(Type.String({ description: 'When they were there, ISO 8601' })),
  },
  { description: 'A shared place; only when message_type is location' },
)

const ThreadOriginatorWire = Type.Object(
  {
    message_handle: Type.String({ description: "Handle of the thread's first message" }),
    part: Type.String({ description: 'Part of it that started the thread' }),
    part_index: Type.Optional(Type.Integer({ description: 'The same as a number, when it is known' })),
  },
  { description: 'First message of the reply thread; left out outside reply threads' },
)

/** A caller's wish to answer a message. */
export const ReplyToInput = Type.Object(
  {
    message_handle: Type.String({
      minLength: 1,
      description:
        'A message of the same conversation on the same line. While it is scheduled, the reply needs a send_at that is not before its own.',
    }),
    part_index: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'Known part of a multipart target' }),
    ),
  },
  { description: 'Makes the message an inline reply' },
)

export function replyToOf(input: Static<typeof ReplyToInput> | undefined): ReplyTo | null {
  return input ? { handle: input.message_handle, partIndex: input.part_index ?? null } : null
}

const shared = {
  accountEmail: Type.String({ description: 'Account identifier' }),
  account_email: Type.String({ description: 'Account identifier (newer spelling)' }),
  content: Type.String({ description: 'Message text; empty when there is only media' }),
  date_created: Type.String({ description: 'When it was accepted or stored, ISO 8601' }),
  date_sent: Type.String({
    description: 'When it was handed to the carrier, or accepted as long as it was not',
  }),
  date_updated: Type.String({ description: 'When its status last changed' }),
  error_code: nullable('integer', 'Numeric code when failed'),
  error_message: nullable('string', 'What went wrong'),
  error_reason: nullable('string', 'Machine-readable reason'),
  error_detail: nullable('string', "The carrier's own code and words"),
  from_number: Type.String({ description: 'Sender' }),
  to_number: Type.String({ description: 'Recipient; of a message to a group, all with commas between them' }),
  number: Type.String({
    description:
      'The other side: recipient when outbound (of a message to a group all, with commas between them), sender when inbound',
  }),
  sendblue_number: Type.String({ description: 'The line' }),
  group_id: Type.String({ description: 'Group id; empty outside groups' }),
  group_display_name: nullable('string', 'Group name, empty when it has none; null outside groups'),
  participants: Type.Array(Type.String(), {
    description: 'Everyone in the conversation, of a group as it is now, the line among them',
  }),
  is_outbound: Type.Boolean({ description: 'Direction' }),
  media_url: Type.String({ description: 'Attached media; empty when none' }),
  message_handle: Type.String({ description: 'Unique identifier of the message' }),
  message_type: Type.String({ description: 'message, group, location or carousel' }),
  opted_out: Type.Boolean({ description: 'The recipient opted out' }),
  plan: Type.String({ description: 'Plan of the account' }),
  send_style: Type.String({ description: 'Expressive style; empty when none' }),
  service: Type.Unsafe<string>({
    type: 'string',
    enum: [...SERVICES],
    description: 'Service used, or to be tried first',
  }),
  was_downgraded: nullable('boolean', 'true when the recipient lacks iMessage; null while unknown'),
  reply_to: Type.Optional(ReplyToWire),
  location: Type.Optional(LocationWire),
  partial: Type.Optional(
    Type.Object(
      {
        received: Type.Array(Type.Integer(), { description: 'Parts that came, counted from 1' }),
        expected: Type.Integer({ description: 'How many there should be' }),
      },
      { description: 'Of a long text whose other parts did not come' },
    ),
  ),
  thread_originator: Type.Optional(ThreadOriginatorWire),
  app_card: Type.Optional(AppCardWire),
  media_urls: Type.Optional(
    Type.Array(Type.String(), { description: 'All images of a carousel; media_url is the first' }),
  ),
  metadata: Type.Optional(Type.Unknown({ description: "The sender's own JSON about a carousel" })),
  send_at: Type.Optional(
    Type.String({ description: 'When its sender wanted it sent, ISO 8601; left out for those sent at once' }),
  ),
  seat_id: nullable('string', 'Seat that sent it'),
  sender_email: nullable('string', "The seat's e-mail address"),
}

export const MessageRecord = Type.Object({
  ...shared,
  row_id: nullable('string', 'Kept for older clients; always null'),
  status: Type.Unsafe<string>({ type: 'string', enum: [...STATUSES], description: 'Status' }),
})

export const MessageResponse = Type.Object({
  ...shared,
  status: Type.Unsafe<string>({
    type: 'string',
    enum: ['QUEUED', 'SENT', 'DELIVERED', 'ERROR', 'RECEIVED'],
    description: 'Status, in the four values of an answer (RECEIVED for inbound messages)',
  }),
})

const recipients = Type.Array(Type.String(), { description: 'Everyone it is sent to' })

/** The answer to a send to a group: there the two numbers are lists. */
export const GroupMessageResponse = Type.Object({
  ...MessageResponse.properties,
  number: recipients,
  to_number: recipients,
})

const either = (description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String())], { description: `${description}; in a group a list` })

/** An answer about a message that may be either. */
export const AnyMessageResponse = Type.Object({
  ...MessageResponse.properties,
  number: either('The other side: recipient when outbound, sender when inbound'),
  to_number: either('Recipient'),
})

export const SendStyleSchema = Type.Unsafe<string>({
  type: 'string',
  enum: [...SEND_STYLES],
  description: 'iMessage expressive style',
})

type Rendered = Omit<Message, 'id'>

/**
 * A record, in lists and reports. The group of a message in one must be given. Numbers are texts here, as
 * clients of lists expect: of an outbound message to a group, all recipients with commas between them.
 */
export function toRecord(message: Rendered, account: Account, group?: Group) {
  const { contact, lineNumber } = message
  if (!group) return render(message, account, message.status, contact, [contact, lineNumber])
  const people = handlesOf(group)
  const number = message.isOutbound ? people.join(',') : contact
  return {
    ...render(message, account, message.status, number, [...people, lineNumber]),
    group_display_name: group.name ?? '',
  }
}

export function toResponse(message: Rendered, account: Account) {
  return render(message, account, responseStatus(message.status), message.contact, [])
}

/** The same for a message in a group: its recipients are a list. */
export function toGroupResponse(message: Rendered, account: Account, group: Group) {
  const people = handlesOf(group)
  const rendered = render(message, account, responseStatus(message.status), message.contact, [
    ...people,
    message.lineNumber,
  ])
  const recipients = message.isOutbound ? { number: people, to_number: people } : {}
  return { ...rendered, ...recipients, group_display_name: group.name ?? '' }
}

function render(
  message: Rendered,
  account: Account,
  status: string,
  contact: string,
  participants: string[],
) {
  const { lineNumber, error } = message
  const rendered: Static<typeof MessageRecord> = {
    accountEmail: account.email,
    account_email: account.email,
    content: message.content,
    date_created: formatTime(message.createdAt),
    date_sent: formatTime(message.sentAt),
    date_updated: formatTime(message.updatedAt),
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    error_reason: error?.reason ?? null,
    error_detail: error?.detail ?? null,
    from_number: message.isOutbound ? lineNumber : contact,
    to_number: message.isOutbound ? contact : lineNumber,
    number: contact,
    sendblue_number: lineNumber,
    group_id: message.groupId ?? '',
    group_display_name: null,
    participants,
    is_outbound: message.isOutbound,
    media_url: message.mediaUrl,
    message_handle: message.handle,
    message_type: message.type,
    opted_out: message.optedOut,
    plan: account.plan,
    row_id: null,
    send_style: message.sendStyle,
    service: message.service,
    status,
    was_downgraded: message.wasDowngraded,
    seat_id: message.seatId,
    sender_email: message.senderEmail,
  }
  if (message.replyTo) rendered.reply_to = replyToWire(message.replyTo)
  if (message.extra) addExtra(rendered, message.extra)
  return rendered
}

function addExtra(rendered: Static<typeof MessageRecord>, extra: MessageExtra): void {
  const { threadOriginator, appCard, mediaUrls, metadata, location, partial, sendAt } = extra
  if (location) rendered.location = location
  if (partial) rendered.partial = partial
  if (threadOriginator) {
    const { handle, partIndex } = threadOriginator
    rendered.thread_originator = {
      ...replyToWire({ handle, partIndex }),
      part: String(partIndex ?? 0),
    }
  }
  if (appCard) rendered.app_card = appCardWire(appCard)
  if (mediaUrls) rendered.media_urls = mediaUrls
  if (sendAt !== undefined) rendered.send_at = formatTime(sendAt)
  if (metadata !== undefined) rendered.metadata = metadata
}

function replyToWire(replyTo: ReplyTo) {
  return {
    message_handle: replyTo.handle,
    ...(replyTo.partIndex === null ? {} : { part_index: replyTo.partIndex }),
  }
}
