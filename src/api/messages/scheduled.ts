import { Type } from 'typebox'
import type { Ctx } from '../../services/ctx.js'
import { cancelScheduled } from '../../services/messages/schedule.js'
import { piecesOf } from '../../storage/engine/pieces.js'
import { readMessages } from '../../storage/messages/list.js'
import { listScheduled, type SchedulePosition } from '../../storage/messages/schedule.js'
import { accountOf, actorOf } from '../http/auth.js'
import { positionsIn } from '../http/cursor.js'
import { sendList } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, optional, string } from '../http/schemas.js'
import { recordsOf } from './records.js'
import { MessageRecord } from './wire.js'

const MessageRecords = Type.Array(MessageRecord)
const route = routesOf('Messages', { access: 'account', confined: 'to its lines', unaudited: 'message' })

/** Messages that wait for their `send_at`. */
export function registerScheduledMessages(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/scheduled-messages',
    route({
      operationId: 'listScheduledMessages',
      summary: 'List scheduled messages, soonest first',
      description: 'Messages sent with send_at whose time has not come.',
      querystring: Type.Object({
        limit: optional(integer('At most 1000; default 100', { minimum: 1 })),
        cursor: optional(string('next_cursor of the previous page')),
      }),
      response: {
        200: Type.Object({
          data: MessageRecords,
          next_cursor: nullable('string', 'Cursor of the next page; null at the end'),
        }),
      },
    }),
    async (request, reply) => {
      const { account, numbers } = actorOf(request)
      const limit = Math.min(request.query.limit ?? 100, 1000)
      const after = positionIn(request.query.cursor)
      const sql = ctx.db.aside(account.id)
      const found = await listScheduled(sql, account.id, numbers, after, limit + 1)
      const messages = found.slice(0, limit)
      const last = found.length > limit ? messages.at(-1)! : undefined
      return sendList(reply, {
        owner: account.id,
        pieces: piecesOf(messages),
        rows: MessageRecords,
        read: async (ids) => recordsOf(ctx, account, await readMessages(sql, ids)),
        head: '{"data":',
        tail: () => `,"next_cursor":${JSON.stringify(last ? `${last.dueAt}-${last.id}` : null)}}`,
      })
    },
  )

  app.delete(
    '/v3/scheduled-messages/:handle',
    route({
      operationId: 'cancelScheduledMessage',
      errors: { 409: 'The message does not wait for its time, or no longer.' },
      summary: 'Cancel a scheduled message',
      description:
        'The message ends as DECLINED with the error_reason canceled. A message that is not scheduled, or no longer, answers 409.',
      params: Type.Object({ handle: string('Message handle') }),
      response: { 200: Type.Object({ data: MessageRecord }) },
    }),
    async (request) => {
      const message = await cancelScheduled(ctx, actorOf(request), request.params.handle)
      const [record] = await recordsOf(ctx, accountOf(request), [message])
      return { data: record! }
    },
  )
}

function positionIn(cursor: string | undefined): SchedulePosition | undefined {
  const [position] = cursor === undefined ? [] : positionsIn(cursor, 1)
  return position && { dueAt: position.createdAt, id: position.id }
}
