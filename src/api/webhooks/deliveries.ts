import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import { WEBHOOK_TYPES } from '../../core/webhooks/types.js'
import { webhookIdOf } from '../../core/webhooks/webhook.js'
import type { Ctx } from '../../services/ctx.js'
import { REPLAY_AT_ONCE, replayDelivery, replayMatching } from '../../services/webhooks/log.js'
import type { Delivery, DeliveryAttempt, DeliveryState } from '../../storage/webhooks/deliveries.js'
import {
  findDelivery,
  type LogFilter,
  type LogPlace,
  listDeliveries,
  listDeliveryAttempts,
} from '../../storage/webhooks/log.js'
import { accountOf } from '../http/auth.js'
import { requireTime } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'

const route = routesOf('Webhooks', { access: 'account' })

const STATES = ['pending', 'delivered', 'failed', 'canceled'] as const
const TYPES = [...WEBHOOK_TYPES, 'status_callback'] as const

const Status = oneOf<DeliveryState>(
  STATES,
  'pending: to be posted, or posted again. delivered: acknowledged. failed: refused, or tried often enough. canceled: its webhook or what it was about was removed.',
)
const Kind = oneOf(TYPES, 'Type of the webhook')

export const DeliveryWire = Type.Object({
  id: string('Id of the delivery'),
  webhook_id: string(
    'Id of the event, as it is in the webhook-id header: the same at every try and endpoint',
  ),
  sequence: integer("The event's number in the account's log"),
  event_type: string('What happened, as in the event stream'),
  type: Kind,
  url: string('Where it is posted'),
  subject: string('What it is about; of a message, its handle'),
  status: Status,
  attempts: integer('Posts so far'),
  http_status: nullable('integer', 'Status of the last answer; null when there was none'),
  reason: nullable('string', 'Why the last post did not succeed'),
  created_at: string('When it was first due, ISO 8601'),
  next_attempt_at: nullable('string', 'When it is posted next'),
  finished_at: nullable('string', 'When it ended'),
})

export const AttemptWire = Type.Object({
  attempt: integer('Number of the post'),
  at: string('When it began, ISO 8601'),
  duration_ms: integer('How long it took'),
  http_status: nullable('integer', 'Status of the answer; null when there was none'),
  reason: nullable('string', 'Why there was no answer'),
  request_headers: Type.Record(Type.String(), Type.String(), {
    description: 'Headers as posted, without the plain secret',
  }),
  response_headers: Type.Unsafe<Record<string, string> | null>({
    type: ['object', 'null'],
    additionalProperties: { type: 'string' },
    description: 'Headers of the answer',
  }),
  response_body: nullable('string', 'Beginning of the answer, up to 8 KiB'),
})

const WholeDelivery = Type.Object({
  ...DeliveryWire.properties,
  body: string('The JSON as it is posted; empty when what it was about was deleted'),
  attempt_log: Type.Array(AttemptWire, { description: 'Every post, oldest first' }),
})

const Params = Type.Object({ id: string('Id of a delivery') })

const period = {
  created_at_gte: optional(string('From this time on, ISO 8601')),
  created_at_lt: optional(string('Before this time, ISO 8601')),
}

const Replay = Type.Object({
  status: optional(Status),
  type: optional(Kind),
  message_handle: optional(string('Only those about this message', { maxLength: 200 })),
  ...period,
})

