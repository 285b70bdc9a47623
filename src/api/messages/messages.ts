import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Account } from '../../core/accounts/account.js'
import { DEFAULT_LIMITS } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import type { Message } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { deleteMessage } from '../../services/messages/delete.js'
import { isWithin } from '../../services/messages/outbound.js'
import { type SendInput, sendMessage } from '../../services/messages/send.js'
import { resolveStatus } from '../../services/messages/status.js'
import { listMessageIds, readMessages } from '../../storage/messages/list.js'
import { findMessage } from '../../storage/messages/messages.js'
import { accountOf, actorOf } from '../http/auth.js'
import { checkUrl, requirePhone } from '../http/fields.js'
import { identityOf } from '../http/identity.js'
import { sendList } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, optional, string } from '../http/schemas.js'
import { ABOUT_CARD, AppCardInput, cardOf } from './app-card-wire.js'
import { branchesOf, ListQuery, pageOf } from './query.js'
import { groupsOf } from './records.js'
import { markAccepted, SEND_ALIASES, SEND_FIELDS, sendRequestOf } from './send-fields.js'
import {
  AnyMessageResponse,
  MessageRecord,
  MessageResponse,
  toGroupResponse,
  toRecord,
  toResponse,
} from './wire.js'
import { ReplyToInput, replyToOf } from './wire-parts.js'

const sendRoute = routesOf('Messages', {
  access: 'account',
  confined: 'to its lines',
  unaudited: 'message',
})
const readRoute = routesOf('Messages', { access: 'any', confined: 'to its lines' })

const MessageRecords = Type.Array(MessageRecord)

/** `reply_to` may stand beside the card or in it. */
const CardBody = Type.Object(
  { ...AppCardInput.properties, reply_to: optional(ReplyToInput) },
  { title: 'NewAppCard', description: ABOUT_CARD },
)

const { number, from_number, content, media_url, send_style, status_callback, reply_to, seat_id, send_at } =
  SEND_FIELDS

const SendBody = Type.Object(
  {
    number,
    from_number,
    content,
    media_url,
    send_style,
    status_callback,
    reply_to,
    app_card: optional(CardBody),
    seat_id,
    send_at,
  },
  { title: 'NewMessage' },
)

