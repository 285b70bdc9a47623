import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import type { Ctx } from '../../services/ctx.js'
import { endHold, releaseMessages } from '../../services/messages/holds.js'
import type { Sql } from '../../storage/engine/db.js'
import { type Hold, listHolds, listHoldsIn } from '../../storage/messages/holds.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, listOf, nullable, optional, string } from '../http/schemas.js'
import { admin } from './shared.js'

const HoldWire = Type.Object(
  {
    line_id: string('The line'),
    conversation: string("The contact's number, or the id of the group"),
    account_id: string('The account of the conversation'),
    group_id: nullable('string', 'The group; null outside groups'),
    alternations: integer('Number of alternating messages that triggered the hold'),
    held_at: string('Since when it is blocked'),
    held_until: string('When the hold ends by itself'),
  },
  { title: 'HeldConversation' },
)

const ReleaseBody = Type.Object(
  {
    line_id: string('The line'),
    conversation: string("The contact's number, or the id of the group"),
    drop: optional(boolean('true: the held messages end as errors instead of being sent; default false')),
  },
  { title: 'ReleaseConversation' },
)

const ReleaseAnswer = Type.Object({
  line_id: string('The line'),
  conversation: string("The contact's number, or the id of the group"),
  messages: integer('Number of messages that were held'),
})

const holdWire = renderer<Hold>()(HoldWire, { held_until: ({ until }) => formatTime(until) })

/** Conversations that are held because of a message loop. */
export function registerAdminConversations(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/conversations/held',
    admin({
      operationId: 'listHeldConversations',
      summary: 'List held conversations',
      description:
        'Conversations in which both sides repeatedly replied to each other within seconds. Messages sent in a held conversation wait as REGISTERED.',
      response: { 200: listOf(HoldWire) },
    }),
    async () => ({ data: (await listHolds(ctx.db)).map(holdWire) }),
  )
  app.post(
    '/admin/conversations/release',
    admin({
      operationId: 'releaseConversation',
      errors: { 404: 'This conversation is not held.' },
      summary: 'Release a held conversation',
      description:
        'Sends the held messages now, in order, or drops them. On a shared line: those of every account that has this conversation held.',
      example: { line_id: '{line_id}', conversation: '+12025550101' },
      body: ReleaseBody,
      response: { 200: ReleaseAnswer },
    }),
    async (request, reply) => {
      const { line_id: lineId, conversation, drop = false } = request.body
      const isReleased = async (sql: Sql) => (await listHoldsIn(sql, lineId, conversation)).length === 0
      // In slices before the transaction that ends the holds: a conversation may have thousands of messages.
      const holds = await listHoldsIn(ctx.db, lineId, conversation)
      const released = new Map<Hold, number>()
      for (const hold of holds) released.set(hold, await releaseMessages(ctx, { hold, drop }))
      const release = async (sql: Sql) => {
        let messages: number | undefined
        for (const hold of holds) {
          const end = { hold, drop, by: 'operator' as const, released: released.get(hold)! }
          const ended = await endHold(ctx, sql, end)
          if (ended !== undefined) messages = (messages ?? 0) + ended
        }
        if (messages === undefined) throw new AppError('not_found', 'There is no such held conversation')
        const after = () => ctx.wakes.wake(topics.line(lineId))
        return { status: 200, body: { line_id: lineId, conversation, messages }, after }
      }
      return answerOnce(ctx, reply, isReleased, release)
    },
  )
}
