import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Message } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { cancelScheduled } from '../../services/messages/schedule.js'
import { findGroups } from '../../storage/groups/groups.js'
import { listScheduled, type SchedulePosition } from '../../storage/messages/schedule.js'
import { accountOf, actorOf } from '../http/auth.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, optional, string } from '../http/schemas.js'
import { MessageRecord, toRecord } from './wire.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines' })

/** Messages that wait for their `send_at`. */
export function registerScheduledMessages(app: Routes, ctx: Ctx): void {
  const groupsOf = (messages: readonly Message[]) =>
    findGroups(
      ctx.db,
      messages.flatMap((message) => message.groupId ?? []),
    )

  app.get(
    '/v3/scheduled-messages',
    route({
      summary: 'List scheduled messages, soonest first',
      description: 'Messages sent with send_at whose time has not come.',
      querystring: Type.Object({
        limit: optional(integer('At most 1000; default 100', { minimum: 1 })),
        cursor: optional(string('next_cursor of the previous page')),
      }),
      response: {
        200: Type.Object({
          data: Type.Array(MessageRecord),
          next_cursor: nullable('string', 'Cursor of the next page; null at the end'),
        }),
      },
    }),
    async (request) => {
      const { account, numbers } = actorOf(request)
      const limit = Math.min(request.query.limit ?? 100, 1000)
      const after = placeOf(request.query.cursor)
      const found = await listScheduled(ctx.db, account.id, numbers, after, limit + 1)
      const messages = found.slice(0, limit)
      const groups = await groupsOf(messages)
      const last = found.length > limit ? messages.at(-1)! : undefined
      return {
        data: messages.map((message) => toRecord(message, account, groups.get(message.groupId ?? ''))),
        next_cursor: last ? `${last.dueAt}-${last.id}` : null,
      }
    },
  )

  app.delete(
    '/v3/scheduled-messages/:handle',
    route({
      summary: 'Cancel a scheduled message',
      description:
        'The message ends as DECLINED with the error_reason canceled. A message that is not scheduled, or no longer, answers 409.',
      params: Type.Object({ handle: string('Message handle') }),
      response: { 200: Type.Object({ data: MessageRecord }) },
    }),
    async (request) => {
      const message = await cancelScheduled(ctx, actorOf(request), request.params.handle)
      const group = (await groupsOf([message])).get(message.groupId ?? '')
      return { data: toRecord(message, accountOf(request), group) }
    },
  )
}

function placeOf(cursor: string | undefined): SchedulePosition | undefined {
  if (cursor === undefined) return undefined
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(cursor)
  if (!match) throw new AppError('invalid', 'cursor: must be the next_cursor of the page before')
  return { dueAt: Number(match[1]), id: Number(match[2]) }
}