export function registerMessages(app: Routes, ctx: Ctx): void {
  async function recordOf(request: FastifyRequest, handle: string) {
    const { message, account } = await visible(ctx, request, handle)
    const group = (await groupsOf(ctx, [message])).get(message.groupId ?? '')
    return toRecord(message, account, group)
  }

  app.post(
    '/api/send-message',
    sendRoute({
      operationId: 'sendMessage',
      summary: 'Send a message',
      description:
        'Answers as soon as the message is stored durably; the line sends it afterwards. Read its status with GET /api/status.',
      aliases: SEND_ALIASES,
      objects: ['app_card', 'app_card.layout', 'app_card.reply_to'],
      example: { from_number: '+12025550100', number: '+12025550101', content: 'Hello Ada' },
      body: SendBody,
      response: { 202: MessageResponse },
    }),
    async (request, reply) => {
      const { body } = request
      const account = accountOf(request)
      if (!body.content && !body.media_url && !body.app_card) {
        throw new AppError('invalid', 'missing required parameter: content (or media_url, or app_card)')
      }
      if (body.app_card && body.media_url)
        throw new AppError('invalid', 'media_url: an App Card carries no other media; use layout.imageUrl')
      checkUrl(ctx, 'app_card.layout.imageUrl', body.app_card?.layout.imageUrl)
      const identity = identityOf(request)
      const input: SendInput = Object.assign(sendRequestOf(ctx, body, identity), {
        number: requirePhone('number', body.number),
        appCard: body.app_card ? cardOf(body.app_card) : null,
      })
      input.replyTo ??= replyToOf(body.app_card?.reply_to)
      const accepted = await sendMessage(ctx, actorOf(request), input, identity)
      markAccepted(reply, accepted)
      return toResponse(accepted.message, account)
    },
  )

  app.get(
    '/api/status',
    readRoute({
      operationId: 'getMessageStatus',
      errors: { 404: 'There is no message with this handle.' },
      summary: 'Show the status of a message',
      description:
        'Asks the carrier first while the outcome of the send is unknown. An inbound message is DELIVERED: it reached its line.',
      querystring: Type.Object({
        handle: optional(string('Message handle')),
        message_handle: optional(string('Older name of handle', { deprecated: true })),
      }),
      response: { 200: AnyMessageResponse },
    }),
    async (request) => {
      const { query } = request
      const handle = query.handle ?? query.message_handle
      if (!handle) throw new AppError('invalid', 'missing required parameter: handle')
      const { message, account } = await visible(ctx, request, handle)
      const resolved = await resolveStatus(ctx, message)
      const group = (await groupsOf(ctx, [resolved])).get(resolved.groupId ?? '')
      return group ? toGroupResponse(resolved, account, group) : toResponse(resolved, account)
    },
  )

  app.get(
    '/api/v2/messages',
    readRoute({
      operationId: 'listMessages',
      summary: 'List messages',
      description: 'At most 100 requests in 10 seconds per account.',
      querystring: ListQuery,
      response: {
        200: Type.Object({
          status: string('OK'),
          data: MessageRecords,
          pagination: Type.Object(
            {
              hasMore: boolean('Whether there are more rows'),
              limit: integer('Number of rows returned'),
              offset: integer('Rows skipped'),
              total: integer('Number of all matches'),
            },
            { title: 'Pagination' },
          ),
        }),
      },
    }),
    async (request, reply) => {
      const principal = request.principal!
      const { name, limits } =
        principal.kind === 'account'
          ? { name: principal.account.id, limits: principal.account.limits }
          : { name: `key ${principal.key?.id}`, limits: DEFAULT_LIMITS }
      ctx.meters.countList(name, limits)
      const { query } = request
      const page = pageOf(query)
      const branches = await branchesOf(ctx, principal, query)
      const sql = ctx.db.aside(name)
      const { pieces, total } = await listMessageIds(sql, branches, page)
      const { offset } = page
      return sendList(reply, {
        owner: name,
        pieces,
        rows: MessageRecords,
        async read(ids) {
          const messages = await readMessages(sql, ids)
          const owners = await ownersOf(ctx, request, messages)
          const groups = await groupsOf(ctx, messages)
          return messages.map((message) =>
            toRecord(message, owners.get(message.accountId)!, groups.get(message.groupId ?? '')),
          )
        },
        head: '{"status":"OK","data":',
        tail(count) {
          const pagination = { hasMore: offset + count < total, limit: count, offset, total }
          return `,"pagination":${JSON.stringify(pagination)}}`
        },
      })
    },
  )

  app.get(
    '/api/v2/messages/:message_id',
    readRoute({
      operationId: 'getMessage',
      summary: 'Retrieve a message',
      params: Type.Object({ message_id: string('Message handle') }),
      response: { 200: Type.Object({ status: string('OK'), data: MessageRecord }) },
    }),
    async (request) => ({ status: 'OK', data: await recordOf(request, request.params.message_id) }),
  )

  app.get(
    '/api/message/:message_handle',
    readRoute({
      operationId: 'getMessageV1',
      summary: 'Retrieve a message (first version)',
      description: 'Answers with the message itself. Use GET /api/v2/messages/{message_id} in new programs.',
      deprecated: true,
      params: Type.Object({ message_handle: string('Message handle') }),
      response: { 200: MessageRecord },
    }),
    (request) => recordOf(request, request.params.message_handle),
  )

  // The router needs the parameter name of the route that retrieves a message.
  for (const [path, operationId, name] of [
    ['/api/message/:message_handle', 'deleteMessage', 'message_handle'],
    ['/api/v2/messages/:message_id', 'deleteMessageById', 'message_id'],
  ] as const) {
    app.delete(
      path,
      sendRoute({
        operationId,
        summary: 'Delete a message',
        description:
          'Removes the message permanently from lists, totals and status; a repeated request answers 404. A delivered message stays on the phone, and a queued message is still sent. A scheduled message is canceled.',
        params: Type.Object({ [name]: string('Message handle') }),
        response: {
          200: Type.Object(
            {
              status: string('OK'),
              message: string('Result as text'),
              message_handle: string('Handle of the deleted message'),
            },
            { title: 'DeletedMessage' },
          ),
        },
      }),
      async (request) => {
        const handle = (request.params as Record<string, string>)[name]!
        await deleteMessage(ctx, actorOf(request), handle)
        return { status: 'OK', message: 'Message deleted', message_handle: handle }
      },
    )
  }
}

/** A message that the caller may see. All others answer like a message that does not exist. */
async function visible(
  ctx: Ctx,
  request: FastifyRequest,
  handle: string,
): Promise<{ message: Message; account: Account }> {
  const principal = request.principal!
  const message = await findMessage(
    ctx.db,
    handle,
    principal.kind === 'account' ? principal.account.id : undefined,
  )
  const hidden = principal.kind === 'account' && message && !isWithin(principal, message.lineNumber)
  const account = message && (await ownersOf(ctx, request, [message])).get(message.accountId)
  if (!message || !account || hidden) throw new AppError('not_found', 'There is no message with this handle')
  return { message, account }
}

async function ownersOf(
  ctx: Ctx,
  request: FastifyRequest,
  messages: readonly Message[],
): Promise<Map<string, Account>> {
  const principal = request.principal!
  if (principal.kind === 'account') return new Map([[principal.account.id, principal.account]])
  const ids = [...new Set(messages.map((message) => message.accountId))]
  const accounts = await Promise.all(ids.map((id) => ctx.directory.account(id)))
  return new Map(ids.map((id, index) => [id, accounts[index] ?? goneAccount(id)]))
}

/** Messages outlive their account; an operator still sees them. */
function goneAccount(id: string): Account {
  return {
    id,
    email: '',
    name: '',
    plan: '',
    world: 'live',
    twinId: '',
    owner: null,
    defaultForwardingNumber: null,
    bodiesUntil: null,
    emptying: null,
    budgets: {},
    createdAt: 0,
  }
}
