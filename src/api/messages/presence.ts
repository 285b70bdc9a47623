import { Type } from 'typebox'
import type { Ctx } from '../../services/ctx.js'
import { markRead, sendReaction, sendTyping } from '../../services/messages/presence.js'
import { actorOf } from '../http/auth.js'
import { requirePhone } from '../http/fields.js'
import { actOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, oneOf, optional, string } from '../http/schemas.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines', unaudited: 'message' })

const number = string('The contact, E.164')
const line = string('The line, E.164')
const LINE_ALIASES = ['fromNumber', 'from', 'sendblue_number'] as const
const NUMBER_ALIASES = ['recipient', 'to', 'to_number'] as const

const ReactionBody = Type.Object(
  {
    from_number: line,
    message_handle: string('Handle of an inbound or outbound message', { minLength: 1 }),
    reaction: string(
      'love, like, dislike, laugh, emphasize, question or exactly one emoji; a leading - removes the reaction',
      { examples: ['love', '-love', '🎉'] },
    ),
    part_index: optional(integer('Part of a multipart message; default 0', { minimum: 0, maximum: 10_000 })),
  },
  { title: 'NewReaction' },
)
const REACTION_ALIASES = {
  from_number: LINE_ALIASES,
  message_handle: ['messageHandle'],
  part_index: ['partIndex'],
} as const

const DEFAULT_TYPING_MS = 60_000
const TypingBody = Type.Object(
  {
    number,
    from_number: optional(string('The line, E.164; default: the line of the conversation')),
    state: optional(oneOf(['start', 'stop'], 'Default start')),
    max_duration_ms: optional(
      integer('Time until the indicator stops by itself, in milliseconds; default 60000', {
        minimum: 1,
        maximum: 300_000,
      }),
    ),
  },
  { title: 'TypingIndicator' },
)
const TYPING_ALIASES = {
  number: NUMBER_ALIASES,
  from_number: LINE_ALIASES,
  max_duration_ms: ['maxDurationMs'],
} as const

const ReadBody = Type.Object({ number, from_number: line }, { title: 'ReadMark' })
const READ_ALIASES = { number: NUMBER_ALIASES, from_number: LINE_ALIASES } as const

export function registerPresence(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/send-reaction',
    route({
      operationId: 'sendReaction',
      errors: { 404: 'There is no message with this handle on this line, or no such line.' },
      summary: 'React to a message',
      description: 'A tapback on an inbound or outbound iMessage. A new reaction replaces the earlier one.',
      aliases: REACTION_ALIASES,
      example: { from_number: '+12025550100', message_handle: '{message_handle}', reaction: 'love' },
      body: ReactionBody,
      response: {
        200: Type.Object({
          status: string('OK'),
          message: string('Result as text'),
          message_handle: string('The message'),
          reaction: string('The reaction, as given'),
        }),
      },
    }),
    async (request, reply) => {
      const { body } = request
      return actOnce(ctx, reply, async () => {
        await sendReaction(ctx, actorOf(request), {
          fromNumber: requirePhone('from_number', body.from_number),
          handle: body.message_handle,
          reaction: body.reaction,
          partIndex: body.part_index ?? 0,
        })
        const { message_handle, reaction } = body
        return { status: 200, body: { status: 'OK', message: 'Reaction sent', message_handle, reaction } }
      })
    },
  )

  app.post(
    '/api/send-typing-indicator',
    route({
      operationId: 'sendTypingIndicator',
      summary: 'Show a typing indicator',
      description: 'Needs a conversation with a person on iMessage.',
      aliases: TYPING_ALIASES,
      example: { from_number: '+12025550100', number: '+12025550101' },
      body: TypingBody,
      response: {
        200: Type.Object({
          status: string('SENT'),
          status_code: integer('200'),
          error_message: nullable('string', 'null'),
          number: string('The contact'),
        }),
      },
    }),
    async (request, reply) => {
      const { body } = request
      return actOnce(ctx, reply, async () => {
        const to = requirePhone('number', body.number)
        await sendTyping(ctx, actorOf(request), {
          fromNumber: body.from_number && requirePhone('from_number', body.from_number),
          number: to,
          typing: body.state !== 'stop',
          maxDurationMs: body.max_duration_ms ?? DEFAULT_TYPING_MS,
        })
        return { status: 200, body: { status: 'SENT', status_code: 200, error_message: null, number: to } }
      })
    },
  )

  app.post(
    '/api/mark-read',
    route({
      operationId: 'markRead',
      errors: { 404: 'There is no conversation with this number.' },
      summary: 'Mark a conversation as read',
      description:
        'Sends a read receipt to the contact where the service supports it. An SMS conversation also answers OK, without a read receipt.',
      aliases: READ_ALIASES,
      example: { from_number: '+12025550100', number: '+12025550101' },
      body: ReadBody,
      response: {
        200: Type.Object({
          status: string('OK'),
          message: string('Result as text'),
          number: string('The contact'),
        }),
      },
    }),
    async (request, reply) => {
      const { body } = request
      return actOnce(ctx, reply, async () => {
        const to = requirePhone('number', body.number)
        const fromNumber = requirePhone('from_number', body.from_number)
        const { told } = await markRead(ctx, actorOf(request), { fromNumber, number: to })
        const message = told
          ? 'Marked as read'
          : 'Marked as read; there are no read receipts to tell the sender'
        return { status: 200, body: { status: 'OK', message, number: to } }
      })
    },
  )
}
