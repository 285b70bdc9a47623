import { type Static, Type } from 'typebox'
import type { ReplyTo } from '../../core/messages/message.js'
import { SEND_STYLES } from '../../core/messages/send-style.js'
import { integer, oneOf, optional, string } from '../http/schemas.js'

/** Parts of a message on the wire, each with its conversion. */

export const ReplyToWire = Type.Object(
  {
    message_handle: string('Handle of the message that this one replies to'),
    part_index: optional(integer('Part of a multipart message; omitted when unknown')),
  },
  { title: 'ReplyTo', description: 'The message that this one replies to; omitted outside reply threads' },
)

export const LocationWire = Type.Object(
  {
    latitude: Type.Number({ description: 'Degrees' }),
    longitude: Type.Number({ description: 'Degrees' }),
    accuracy: optional(Type.Number({ description: 'Metres' })),
    altitude: optional(Type.Number({ description: 'Metres' })),
    duration: optional(string('How long the person shares the location')),
    timestamp: optional(string('When the person was there, ISO 8601')),
  },
  { title: 'SharedLocation', description: 'A shared location; only when message_type is location' },
)

export const ThreadOriginatorWire = Type.Object(
  {
    message_handle: string("Handle of the thread's first message"),
    part: string('Part of that message'),
    part_index: optional(integer('Part of that message as a number, when known')),
  },
  {
    title: 'ThreadOriginator',
    description: 'First message of the reply thread; omitted outside reply threads',
  },
)

/** The message to reply to. */
export const ReplyToInput = Type.Object(
  {
    message_handle: string(
      'A message of the same conversation on the same line. A reply to a scheduled message needs a send_at that is not earlier.',
      { minLength: 1 },
    ),
    part_index: optional(integer('Part of a multipart message', { minimum: 0, maximum: 10_000 })),
  },
  { title: 'NewReplyTo', description: 'Sends the message as an inline reply' },
)

export function replyToOf(input: Static<typeof ReplyToInput> | undefined): ReplyTo | null {
  return input ? { handle: input.message_handle, partIndex: input.part_index ?? null } : null
}

export const SendStyleSchema = oneOf(
  SEND_STYLES,
  'iMessage expressive style; regular or an empty text means none',
)

export function threadOriginatorWire({ handle, partIndex }: ReplyTo) {
  return { ...replyToWire({ handle, partIndex }), part: String(partIndex ?? 0) }
}

export function replyToWire(replyTo: ReplyTo) {
  return {
    message_handle: replyTo.handle,
    ...(replyTo.partIndex === null ? {} : { part_index: replyTo.partIndex }),
  }
}
