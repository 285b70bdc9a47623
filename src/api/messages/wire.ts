import { type Static, type TSchema, Type } from 'typebox'
import { compile } from '../../base/compile.js'
import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { type Group, handlesOf } from '../../core/groups/group.js'
import { type NewMessage, responseStatus, SERVICES, STATUSES } from '../../core/messages/message.js'
import { boolean, integer, nullable, oneOf, optional, string, strings } from '../http/schemas.js'
import { AppCardWire, appCardWire } from './app-card-wire.js'
import {
  LocationWire,
  ReplyToWire,
  replyToWire,
  ThreadOriginatorWire,
  threadOriginatorWire,
} from './wire-parts.js'

/** Messages on the wire. Only this file has the wire names of their fields. */

/** The source of a record. */
interface View {
  message: NewMessage
  account: Account
  /** In the form of this record. */
  status: string
  /** The contact, or the recipients of a message to a group. */
  contact: string
  participants: string[]
  groupName: string | null
}

interface WireField<S extends TSchema = TSchema> {
  schema: S
  of(view: View): Static<S> | undefined
}

const field = <S extends TSchema>(schema: S, of: WireField<S>['of']): WireField<S> => ({ schema, of })

/** Every field of a message on the wire: its schema and its value. An optional field without a value is omitted. */
const FIELDS = {
  accountEmail: field(string('Account identifier'), ({ account }) => account.email),
  account_email: field(string('Account identifier (newer spelling)'), ({ account }) => account.email),
  content: field(string('Message text; empty when there is only media'), ({ message }) => message.content),
  date_created: field(string('When it was accepted or stored, ISO 8601'), ({ message }) =>
    formatTime(message.createdAt),
  ),
  date_sent: field(string('When the carrier got it; until then, when it was accepted'), ({ message }) =>
    formatTime(message.sentAt),
  ),
  date_updated: field(string('When its status last changed'), ({ message }) => formatTime(message.updatedAt)),
  error_code: field(nullable('integer', 'Numeric code when failed'), (v) => v.message.error?.code ?? null),
  error_message: field(nullable('string', 'What went wrong'), (v) => v.message.error?.message ?? null),
  error_reason: field(nullable('string', 'Machine-readable reason'), (v) => v.message.error?.reason ?? null),
  error_detail: field(
    nullable('string', 'Code and text from the carrier'),
    (v) => v.message.error?.detail ?? null,
  ),
  from_number: field(string('Sender'), ({ message, contact }) =>
    message.isOutbound ? message.lineNumber : contact,
  ),
  to_number: field(
    string('Recipient; for a message to a group, all recipients separated by commas'),
    ({ message, contact }) => (message.isOutbound ? contact : message.lineNumber),
  ),
  number: field(
    string(
      'The contact: recipient when outbound (for a group all recipients, separated by commas), sender when inbound',
    ),
    ({ contact }) => contact,
  ),
  sendblue_number: field(string('The line'), ({ message }) => message.lineNumber),
  group_id: field(string('Group id; empty outside groups'), ({ message }) => message.groupId ?? ''),
  group_display_name: field(
    nullable('string', 'Group name, empty when it has none; null outside groups'),
    ({ groupName }) => groupName,
  ),
  participants: field(
    strings('Everyone in the conversation including the line; for a group, its current members'),
    ({ participants }) => participants,
  ),
  is_outbound: field(boolean('Direction'), ({ message }) => message.isOutbound),
  media_url: field(string('Attached media; empty when none'), ({ message }) => message.mediaUrl),
  message_handle: field(string('Unique identifier of the message'), ({ message }) => message.handle),
  message_type: field(string('message, group, location or carousel'), ({ message }) => message.type),
  opted_out: field(boolean('The recipient opted out'), (v) => v.message.optedOut),
  plan: field(string('Plan of the account'), ({ account }) => account.plan),
  send_style: field(string('Expressive style; empty when none'), ({ message }) => wireStyle(message)),
  service: field(oneOf(SERVICES, 'Service used, or to try first'), ({ message }) => message.service),
  was_downgraded: field(
    nullable(
      'boolean',
      'true when the recipient lacks iMessage, or RCS on a line without iMessage; null while unknown',
    ),
    ({ message }) => message.wasDowngraded,
  ),
  reply_to: field(optional(ReplyToWire), ({ message: { replyTo } }) =>
    replyTo ? replyToWire(replyTo) : undefined,
  ),
  location: field(optional(LocationWire), ({ message }) => message.extra?.location),
  partial: field(
    optional(
      Type.Object(
        {
          received: Type.Array(Type.Integer(), { description: 'Parts that arrived, counted from 1' }),
          expected: integer('Number of parts'),
        },
        { title: 'PartialText', description: 'Only for a long text of which some parts did not arrive' },
      ),
    ),
    ({ message }) => message.extra?.partial,
  ),
  thread_originator: field(optional(ThreadOriginatorWire), ({ message: { extra } }) =>
    extra?.threadOriginator ? threadOriginatorWire(extra.threadOriginator) : undefined,
  ),
  app_card: field(optional(AppCardWire), ({ message: { extra } }) =>
    extra?.appCard ? appCardWire(extra.appCard) : undefined,
  ),
  media_urls: field(
    optional(strings('All images of a carousel; media_url is the first')),
    ({ message }) => message.extra?.mediaUrls,
  ),
  metadata: field(
    optional(Type.Unknown({ description: 'Your own JSON, as given when sending a carousel' })),
    ({ message }) => message.extra?.metadata,
  ),
  send_at: field(
    optional(string('Scheduled send time, ISO 8601; omitted for messages sent immediately')),
    ({ message: { extra } }) => (extra?.sendAt === undefined ? undefined : formatTime(extra.sendAt)),
  ),
  seat_id: field(nullable('string', 'Seat that sent it'), ({ message }) => message.seatId),
  sender_email: field(nullable('string', "The seat's e-mail address"), ({ message }) => message.senderEmail),
}

