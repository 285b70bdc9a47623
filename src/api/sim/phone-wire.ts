import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Phone, PhoneGroup, PhoneMessage } from '../../core/sim/phone.js'
import { given } from '../http/fields.js'
import { renderer } from '../http/render.js'
import { boolean, nullable, oneOf, optional, string, strings } from '../http/schemas.js'
import { LocationWire } from '../messages/wire-parts.js'
import { screenFields } from './phone-extras.js'

/** Virtual phones as they look on the wire. */

const switches = {
  name: optional(string('Whose phone it is', { maxLength: 100 })),
  imessage: optional(boolean('Has iMessage')),
  rcs: optional(boolean('Has RCS')),
  power: optional(boolean('Is switched on')),
  read_receipts: optional(boolean('Tells senders that it read')),
  refuses: optional(boolean('Refuses everything')),
  email: optional(
    nullable('string', 'An address its owner is also reached at by iMessage; null: none', {
      maxLength: 254,
      pattern: '^[^\\s@]+@[^\\s@]+$',
    }),
  ),
  auto_reply: optional(
    nullable(
      'string',
      'Text it answers with, once to every message it gets, never in groups; null: none. Two programs that answer each other are stopped as always.',
      { minLength: 1, maxLength: 18_995 },
    ),
  ),
}
export const Switches = Type.Object(switches)
export const NewPhone = Type.Object({
  ...switches,
  number: string('E.164'),
})

export const PhoneWire = Type.Object({
  number: string('E.164'),
  name: string('Whose phone it is'),
  imessage: boolean('Has iMessage'),
  rcs: boolean('Has RCS'),
  power: boolean('Is switched on'),
  read_receipts: boolean('Tells senders that it read'),
  refuses: boolean('Refuses everything'),
  email: nullable('string', 'An address its owner is also reached at by iMessage'),
  auto_reply: nullable('string', 'Text it answers with by itself; null: none'),
})

export const Typing = strings('Lines that are typing to this phone right now')

export const PhoneMessageWire = Type.Object({
  id: string("The network's id"),
  direction: oneOf(['in', 'out'], 'Seen from the phone'),
  line: string('The line it came from or goes to'),
  from: string('Who wrote it: the line, this phone, or another phone of the group'),
  group: Type.Unsafe<{ id: string; name: string | null; members: string[] } | null>({
    type: ['object', 'null'],
    description: 'The group chat it is in; null for an ordinary message',
    properties: {
      id: { type: 'string', description: "The network's id" },
      name: { type: ['string', 'null'], description: 'What the phones call it' },
      members: {
        type: 'array',
        items: { type: 'string' },
        description: 'Everyone in it, the line among them',
      },
    },
  }),
  content: string('Text'),
  media_url: string('Attached media; empty when none'),
  send_style: string('Expressive style; empty when none'),
  service: string('iMessage, RCS or SMS'),
  reply_to: nullable('string', 'id of the message it answers'),
  reply_to_part: nullable('integer', 'Part of that message, when the reply says so'),
  ...screenFields,
  location_request: optional(boolean('true: it asks the person to share their place; left out otherwise')),
  location: optional(LocationWire),
  created_at: string('When it entered the network'),
  arrived_at: nullable('string', 'When it reached the other side'),
  read_at: nullable('string', 'When it was read: on the phone, or, when it came from the phone, by the line'),
})

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
    // On the screen, though the network's books may not say so yet.
    arrived_at: time(message.arrivedAt ?? (message.fromPhone ? null : message.dueAt)),
    read_at: time(message.readAt),
  }
}
