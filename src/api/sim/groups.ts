import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { type GroupStep, groupSteps } from '../../core/groups/history.js'
import type { PhoneGroup } from '../../core/sim/phone.js'
import { txOf } from '../../services/accounts/present.js'
import type { Ctx } from '../../services/ctx.js'
import { changeChat, leaveChat, requireChat, startChat } from '../../services/sim/group-acts.js'
import { wakePhoneLines } from '../../services/sim/phones.js'
import type { Sql } from '../../storage/engine/db.js'
import { listGroupIds } from '../../storage/groups/groups.js'
import { listGroupChanges } from '../../storage/sim/group-changes.js'
import { listPhoneGroups } from '../../storage/sim/groups.js'
import { GroupName, groupName } from '../groups/wire.js'
import { checkUrl, requireHandle, requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { listOf, nullable, oneOf, optional, string, strings } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

/** Groups on virtual phones, and what people do with them. */

const Chat = Type.Object(
  {
    id: string("The network's id"),
    group_id: nullable('string', 'Id of the group in the API, once the line knows the group'),
    line: string('The line of the group'),
    name: nullable('string', 'Name of the group'),
    photo_url: nullable('string', 'Photo of the group'),
    members: strings('All members including the line'),
    history: Type.Array(
      Type.Object({
        kind: oneOf(['made', 'named', 'unnamed', 'photo', 'added', 'removed', 'left'], 'What happened'),
        by: string('Who did it: a phone of the group, or the line'),
        value: nullable('string', 'The new name or photo, or the person who was added, was removed or left'),
        at: string('When'),
      }),
      { description: 'Changes of the group, oldest first' },
    ),
    created_at: string('When it was created'),
  },
  { title: 'PhoneGroup' },
)

const Params = Type.Object({ id: string('Either id of the group') })
const by = string('The phone of the group that does it')

export function registerSimGroups(app: Routes, ctx: Ctx): void {
  const wired = async (sql: Sql, chats: readonly PhoneGroup[]) => {
    const ids = await listGroupIds(sql, chats)
    const changes = await listGroupChanges(
      sql,
      chats.map((chat) => chat.id),
    )
    return chats.map((chat) => {
      const steps = groupSteps(changes.filter((change) => change.chatId === chat.id))
      return chatWire(chat, ids.get(chat.id), steps)
    })
  }
  /** Changes a chat once and tells its line. */
  const change = (reply: FastifyReply, status: number, act: (sql: Sql) => Promise<PhoneGroup>) =>
    answerOnce(ctx, reply, 'told', async (sql) => {
      const chat = await act(sql)
      const [body] = await wired(sql, [chat])
      return { status, body: body!, after: () => wakePhoneLines(ctx, [chat.lineId]) }
    })

  app.get(
    '/sim/groups',
    sim({ operationId: 'listSimGroups', summary: 'List groups', response: { 200: listOf(Chat) } }),
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      return { data: await wired(ctx.db, await listPhoneGroups(ctx.db, account.id, 1000)) }
    },
  )
  app.get(
    '/sim/groups/:id',
    sim({ operationId: 'getSimGroup', summary: 'Show a group', params: Params, response: { 200: Chat } }),
    async (request) => {
      const chat = await requireChat(ctx.db, await simulatedAccount(ctx, request), request.params.id)
      return (await wired(ctx.db, [chat]))[0]!
    },
  )
  app.post(
    '/sim/groups',
    sim({
      operationId: 'createSimGroup',
      summary: 'Create a group on a phone',
      example: { by: '+12025550101', line: '+12025550100', members: ['+12025550151'], name: 'Weekend' },
      body: Type.Object({
        by: string('The phone that creates it'),
        line: string('A simulated line to add, E.164'),
        members: strings('The other phones to add', { maxItems: 100 }),
        name: optional(GroupName),
      }),
      response: { 201: Chat },
    }),
    async (request, reply) => {
      const { body } = request
      const account = await simulatedAccount(ctx, request)
      const made = {
        by: requirePhone('by', body.by),
        line: requirePhone('line', body.line),
        members: body.members.map((member, index) => requireHandle(`members.${index}`, member)),
        name: groupName('name', body.name),
      }
      return change(reply, 201, (sql) => startChat(ctx, sql, account, made))
    },
  )
  app.patch(
    '/sim/groups/:id',
    sim({
      operationId: 'updateSimGroup',
      summary: 'Rename a group, or change its photo, on a phone',
      params: Params,
      example: { by: '+12025550101', name: 'Sunday' },
      body: Type.Object({
        by,
        name: optional(Type.Unsafe<string | null>({ ...GroupName, type: ['string', 'null'] })),
        photo_url: optional(nullable('string', 'New photo; null removes it')),
      }),
      response: { 200: Chat },
    }),
    async (request) => {
      const { body } = request
      const account = await simulatedAccount(ctx, request)
      const photoUrl = body.photo_url as string | null | undefined
      checkUrl(ctx, 'photo_url', photoUrl ?? undefined)
      const look = {
        ...(body.name === undefined ? {} : { name: groupName('name', body.name) }),
        ...(photoUrl === undefined ? {} : { photoUrl: photoUrl || null }),
      }
      const person = requirePhone('by', body.by)
      const chat = await txOf(ctx, account.id, (sql) =>
        changeChat(ctx, sql, account, request.params.id, person, look),
      )
      wakePhoneLines(ctx, [chat.lineId])
      return (await wired(ctx.db, [chat]))[0]!
    },
  )
  app.post(
    '/sim/groups/:id/members',
    sim({
      operationId: 'addSimGroupMember',
      summary: 'Add a person to a group on a phone',
      params: Params,
      example: { by: '+12025550101', number: '+12025550152' },
      body: Type.Object({ by, number: string('The phone to add') }),
      response: { 200: Chat },
    }),
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      const person = requirePhone('by', request.body.by)
      const add = requireHandle('number', request.body.number)
      return change(reply, 200, (sql) => changeChat(ctx, sql, account, request.params.id, person, { add }))
    },
  )
  app.post(
    '/sim/groups/:id/leave',
    sim({
      operationId: 'leaveSimGroup',
      summary: 'Leave a group on a phone',
      params: Params,
      example: { by: '+12025550101' },
      body: Type.Object({ by }),
      response: { 200: Chat },
    }),
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      const person = requirePhone('by', request.body.by)
      return change(reply, 200, (sql) => leaveChat(ctx, sql, account, request.params.id, person))
    },
  )
}

function chatWire(chat: PhoneGroup, groupId: string | undefined, steps: readonly GroupStep[]) {
  return {
    id: chat.id,
    group_id: groupId ?? null,
    line: chat.lineNumber,
    name: chat.name,
    photo_url: chat.photoUrl,
    members: [...chat.members, chat.lineNumber],
    history: steps.map(({ at, ...step }) => ({ ...step, at: formatTime(at) })),
    created_at: formatTime(chat.createdAt),
  }
}
