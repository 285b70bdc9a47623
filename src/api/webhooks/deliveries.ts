import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import { WEBHOOK_TYPES } from '../../core/webhooks/types.js'
import { webhookIdOf } from '../../core/webhooks/webhook.js'
import type { Ctx } from '../../services/ctx.js'
import {
  REPLAY_AT_ONCE,
  type ReplayedDeliveries,
  replayDelivery,
  replayMatching,
} from '../../services/webhooks/log.js'
import type { Delivery, DeliveryAttempt, DeliveryState } from '../../storage/webhooks/deliveries.js'
import {
  findDelivery,
  type LogFilter,
  listDeliveries,
  listDeliveryAttempts,
} from '../../storage/webhooks/log.js'
import { accountOf } from '../http/auth.js'
import { positionsIn, positionText } from '../http/cursor.js'
import { requireTime } from '../http/fields.js'
import { answeredBefore, answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'

const route = routesOf('Webhooks', { access: 'account' })

const STATES = ['pending', 'delivered', 'failed', 'canceled'] as const
const TYPES = [...WEBHOOK_TYPES, 'status_callback'] as const

const Status = oneOf<DeliveryState>(
  STATES,
  'pending: waits for an attempt. delivered: acknowledged. failed: refused, or all attempts failed. canceled: the webhook or the subject of the event was removed.',
)
const Kind = oneOf(TYPES, 'Type of the webhook')

export const DeliveryWire = Type.Object(
  {
    id: string('Id of the delivery'),
    webhook_id: string(
      'Id of the event, as in the webhook-id header; the same for every attempt and every webhook',
    ),
    sequence: integer('Sequence number of the event in the account'),
    event_type: string('Type of the event, as in the event stream'),
    type: Kind,
    url: string('URL that it is posted to'),
    subject: string('What the event is about; for a message, its handle'),
    status: Status,
    attempts: integer('Number of attempts so far'),
    http_status: nullable('integer', 'HTTP status of the last answer; null without an answer'),
    reason: nullable(
      'string',
      'Why the last attempt failed and, if the delivery ended with it, why it ended',
    ),
    created_at: string('When it was first due, ISO 8601'),
    next_attempt_at: nullable('string', 'When the next attempt is due'),
    finished_at: nullable('string', 'When it ended'),
  },
  { title: 'WebhookDelivery' },
)

export const AttemptWire = Type.Object(
  {
    attempt: integer('Number of the attempt'),
    at: string('When it started, ISO 8601'),
    duration_ms: integer('How long it took'),
    http_status: nullable('integer', 'HTTP status of the answer; null without an answer'),
    reason: nullable('string', 'Why there was no answer'),
    request_headers: Type.Record(Type.String(), Type.String(), {
      description: 'Request headers, without the plain secret',
    }),
    response_headers: Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      description: 'Response headers',
    }),
    response_body: nullable('string', 'Beginning of the response body, up to 8 KiB'),
  },
  { title: 'WebhookAttempt' },
)

const WholeDelivery = Type.Object(
  {
    ...DeliveryWire.properties,
    body: string('The posted JSON; empty when its subject was deleted'),
    attempt_log: Type.Array(AttemptWire, { description: 'Every attempt, oldest first' }),
  },
  { title: 'WebhookDeliveryWithAttempts' },
)

const Params = Type.Object({ id: string('Id of a delivery') })

const period = {
  created_at_gte: optional(string('Created at or after, ISO 8601')),
  created_at_lt: optional(string('Created before, ISO 8601')),
}

const Replay = Type.Object({
  status: optional(Status),
  type: optional(Kind),
  message_handle: optional(string('Only deliveries about this message', { maxLength: 200 })),
  ...period,
})

