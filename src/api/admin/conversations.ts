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
import { boolean, integer, nullable, optional, string } from '../http/schemas.js'
import { admin, listOf } from './shared.js'

const HoldWire = Type.Object({
  line_id: string('The line'),
  conversation: string("The other's number, or the id of the group"),
  account_id: string('Whose conversation it is'),
  group_id: nullable('string', 'The group, when it is one'),
  alternations: integer('How often the two sides had taken turns'),
  held_at: string('Since when'),
  held_until: string('When it is released by itself'),
})

const Release = Type.Object({
  line_id: string('The line'),
  conversation: string("The other's number, or the id of the group"),
  drop: optional(boolean('Whether what was held ends as an error instead of going out now; default false')),
})

const Released = Type.Object({
  line_id: string('The line'),
  conversation: string("The other's number, or the id of the group"),
  messages: integer('How many messages were held in it'),
})

const holdWire = renderer<Hold>()(HoldWire, { held_until: ({ until }) => formatTime(until) })

/** Conversations that went round in circles. */
export function registerAdminConversations(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/conversations/held',
    admin({
      summary: 'List held conversations',
      description:
        'Conversations in which both sides answered each other within seconds, again and again. What is sent into one waits as REGISTERED.',
      response: { 200: listOf(HoldWire) },
    }),
    async () => ({ data: (await listHolds(ctx.db)).map(holdWire) }),
  )
  app.post(
    '/admin/conversations/release',
    admin({
      summary: 'Release a held conversation',
      description: 'What was held in it goes out now, in its order, or is dropped.',
      body: Release,
      response: { 200: Released },
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
