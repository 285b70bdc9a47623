import { type TSchema, Type } from 'typebox'
import { handlesOf } from '../../core/groups/group.js'
import type { Ctx } from '../../services/ctx.js'
import { type GroupChange, recordChange, renameGroup } from '../../services/groups/actions.js'
import { requireGroup } from '../../services/groups/groups.js'
import { isWithin } from '../../services/messages/outbound.js'
import { findContacts } from '../../storage/contacts/contacts.js'
import { findLatestMessage } from '../../storage/groups/groups.js'
import { actorOf } from '../http/auth.js'
import { requirePhone } from '../http/fields.js'
import { answeredBefore, answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { nullable, optional, string } from '../http/schemas.js'
import { GroupName, GroupWire, groupName, groupWire } from './wire.js'

const route = routesOf('Groups', { access: 'account', confined: 'to its lines' })

export const Params = Type.Object({ group_id: string('The group') })

export const ActingLine = optional(
  nullable('string', 'The line that makes the change, E.164; default: the line of the group'),
)

export const changeAnswer = <T extends Record<string, TSchema>>(data: T) =>
  Type.Object({
    status: string('OK'),
    data: Type.Object({
      group_id: string('The group'),
      ...data,
      from_number: string('The line that made the change'),
    }),
  })

/** Reading and renaming one group. */
export function registerGroupDetails(app: Routes, ctx: Ctx): void {
  app.get(
    '/api/v2/groups/:group_id',
    route({
      operationId: 'getGroup',
      summary: 'Retrieve a group',
      params: Params,
      response: { 200: Type.Object({ status: string('OK'), data: GroupWire }) },
    }),
    async (request) => {
      const actor = actorOf(request)
      const group = await requireGroup(ctx, actor, request.params.group_id)
      const [latest, contacts] = await Promise.all([
        findLatestMessage(ctx.db, group),
        findContacts(ctx.db, group.accountId, 'phone', handlesOf(group)),
      ])
      const seen = [...contacts].filter(([, { lineNumber }]) => isWithin(actor, lineNumber ?? ''))
      return { status: 'OK', data: groupWire(group, latest, new Map(seen)) }
    },
  )

  app.post(
    '/api/v2/groups/:group_id/name',
    route({
      operationId: 'renameGroup',
      summary: 'Rename a group',
      description: 'Answers when the phones of the group show the name. Repeating the request is safe.',
      params: Params,
      example: { group_name: 'Weekend' },
      body: Type.Object({
        group_name: Type.Unsafe<string | null>({ ...GroupName, type: ['string', 'null'] }),
        from_number: ActingLine,
      }),
      response: { 200: changeAnswer({ group_name: string('Empty when it was cleared') }) },
    }),
    async (request, reply) => {
      const earlier = await answeredBefore<never>(ctx, reply, 'anew')
      if (earlier) return earlier
      const change = await renameGroup(ctx, actorOf(request), {
        groupId: request.params.group_id,
        name: groupName('group_name', request.body.group_name),
        fromNumber: actingNumber(request.body.from_number),
      })
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        const { name } = await recordChange(ctx, sql, change)
        return { status: 200, body: answer(change, { group_name: name ?? '' }) }
      })
    },
  )
}

export function actingNumber(fromNumber: string | null | undefined): string | null {
  return fromNumber ? requirePhone('from_number', fromNumber) : null
}

export function answer<T extends object>({ group, from }: GroupChange, data: T) {
  return { status: 'OK', data: { group_id: group.id, ...data, from_number: from.line.number } }
}
