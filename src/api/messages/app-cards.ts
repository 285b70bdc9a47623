import { Type } from 'typebox'
import type { SendStyle } from '../../core/messages/send-style.js'
import type { Ctx } from '../../services/ctx.js'
import { updateAppCard } from '../../services/messages/app-cards.js'
import { accountOf, actorOf } from '../http/auth.js'
import { checkUrl } from '../http/fields.js'
import { identityOf } from '../http/identity.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, optional, string } from '../http/schemas.js'
import { CardUrl, LayoutWire, layoutOf } from './app-card-wire.js'
import { markAccepted } from './send-fields.js'
import { MessageResponse, toResponse } from './wire.js'
import { SendStyleSchema } from './wire-parts.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines', unaudited: 'message' })

const UpdateBody = Type.Object(
  {
    layout: optional(LayoutWire),
    url: optional(CardUrl),
    fallback_text: optional(
      string('Text for notifications and for devices that cannot show the card', { maxLength: 4096 }),
    ),
    interactive: optional(boolean('Whether the live layout is used')),
    send_style: optional(SendStyleSchema),
    idempotency_key: optional(
      string('Repeating this key for the same card within 48 hours returns the first update', {
        minLength: 1,
        maxLength: 255,
      }),
    ),
  },
  { title: 'AppCardUpdate' },
)

const ALIASES = {
  fallback_text: ['fallbackText'],
  idempotency_key: ['idempotencyKey'],
  send_style: ['sendStyle'],
} as const

export function registerAppCards(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/messages/:message_handle/update-app-card',
    route({
      operationId: 'updateAppCard',
      summary: 'Continue an App Card',
      description:
        'Sends the next state of a card as a new message in the same session, line and reply thread. Omitted fields keep the values of the given card; a layout is replaced as a whole. A scheduled card answers 422 until it is sent.',
      params: Type.Object({ message_handle: string('Handle of the original card, or of a continuation') }),
      aliases: ALIASES,
      objects: ['layout'],
      example: { layout: { caption: 'Your turn' }, url: 'https://example.com/game?turn=2' },
      body: UpdateBody,
      response: { 202: MessageResponse },
    }),
    async (request, reply) => {
      const { body } = request
      checkUrl(ctx, 'layout.imageUrl', body.layout?.imageUrl)
      const accepted = await updateAppCard(
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
      markAccepted(reply, accepted)
      return toResponse(accepted.message, accountOf(request))
    },
  )
}
