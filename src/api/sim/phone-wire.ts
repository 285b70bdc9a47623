import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Phone, PhoneGroup, PhoneMessage } from '../../core/sim/phone.js'
import { given } from '../http/fields.js'
import { renderer } from '../http/render.js'
import { boolean, nullable, oneOf, optional, string, strings } from '../http/schemas.js'
import { LocationWire } from '../messages/wire-parts.js'
import { screenFields } from './phone-extras.js'

/** Virtual phones on the wire. */

const switches = {
  name: optional(string('Owner of the phone', { maxLength: 100 })),
  imessage: optional(boolean('Has iMessage')),
  rcs: optional(boolean('Has RCS')),
  power: optional(boolean('Is switched on')),
  read_receipts: optional(boolean('Sends read receipts')),
  refuses: optional(boolean('Refuses every message')),
  email: optional(
    nullable('string', 'Further iMessage address of the owner; null: none', {
      maxLength: 254,
      pattern: '^[^\\s@]+@[^\\s@]+$',
    }),
  ),
  auto_reply: optional(
    nullable(
      'string',
      'Auto-reply to every message outside groups; null: off. Loop protection applies as usual.',
      { minLength: 1, maxLength: 18_995 },
    ),
  ),
}
export const Switches = Type.Object(switches, { title: 'PhoneChanges' })
export const NewPhone = Type.Object({ ...switches, number: string('E.164') }, { title: 'NewPhone' })

export const PhoneWire = Type.Object(
  {
    number: string('E.164'),
    name: string('Owner of the phone'),
    imessage: boolean('Has iMessage'),
    rcs: boolean('Has RCS'),
    power: boolean('Is switched on'),
    read_receipts: boolean('Sends read receipts'),
    refuses: boolean('Refuses every message'),
    email: nullable('string', 'Further iMessage address of the owner'),
    auto_reply: nullable('string', 'Auto-reply; null: off'),
  },
  { title: 'Phone' },
)

export const Typing = strings('Lines that are typing to this phone right now')

export const PhoneMessageWire = Type.Object(
  {
    id: string("The network's id"),
    direction: oneOf(['in', 'out'], 'Seen from the phone'),
    line: string('The line that sent or receives it'),
    from: string('Sender: the line, this phone, or another phone of the group'),
    group: Type.Unsafe<{ id: string; name: string | null; members: string[] } | null>({
      type: ['object', 'null'],
      description: 'Group of the message; null outside groups',
      properties: {
        id: { type: 'string', description: "The network's id" },
        name: { type: ['string', 'null'], description: 'Name of the group' },
        members: {
          type: 'array',
          items: { type: 'string' },
          description: 'All members including the line',
        },
      },
    }),
    content: string('Text'),
    media_url: string('Attached media; empty when none'),
    send_style: string('Expressive style; empty when none'),
    service: string('iMessage, RCS or SMS'),
    reply_to: nullable('string', 'id of the message that it replies to'),
    reply_to_part: nullable('integer', 'Part of that message, if the reply names one'),
    ...screenFields,
    location_request: optional(boolean('true: a request to share the location; omitted otherwise')),
    location: optional(LocationWire),
    created_at: string('When it entered the network'),
    arrived_at: nullable('string', 'When it reached the recipient'),
    read_at: nullable('string', 'When the recipient read it'),
  },
  { title: 'PhoneMessage' },
)

export function switchesOf(body: Static<typeof Switches>): Partial<Phone> {
  const { read_receipts: readReceipts, auto_reply: autoReply, name, imessage, rcs, power, refuses } = body
  const email = body.email?.toLowerCase() ?? body.email
  return given({ name, imessage, rcs, power, readReceipts, refuses, email, autoReply })
}

export const phoneWire = renderer<Phone>()(PhoneWire, {})

export function phoneMessageWire(message: PhoneMessage, chat?: PhoneGroup) {
  const time = (at: number | null) => (at === null ? null : formatTime(at))
  return {
    id: message.providerId,
    direction: message.fromPhone ? 'out' : 'in',
    line: message.lineNumber,
    from: message.sender ?? (message.fromPhone ? message.phone : message.lineNumber),
    group: chat ? { id: chat.id, name: chat.name, members: [...chat.members, chat.lineNumber] } : null,
    content: message.content,
    media_url: message.mediaUrl,
    send_style: message.sendStyle,
    service: message.service,
    reply_to: message.replyTo,
    reply_to_part: message.replyToPart ?? null,
    ...(message.extra?.requestsLocation ? { location_request: true } : {}),
    ...(message.extra?.location ? { location: message.extra.location } : {}),
    created_at: formatTime(message.createdAt),
    // The phone shows the message when it is due, even if the network has not recorded its arrival yet.
    arrived_at: time(message.arrivedAt ?? (message.fromPhone ? null : message.dueAt)),
    read_at: time(message.readAt),
  }
}
