import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { namedType } from '../../core/media/file-kind.js'
import type { Ctx } from '../../services/ctx.js'
import { sendCarousel } from '../../services/messages/carousel.js'
import { documentAliases, withAliases } from '../http/aliases.js'
import { accountOf, actorOf } from '../http/auth.js'
import { checkUrl, requirePhone } from '../http/fields.js'
import { identityOf } from '../http/identity.js'
import { type Routes, routesOf } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'
import { markAccepted, SEND_ALIASES, SEND_FIELDS, sendRequestOf } from './send-fields.js'
import { MessageResponse, toResponse } from './wire.js'

const MIN_IMAGES = 2
const MAX_IMAGES = 20
/** Maximum characters of the caller's JSON, which every event of the message repeats. */
const MAX_METADATA = 65_536

const { number, send_style, status_callback, reply_to, seat_id, send_at } = SEND_FIELDS

const CarouselBody = Type.Object(
  {
    number,
    from_number: string('The line to send from, a V2 Mac line, E.164', { examples: ['+12025550100'] }),
    media_urls: Type.Array(Type.String({ minLength: 1 }), {
      description: 'The images in order: 2 to 20 HTTPS URLs',
    }),
    metadata: optional(
      Type.Unknown({
        description: 'Your own JSON, up to 65536 characters; returned with the message and in its events',
      }),
    ),
    send_style,
    status_callback,
    reply_to,
    seat_id,
    send_at,
  },
  { title: 'NewCarousel' },
)

const ALIASES = {
  number: SEND_ALIASES.number,
  from_number: SEND_ALIASES.from_number,
  media_urls: ['mediaURLs', 'mediaUrls'],
  send_style: SEND_ALIASES.send_style,
  status_callback: SEND_ALIASES.status_callback,
} as const

/** The API document states the number of images; the handler checks it, with a better error text for one image. */
const document: ReturnType<typeof documentAliases> = (route) => {
  const documented = documentAliases(ALIASES)(route)
  const { properties } = documented.schema.body
  properties.media_urls = { ...properties.media_urls, minItems: MIN_IMAGES, maxItems: MAX_IMAGES } as object
  return documented
}

const route = routesOf('Messages', {
  access: 'account',
  confined: 'to its lines',
  unaudited: 'message',
  swaggerTransform: document,
})

export function registerCarousel(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/send-carousel',
    route({
      operationId: 'sendCarousel',
      summary: 'Send several images as one message',
      description:
        'Needs a V2 Mac line and a recipient on iMessage; never sent by SMS. Send a single image with /api/send-message.',
      example: {
        from_number: '+12025550100',
        number: '+12025550101',
        media_urls: ['https://example.com/front.jpg', 'https://example.com/back.jpg'],
      },
      body: CarouselBody,
      response: { 202: MessageResponse },
      beforeValidation: withAliases(ALIASES),
    }),
    async (request, reply) => {
      const { body } = request
      checkImages(ctx, body.media_urls)
      if (body.metadata !== undefined && JSON.stringify(body.metadata).length > MAX_METADATA)
        throw new AppError('invalid', `metadata: must be at most ${MAX_METADATA} characters of JSON`)
      const identity = identityOf(request)
      const { media_urls, metadata, number, ...choices } = body
      // A carousel has neither text nor other media.
      const sent = sendRequestOf(ctx, { ...choices, content: undefined, media_url: undefined }, identity)
      const input = { ...sent, number: requirePhone('number', number), mediaUrls: media_urls, metadata }
      const accepted = await sendCarousel(ctx, actorOf(request), input, identity)
      markAccepted(reply, accepted)
      return toResponse(accepted.message, accountOf(request))
    },
  )
}

function checkImages(ctx: Ctx, urls: readonly string[]): void {
  if (urls.length < MIN_IMAGES) {
    throw new AppError(
      'invalid',
      `media_urls: a carousel has at least ${MIN_IMAGES} images. Send a single image with /api/send-message and media_url.`,
    )
  }
  if (urls.length > MAX_IMAGES)
    throw new AppError('invalid', `media_urls: a carousel has at most ${MAX_IMAGES} images`)
  for (const [index, url] of urls.entries()) {
    checkUrl(ctx, `media_urls.${index}`, url)
    // The line checks the file itself; a name without a known extension says nothing yet.
    const type = namedType(url)
    if (type !== undefined && !type.startsWith('image/'))
      throw new AppError(
        'invalid',
        `media_urls.${index}: a carousel takes images only, and this URL names ${type}. Send it with /api/send-message and media_url.`,
      )
  }
}