type Schemas = { [K in keyof typeof FIELDS]: (typeof FIELDS)[K]['schema'] }
const shared = Object.fromEntries(
  Object.entries(FIELDS).map(([name, { schema }]) => [name, schema]),
) as unknown as Schemas

export const MessageRecord = Type.Object(
  {
    ...shared,
    row_id: nullable('string', 'Kept for older clients; always null'),
    status: oneOf(STATUSES, 'Status'),
  },
  { title: 'Message' },
)

export const MessageResponse = Type.Object(
  {
    ...shared,
    status: oneOf(
      ['QUEUED', 'SENT', 'DELIVERED', 'ERROR'],
      'Status, reduced to four values; DELIVERED for inbound messages',
    ),
  },
  { title: 'SentMessage' },
)

const recipients = strings('All recipients')

/** The answer to a send to a group, in which both numbers are lists. */
export const GroupMessageResponse = Type.Object(
  {
    ...MessageResponse.properties,
    number: recipients,
    to_number: recipients,
  },
  { title: 'SentGroupMessage' },
)

const either = (description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String())], { description: `${description}; in a group a list` })

/** An answer about a message inside or outside a group. */
export const AnyMessageResponse = Type.Object(
  {
    ...MessageResponse.properties,
    number: either('The other side: recipient when outbound, sender when inbound'),
    to_number: either('Recipient'),
  },
  { title: 'MessageStatus' },
)

/**
 * The record of a message, in lists and events. A message in a group needs its group. Numbers are texts, as clients of
 * lists expect: for an outbound message to a group, all recipients separated by commas.
 */
export function toRecord(message: NewMessage, account: Account, group?: Group) {
  const { contact, lineNumber, status } = message
  const people = group ? handlesOf(group) : [contact]
  return render({
    message,
    account,
    status,
    contact: group && message.isOutbound ? people.join(',') : contact,
    participants: [...people, lineNumber],
    groupName: group ? (group.name ?? '') : null,
  })
}

/** The record on Trunkline's own routes, which also shows the style of an inbound message. */
export function toOwnRecord(message: NewMessage, account: Account, group?: Group) {
  return { ...toRecord(message, account, group), send_style: message.sendStyle }
}

/** The interface reports no styles of inbound messages, and existing clients compare with an empty text. */
export function wireStyle({ isOutbound, sendStyle }: NewMessage): string {
  return isOutbound ? sendStyle : ''
}

export function toResponse(message: NewMessage, account: Account) {
  const { contact, status } = message
  return render({
    message,
    account,
    status: responseStatus(status),
    contact,
    participants: [],
    groupName: null,
  })
}

/** The answer about a message in a group, with its recipients as a list. */
export function toGroupResponse(message: NewMessage, account: Account, group: Group) {
  const people = handlesOf(group)
  const rendered = render({
    message,
    account,
    status: responseStatus(message.status),
    contact: message.contact,
    participants: [...people, message.lineNumber],
    groupName: group.name ?? '',
  })
  return message.isOutbound ? { ...rendered, number: people, to_number: people } : rendered
}

const render: (view: View) => Static<typeof MessageRecord> = compile<
  (fields: typeof FIELDS) => (view: View) => Static<typeof MessageRecord>
>(
  ['fields'],
  `const { ${Object.keys(FIELDS).join(', ')} } = fields
  return (view) => ({
    status: view.status,
    row_id: null,
    ${Object.keys(FIELDS).map((name) => `${name}: ${name}.of(view)`)},
  })`,
)(FIELDS)
