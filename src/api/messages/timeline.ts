import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { SERVICES } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { readTimeline } from '../../services/insight/why.js'
import { findGroups } from '../../storage/groups/groups.js'
import type { Attempt } from '../../storage/messages/attempts.js'
import { EventWire, envelope } from '../events/wire.js'
import { actorOf } from '../http/auth.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, oneOf, string } from '../http/schemas.js'
import { StoryWire, storyWire } from '../insight/why.js'
import { attemptWire, DeliveryWire, deliveryWire, AttemptWire as PostWire } from '../webhooks/deliveries.js'
import { MessageRecord, toOwnRecord } from './wire.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines' })

const AttemptWire = Type.Object(
  {
    attempt: integer('Number of the attempt'),
    service: oneOf(SERVICES, 'Service used'),
    state: oneOf(
      ['on_wire', 'accepted', 'refused', 'never_left', 'unknown', 'given_up'],
      'on_wire: no answer yet. accepted: the carrier accepted it. refused: the carrier refused it. never_left: the line could not send. unknown: the outcome is being looked up. given_up: the outcome could not be found out.',
    ),
    started_at: string('When the attempt started, ISO 8601'),
    ended_at: nullable('string', 'When its outcome was known'),
    duration_ms: nullable('integer', 'Time from start to outcome'),
    code: nullable('string', "The carrier's code"),
    detail: nullable('string', "The carrier's text"),
    provider_id: nullable('string', "The carrier's id of the message"),
    lookups: integer('Number of lookups of the outcome at the carrier'),
  },
  { title: 'Attempt' },
)

const tryWire = renderer<Attempt>()(AttemptWire, {
  attempt: ({ n }) => n,
  started_at: ({ wireAt }) => formatTime(wireAt),
  duration_ms: ({ wireAt, endedAt }) => (endedAt === null ? null : endedAt - wireAt),
})

const TimelineWire = Type.Object(
  {
    message: MessageRecord,
    why: StoryWire,
    events: Type.Array(
      Type.Object({
        sequence: integer('Sequence number of the event in the account'),
        ...EventWire.properties,
      }),
      { description: 'Events about the message, oldest first' },
    ),
    attempts: Type.Array(AttemptWire, { description: 'Every attempt to send it, oldest first' }),
    webhook_deliveries: Type.Array(
      Type.Object({
        ...DeliveryWire.properties,
        body: string('The posted JSON'),
        attempt_log: Type.Array(PostWire, { description: 'Every attempt, oldest first' }),
      }),
      {
        description:
          'Webhook deliveries about the message, oldest first, at most 200; empty for confined tokens',
      },
    ),
  },
  { title: 'MessageHistory' },
)

export function registerMessageTimeline(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/messages/:handle',
    route({
      operationId: 'getMessageHistory',
      summary: 'Show a message with its history',
      description:
        'The message, an explanation of its status, its events, every attempt to send it and every webhook delivery about it. Does not ask the carrier.',
      params: Type.Object({ handle: string('Message handle') }),
      response: { 200: Type.Object({ data: TimelineWire }) },
    }),
    async (request) => {
      const actor = actorOf(request)
      const { handle } = request.params
      const { message, story, events, attempts, deliveries } = await readTimeline(ctx, actor, handle)
      const groups = await findGroups(ctx.db, message.groupId === null ? [] : [message.groupId])
      const subjects = { messages: new Map([[handle, message]]), groups }
      return {
        data: {
          message: toOwnRecord(message, actor.account, groups.get(message.groupId ?? '')),
          why: storyWire(handle, story),
          events: events.map((event) => ({
            sequence: event.seq,
            ...envelope(ctx, event, subjects, actor.account),
          })),
          attempts: attempts.map(tryWire),
          webhook_deliveries: deliveries.map(({ delivery, posts }) => ({
            ...deliveryWire(ctx, delivery),
            body: delivery.body,
            attempt_log: posts.map(attemptWire),
          })),
        },
      }
    },
  )
}
