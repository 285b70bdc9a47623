import { type Static, Type } from 'typebox'
import { type ReplyTo, SEND_STYLES } from '../../core/messages/message.js'

/** Parts of a message on the wire, each with its conversion. */

export const ReplyToWire = Type.Object(
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

export const ThreadOriginatorWire = Type.Object(
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

export const SendStyleSchema = Type.Unsafe<string>({
  type: 'string',
  enum: [...SEND_STYLES],
  description: 'iMessage expressive style',
})

export function threadOriginatorWire({ handle, partIndex }: ReplyTo) {
  return { ...replyToWire({ handle, partIndex }), part: String(partIndex ?? 0) }
}

export function replyToWire(replyTo: ReplyTo) {
  return {
    message_handle: replyTo.handle,
    ...(replyTo.partIndex === null ? {} : { part_index: replyTo.partIndex }),
  }
}
