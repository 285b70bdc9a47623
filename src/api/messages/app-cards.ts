import { Type } from 'typebox'
import type { SendStyle } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { updateAppCard } from '../../services/messages/app-cards.js'
import { accountOf, actorOf } from '../http/auth.js'
import { checkUrl } from '../http/fields.js'
import { identityOf } from '../http/identity.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, optional, string } from '../http/schemas.js'
import { CardUrl, LayoutWire, layoutOf } from './app-card-wire.js'
import { MessageResponse, toResponse } from './wire.js'
import { SendStyleSchema } from './wire-parts.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines' })

const UpdateBody = Type.Object({
  layout: optional(LayoutWire),
  url: optional(CardUrl),
  fallback_text: optional(
    string('For notifications and where the card cannot be drawn', { maxLength: 4096 }),
  ),
  interactive: optional(boolean('Whether the live layout is used')),
  send_style: optional(SendStyleSchema),
  idempotency_key: optional(
    string('The same key for the same card gives the first update back, for 48 hours', {
      minLength: 1,
      maxLength: 255,
    }),
  ),
})

const ALIASES = {
  fallback_text: ['fallbackText'],
  idempotency_key: ['idempotencyKey'],
  send_style: ['sendStyle'],
} as const

export function registerAppCards(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/messages/:message_handle/update-app-card',
    route({
      summary: 'Continue an App Card',
      description:
        'Sends the next state of a card as a message of its own: same session, line and reply thread. What is left out stays as on the card that the handle names; a layout is replaced as a whole. A card that is scheduled can be continued once it has gone out; before that the answer is 422.',
      params: Type.Object({
        message_handle: string('The original card, or a continuation of it'),
      }),
      aliases: ALIASES,
      objects: ['layout'],
      body: UpdateBody,
      response: { 202: MessageResponse },
    }),
    async (request, reply) => {
      const { body } = request
      checkUrl(ctx, 'layout.imageUrl', body.layout?.imageUrl)
      const { message, replayed } = await updateAppCard(
        ctx,
        actorOf(request),
        {
          handle: request.params.message_handle,
          changes: {
            layout: body.layout && layoutOf(body.layout),
            url: body.url,
            fallbackText: body.fallback_text,
            interactive: body.interactive,
          },
          sendStyle: (body.send_style ?? '') as SendStyle | '',
          idempotencyKey: body.idempotency_key,
        },
        identityOf(request),
      )
      if (replayed) reply.header('x-idempotent-replay', 'true')
      reply.code(202)
      return toResponse(message, accountOf(request))
    },
  )
}