/** The log of webhook deliveries, and replays. */
export function registerWebhookDeliveries(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/webhook-deliveries',
    route({
      operationId: 'listWebhookDeliveries',
      summary: 'List webhook deliveries, newest first',
      description:
        'Deliveries to webhooks and status callbacks, for as long as deliveries are stored. A page may hold fewer rows than requested; there are more while next_cursor is not null.',
      querystring: Type.Object({
        ...Replay.properties,
        limit: optional(integer('At most 1000; default 100', { minimum: 1 })),
        cursor: optional(string('next_cursor of the previous page')),
      }),
      response: {
        200: Type.Object({
          data: Type.Array(DeliveryWire),
          next_cursor: nullable('string', 'Cursor of the next page; null at the end'),
        }),
      },
    }),
    async (request) => {
      const { limit = 100, cursor } = request.query
      const place = cursor === undefined ? undefined : positionsIn(cursor, 1)[0]
      const { id: accountId } = accountOf(request)
      const { deliveries, next } = await listDeliveries(
        ctx.db.aside(accountId),
        accountId,
        filterOf(request.query),
        place,
        Math.min(limit, 1000),
      )
      return {
        data: deliveries.map((one) => deliveryWire(ctx, one)),
        next_cursor: next ? positionText(next) : null,
      }
    },
  )

  app.get(
    '/v3/webhook-deliveries/:id',
    route({
      operationId: 'getWebhookDelivery',
      summary: 'Show a webhook delivery with every attempt',
      params: Params,
      response: { 200: Type.Object({ data: WholeDelivery }) },
    }),
    async (request) => {
      const id = deliveryId(request.params.id)
      const delivery = id && (await findDelivery(ctx.db, accountOf(request).id, id))
      if (!delivery) throw new AppError('not_found', 'There is no such delivery')
      const attempts = await listDeliveryAttempts(ctx.db, delivery.id)
      return {
        data: { ...deliveryWire(ctx, delivery), body: delivery.body, attempt_log: attempts.map(attemptWire) },
      }
    },
  )

  app.post(
    '/v3/webhook-deliveries/:id/replay',
    route({
      operationId: 'replayWebhookDelivery',
      errors: { 409: 'The delivery has not ended, or what it was about was deleted.' },
      summary: 'Replay a delivery',
      description: 'Posts the same body with the same webhook-id to the webhook as it is configured now.',
      params: Params,
      response: { 202: Type.Object({ data: DeliveryWire }) },
    }),
    async (request, reply) => {
      const id = deliveryId(request.params.id)
      return answerOnce(ctx, reply, 'told', async (sql) => {
        if (!id) throw new AppError('not_found', 'There is no such delivery')
        const delivery = await replayDelivery(ctx, sql, accountOf(request).id, id)
        return { status: 202, body: { data: deliveryWire(ctx, delivery) } }
      })
    },
  )

  app.post(
    '/v3/webhook-deliveries/replay',
    route({
      operationId: 'replayWebhookDeliveries',
      summary: 'Replay many deliveries',
      description: `Replays every delivery that matches and has ended: {"status": "failed"} matches all failed ones. At most ${REPLAY_AT_ONCE} in one request, newest first; repeat with created_at_lt while more is true.`,
      example: { status: 'failed', type: 'receive' },
      body: Replay,
      response: {
        202: Type.Object({
          data: Type.Object({
            replayed: integer('Number of deliveries replayed'),
            more: boolean('Whether older deliveries are left'),
          }),
        }),
      },
    }),
    async (request, reply) => {
      const filter = filterOf(request.body)
      if (Object.values(filter).every((value) => value === undefined)) {
        throw new AppError(
          'invalid',
          'status: choose the deliveries with status, type, message_handle, created_at_gte or created_at_lt',
        )
      }
      const earlier = await answeredBefore<{ data: ReplayedDeliveries }>(ctx, reply, 'told')
      if (earlier) return earlier
      const body = { data: await replayMatching(ctx, accountOf(request).id, filter) }
      return answerOnce(ctx, reply, 'told', async () => ({ status: 202, body }))
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

function deliveryId(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

const wireOf = renderer<Delivery & { webhookId: string }>()(DeliveryWire, {
  id: ({ id }) => String(id),
  sequence: ({ eventSeq }) => eventSeq,
  status: ({ state }) => state,
  next_attempt_at: ({ nextAt }) => (nextAt === null ? null : formatTime(nextAt)),
})

export function deliveryWire({ db }: Pick<Ctx, 'db'>, delivery: Delivery): Static<typeof DeliveryWire> {
  const { accountId, eventSeq: seq } = delivery
  return wireOf({ ...delivery, webhookId: webhookIdOf({ accountId, seq }, db.incarnations) })
}

export const attemptWire = renderer<DeliveryAttempt>()(AttemptWire, {
  attempt: ({ n }) => n,
  duration_ms: ({ ms }) => ms,
  response_headers: ({ answerHeaders }) => answerHeaders,
  response_body: ({ answer }) => answer,
})
