import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Event } from '../../core/events/event.js'
import { isPosted, isWebhookType, WEBHOOK_TYPES, WEBHOOKS, webhookTypeOf } from '../../core/webhooks/types.js'
import { webhookIdOf } from '../../core/webhooks/webhook.js'
import type { Ctx } from '../../services/ctx.js'
import type { Renderer } from '../../services/events/tail.js'
import { withSubjects } from '../../services/webhooks/fanout.js'
import { bookmarkOf, createFeed, FeedHeaders, namesIn, Since } from '../events/feed.js'
import { routesOf } from '../http/route.js'
import type { Routes } from '../http/routes.js'
import { integer, optional, string } from '../http/schemas.js'
import { eventFrame } from '../http/sse.js'
import { renderWebhook } from './payloads.js'

const route = routesOf('Webhooks', { access: 'account' })

const Post = Type.Object({
  webhook_id: string('What the webhook-id header would be'),
  sequence: integer("The event's number in the account's log"),
  type: string('Type of the webhook'),
  event_type: string('What happened, as in the event stream'),
  subject: string('What it is about; of a message, its handle'),
  body: string('The JSON as it would be posted, byte for byte'),
})

/** Webhooks for those who come and get them: receivers without an address that we could post to. */
export function registerWebhookFeed(
  app: Routes,
  ctx: Ctx,
  mayStay: (request: FastifyRequest) => Promise<boolean>,
): void {
  const serve = createFeed(app, ctx, createRenderer(ctx), mayStay)
  app.get(
    '/v3/webhook-feed',
    route({
      summary: 'Follow what webhooks would be posted',
      description: [
        'Server-sent events: `id` is the number of the event in the account, `event` the type of webhook, `data` what would be posted, whether or not a webhook is configured.',
        'Begins now, or after the event that the header Last-Event-ID or `since` names: nothing is lost in between and nothing comes twice.',
        'What is no longer kept is told as one `recovery.gap` with `from` and `to`. A comment every 15 seconds; some comments carry an `id`, so that the bookmark moves on when nothing is sent.',
        'The stream is closed after 15 minutes and with its token; a reader that is too slow is cut off. Connect again with the last id.',
        'Tokens that are confined to some lines are refused.',
        'The command `trunkline listen` posts these to a receiver on its own machine.',
      ].join(' '),
      querystring: Type.Object({
        types: optional(
          string(`Types of webhooks, comma-separated. Without: all, which are ${WEBHOOK_TYPES.join(', ')}`),
        ),
        since: Since,
      }),
      headers: FeedHeaders,
      response: {
        200: {
          description: 'Webhooks until the stream is closed',
          content: { 'text/event-stream': { schema: Post } },
        },
      },
    }),
    (request, reply) =>
      serve(
        request,
        reply,
        eventTypesOf(request.query.types),
        bookmarkOf(request.headers['last-event-id'], request.query.since),
      ),
  )
}

function createRenderer(ctx: Ctx): Renderer {
  return {
    async events(accountId: string, events: readonly Event[]) {
      const account = events.length > 0 ? await ctx.directory.account(accountId) : undefined
      if (!account) return []
      return (await withSubjects(ctx, account, events.filter(isPosted))).flatMap((source) => {
        const { event } = source
        const rendered = renderWebhook(source)
        if (!rendered) return []
        const type = webhookTypeOf(event.type)
        const post: Static<typeof Post> = {
          webhook_id: webhookIdOf(event),
          sequence: event.seq,
          type,
          event_type: event.type,
          subject: event.subject,
          body: JSON.stringify(rendered.body),
        }
        return [{ seq: event.seq, type: event.type, bytes: Buffer.from(eventFrame(type, post, event.seq)) }]
      })
    },
    gap: ({ from, to }) => ({
      seq: to,
      type: null,
      bytes: Buffer.from(eventFrame('recovery.gap', { from, to }, to)),
    }),
  }
}

/** The events that are posted as webhooks of these types. */
function eventTypesOf(given: string | undefined): ReadonlySet<string> {
  const names = namesIn(given)
  const unknown = names.filter((name) => !isWebhookType(name))
  if (unknown.length > 0)
    throw new AppError(
      'invalid',
      `types: there is no ${unknown.join(', ')}. There are ${WEBHOOK_TYPES.join(', ')}`,
    )
  const types = names.length === 0 ? WEBHOOK_TYPES : names.filter(isWebhookType)
  return new Set(types.flatMap((type) => WEBHOOKS[type].events))
}