/** What was posted to webhooks, what came of it, and posting it again. */
export function registerWebhookDeliveries(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/webhook-deliveries',
    route({
      summary: 'List webhook deliveries, newest first',
      description:
        'Every event posted to a webhook or a status callback, for as long as deliveries are kept. A page may hold fewer than asked for; there are more as long as next_cursor is not null.',
      querystring: Type.Object({
        ...Replay.properties,
        limit: optional(integer('At most 1000; default 100', { minimum: 1 })),
        cursor: optional(string('next_cursor of the page before')),
      }),
      response: {
        200: Type.Object({
          data: Type.Array(DeliveryWire),
          next_cursor: nullable('string', 'Where to go on; null at the end'),
        }),
      },
    }),
    async (request) => {
      const { limit = 100, cursor } = request.query
      const place = cursor === undefined ? undefined : parseCursor(cursor)
      const { deliveries, next } = await listDeliveries(
        ctx.db,
        accountOf(request).id,
        filterOf(request.query),
        place,
        Math.min(limit, 1000),
      )
      return { data: deliveries.map(deliveryWire), next_cursor: next ? `${next.createdAt}-${next.id}` : null }
    },
  )

  app.get(
    '/v3/webhook-deliveries/:id',
    route({
      summary: 'Get a webhook delivery with every attempt',
      params: Params,
      response: { 200: Type.Object({ data: WholeDelivery }) },
    }),
    async (request) => {
      const id = deliveryId(request.params.id)
      const delivery = id && (await findDelivery(ctx.db, accountOf(request).id, id))
      if (!delivery) throw new AppError('not_found', 'There is no such delivery')
      const attempts = await listDeliveryAttempts(ctx.db, delivery.id)
      return {
        data: { ...deliveryWire(delivery), body: delivery.body, attempt_log: attempts.map(attemptWire) },
      }
    },
  )

  app.post(
    '/v3/webhook-deliveries/:id/replay',
    route({
      summary: 'Post a delivery again',
      description: 'To the webhook as it is configured now, with the same body and the same webhook-id.',
      params: Params,
      response: { 202: Type.Object({ data: DeliveryWire }) },
    }),
    async (request, reply) => {
      const id = deliveryId(request.params.id)
      return answerOnce(ctx, reply, 'told', async (sql) => {
        if (!id) throw new AppError('not_found', 'There is no such delivery')
        const delivery = await replayDelivery(ctx, sql, accountOf(request).id, id)
        return { status: 202, body: { data: deliveryWire(delivery) } }
      })
    },
  )

  app.post(
    '/v3/webhook-deliveries/replay',
    route({
      summary: 'Post many deliveries again',
      description: `All that match and have ended: {"status": "failed"} is every failed one, a period is everything in it. At most ${REPLAY_AT_ONCE} in one call, newest first; call again while more is true, with created_at_lt.`,
      body: Replay,
      response: {
        202: Type.Object({
          data: Type.Object({
            replayed: integer('Deliveries that are posted again'),
            more: boolean('Whether older ones were left out'),
          }),
        }),
      },
    }),
    async (request, reply) => {
      const filter = filterOf(request.body)
      if (Object.values(filter).every((value) => value === undefined)) {
        throw new AppError(
          'invalid',
          'status: say which deliveries: give status, type, message_handle, created_at_gte or created_at_lt',
        )
      }
      return answerOnce(ctx, reply, 'told', async (sql) => ({
        status: 202,
        body: { data: await replayMatching(ctx, sql, accountOf(request).id, filter) },
      }))
    },
  )
}

function filterOf(query: Static<typeof Replay>): LogFilter {
  const time = (field: 'created_at_gte' | 'created_at_lt') =>
    query[field] === undefined ? undefined : requireTime(field, query[field])
  return {
    state: query.status,
    type: query.type,
    subject: query.message_handle,
    from: time('created_at_gte'),
    to: time('created_at_lt'),
  }
}

function parseCursor(cursor: string): LogPlace {
  const [, createdAt, id] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []
  if (createdAt === undefined) throw new AppError('invalid', 'cursor: must be next_cursor of the page before')
  return { createdAt: Number(createdAt), id: Number(id) }
}

function deliveryId(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

export const deliveryWire = renderer<Delivery>()(DeliveryWire, {
  id: ({ id }) => String(id),
  webhook_id: ({ accountId, eventSeq }) => webhookIdOf({ accountId, seq: eventSeq }),
  sequence: ({ eventSeq }) => eventSeq,
  status: ({ state }) => state,
  next_attempt_at: ({ nextAt }) => (nextAt === null ? null : formatTime(nextAt)),
})

export const attemptWire = renderer<DeliveryAttempt>()(AttemptWire, {
  attempt: ({ n }) => n,
  duration_ms: ({ ms }) => ms,
  response_headers: ({ answerHeaders }) => answerHeaders,
  response_body: ({ answer }) => answer,
})
