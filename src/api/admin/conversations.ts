import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { topics } from '../../core/topics.js'
import type { Ctx } from '../../services/ctx.js'
import { releaseByOperator } from '../../services/messages/holds.js'
import type { Sql } from '../../storage/engine/db.js'
import { findHold, type Hold, listHolds } from '../../storage/messages/holds.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, listOf, nullable, optional, string } from '../http/schemas.js'
import { admin } from './shared.js'

const HoldWire = Type.Object({
  line_id: string('The line'),
  conversation: string("The contact's number, or the id of the group"),
  account_id: string('The account of the conversation'),
  group_id: nullable('string', 'The group; null outside groups'),
  alternations: integer('Number of alternating messages that triggered the hold'),
  held_at: string('Since when it is blocked'),
  held_until: string('When the hold ends by itself'),
})

const ReleaseBody = Type.Object({
  line_id: string('The line'),
  conversation: string("The contact's number, or the id of the group"),
  drop: optional(boolean('true: the held messages end as errors instead of being sent; default false')),
})

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
      summary: 'Release a held conversation',
      description: 'Sends the held messages now, in order, or drops them.',
      body: ReleaseBody,
      response: { 200: ReleaseAnswer },
    }),
    async (request, reply) => {
      const { line_id: lineId, conversation, drop = false } = request.body
      const isReleased = async (sql: Sql) => (await findHold(sql, lineId, conversation)) === undefined
      const release = async (sql: Sql) => {
        const { messages } = await releaseByOperator(ctx, sql, { lineId, conversation, drop })
        const after = () => ctx.wakes.wake(topics.line(lineId))
        return { status: 200, body: { line_id: lineId, conversation, messages }, after }
      }
      return answerOnce(ctx, reply, isReleased, release)
    },
  )
}
