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
import { MessageRecord, toRecord } from './wire.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines' })

const AttemptWire = Type.Object({
  attempt: integer('Number of the try'),
  service: oneOf(SERVICES, 'Service it went by'),
  state: oneOf(
    ['on_wire', 'accepted', 'refused', 'never_left', 'unknown', 'given_up'],
    'on_wire: no answer yet. accepted: the carrier took it. refused: it did not. never_left: the line was not reached. unknown: being found out. given_up: never found out.',
  ),
  started_at: string('When it went on the wire, ISO 8601'),
  ended_at: nullable('string', 'When its outcome was known'),
  duration_ms: nullable('integer', 'Between the two'),
  code: nullable('string', "The carrier's code"),
  detail: nullable('string', "The carrier's words"),
  provider_id: nullable('string', "The carrier's id of the message"),
  lookups: integer('How often the carrier was asked about its outcome'),
})

const tryWire = renderer<Attempt>()(AttemptWire, {
  attempt: ({ n }) => n,
  started_at: ({ wireAt }) => formatTime(wireAt),
  duration_ms: ({ wireAt, endedAt }) => (endedAt === null ? null : endedAt - wireAt),
})

const TimelineWire = Type.Object({
  message: MessageRecord,
  why: StoryWire,
  events: Type.Array(
    Type.Object({
      sequence: integer("The event's number in the account's log"),
      ...EventWire.properties,
    }),
    { description: 'What the log says of it, oldest first' },
  ),
  attempts: Type.Array(AttemptWire, { description: 'Every try to send it, oldest first' }),
  webhook_deliveries: Type.Array(
    Type.Object({
      ...DeliveryWire.properties,
      body: string('The JSON as it is posted'),
      attempt_log: Type.Array(PostWire, { description: 'Every post, oldest first' }),
    }),
    { description: 'What was posted about it, oldest first, at most 200; empty for confined tokens' },
  ),
})

export function registerMessageTimeline(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/messages/:handle',
    route({
      summary: 'Get a message with its whole story',
      description:
        'The message, why it is where it is, and what that is told from: its events, every attempt to send it and every webhook delivery about it. It changes nothing and asks no carrier.',
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
          message: toRecord(message, actor.account, groups.get(message.groupId ?? '')),
          why: storyWire(handle, story),
          events: events.map((event) => ({
            sequence: event.seq,
            ...envelope(event, subjects, actor.account),
          })),
          attempts: attempts.map(tryWire),
          webhook_deliveries: deliveries.map(({ delivery, posts }) => ({
            ...deliveryWire(delivery),
            body: delivery.body,
            attempt_log: posts.map(attemptWire),
          })),
        },
      }
    },
  )
}
