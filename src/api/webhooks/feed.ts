import { type Static, Type } from 'typebox'
import type { Event } from '../../core/events/event.js'
import { isPosted, isWebhookType, WEBHOOK_TYPES, WEBHOOKS, webhookTypeOf } from '../../core/webhooks/types.js'
import type { Ctx } from '../../services/ctx.js'
import type { Renderer } from '../../services/events/tail.js'
import { withSubjects } from '../../services/webhooks/fanout.js'
import { checkTypes, registerFeed } from '../events/feed.js'
import type { MayStay } from '../http/open-streams.js'
import type { Routes } from '../http/routes.js'
import { integer, string } from '../http/schemas.js'
import { eventFrame } from '../http/sse.js'
import { renderWebhook } from './payloads.js'

const Post = Type.Object(
  {
    webhook_id: string('Value of the webhook-id header'),
    sequence: integer('Sequence number of the event in the account'),
    type: string('Type of the webhook'),
    event_type: string('Type of the event, as in the event stream'),
    subject: string('What the event is about; for a message, its handle'),
    body: string('The JSON to post, byte for byte'),
  },
  { title: 'WebhookPost' },
)

/** Webhooks as a stream, for receivers without an address that the server could post to. */
export function registerWebhookFeed(app: Routes, ctx: Ctx, mayStay: MayStay): void {
  registerFeed(app, ctx, mayStay, {
    url: '/v3/webhook-feed',
    tag: 'Webhooks',
    operationId: 'followWebhooks',
    summary: 'Follow webhooks as a stream',
    contents:
      '`event` the type of webhook, `data` the post that a webhook of this type gets, whether or not one is configured',
    remark: 'The command `trunkline listen` posts them to a receiver on its own machine.',
    types: `Types of webhooks, comma-separated. Default: all of ${WEBHOOK_TYPES.join(', ')}`,
    item: Post,
    renderer: createRenderer(ctx),
    eventsOf(names) {
      checkTypes(names, WEBHOOK_TYPES)
      const types = names.length === 0 ? WEBHOOK_TYPES : names.filter(isWebhookType)
      return new Set(types.flatMap((type) => WEBHOOKS[type].events))
    },
  })
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
          webhook_id: source.webhookId,
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
