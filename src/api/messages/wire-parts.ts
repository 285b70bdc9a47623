import { type Static, Type } from 'typebox'
import { type ReplyTo, SEND_STYLES } from '../../core/messages/message.js'
import { integer, oneOf, optional, string } from '../http/schemas.js'

/** Parts of a message on the wire, each with its conversion. */

export const ReplyToWire = Type.Object(
  {
    message_handle: string('Handle of the message this one answers'),
    part_index: optional(integer('Known part of a multipart target; left out when no part is known')),
  },
  { description: 'Immediate parent of an inline reply; left out outside reply threads' },
)

export const LocationWire = Type.Object(
  {
    latitude: Type.Number({ description: 'Degrees' }),
    longitude: Type.Number({ description: 'Degrees' }),
    accuracy: optional(Type.Number({ description: 'Metres' })),
    altitude: optional(Type.Number({ description: 'Metres' })),
    duration: optional(string('How long the person shares')),
    timestamp: optional(string('When they were there, ISO 8601')),
  },
  { description: 'A shared place; only when message_type is location' },
)

export const ThreadOriginatorWire = Type.Object(
  {
    message_handle: string("Handle of the thread's first message"),
    part: string('Part of it that started the thread'),
    part_index: optional(integer('The same as a number, when it is known')),
  },
  { description: 'First message of the reply thread; left out outside reply threads' },
)

/** A caller's wish to answer a message. */
export const ReplyToInput = Type.Object(
  {
    message_handle: string(
      'A message of the same conversation on the same line. While it is scheduled, the reply needs a send_at that is not before its own.',
      { minLength: 1 },
    ),
    part_index: optional(integer('Known part of a multipart target', { minimum: 0, maximum: 10_000 })),
  },
  { description: 'Makes the message an inline reply' },
)

export function replyToOf(input: Static<typeof ReplyToInput> | undefined): ReplyTo | null {
  return input ? { handle: input.message_handle, partIndex: input.part_index ?? null } : null
}

export const SendStyleSchema = oneOf(SEND_STYLES, 'iMessage expressive style')

export function threadOriginatorWire({ handle, partIndex }: ReplyTo) {
  return { ...replyToWire({ handle, partIndex }), part: String(partIndex ?? 0) }
}

export function replyToWire(replyTo: ReplyTo) {
  return {
    message_handle: replyTo.handle,
    ...(replyTo.partIndex === null ? {} : { part_index: replyTo.partIndex }),
  }
}
