import { type Static, Type } from 'typebox'
import { formatTime, parseBound } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { type Group, handlesOf } from '../../core/groups/group.js'
import type { Message } from '../../core/messages/message.js'
import { toE164 } from '../../core/phone-number.js'
import type { Ctx } from '../../services/ctx.js'
import { findContacts } from '../../storage/contacts/contacts.js'
import { type Branch, listMessageIds, readMessages } from '../../storage/messages/list.js'
import { actorOf } from '../http/auth.js'
import { sendList } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, nullable, optional, string } from '../http/schemas.js'
import { branchesOf, ListQuery, merge, pageOf } from './query.js'
import { groupsOf } from './records.js'
import { wireStyle } from './wire.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines', unaudited: 'message' })

const { number, limit, offset } = ListQuery.properties

const LegacyQuery = Type.Object({
  cid: optional(string("Conversation: a contact's number in E.164, a contact_id, or a group id")),
  number,
  limit,
  offset,
  from_date: optional(string('Sent at or after, as YYYY-MM-DD HH:MM:SS in UTC, or ISO 8601')),
})

const LegacyMessage = Type.Object(
  {
    date: string('When it was accepted or stored, ISO 8601'),
    allowSMS: nullable('boolean', 'Kept for older clients; always null'),
    sendStyle: string('Expressive style; empty when none'),
    type: string('message, group, location or carousel'),
    uuid: string('Message handle'),
    media_url: string('Attached media; empty when none'),
    content: string('Message text'),
    number: string('The contact; for a message to a group, all recipients separated by commas'),
    is_outbound: boolean('Direction'),
    accountEmail: string('Account identifier'),
    was_downgraded: nullable(
      'boolean',
      'true when the recipient lacks iMessage, or RCS on a line without iMessage; null while unknown',
    ),
    callbackURL: string('status_callback of the send; empty when none'),
    row_id: nullable('string', 'Kept for older clients; always null'),
    status: string('Status'),
    error_message: nullable('string', 'What went wrong'),
    error_detail: nullable('string', 'Code and text from the carrier'),
    error_code: nullable('integer', 'Numeric code when failed'),
    to_number: string('Recipient'),
    from_number: string('Sender'),
    date_sent: string('When the carrier got it, ISO 8601'),
    date_updated: string('When its status last changed, ISO 8601'),
    phoneID: string('Id of the line'),
    group_id: string('Group id; empty outside groups'),
  },
  { title: 'MessageV1' },
)

function legacyWire(message: Message, account: Account, group?: Group): Static<typeof LegacyMessage> {
  const { lineNumber, error } = message
  const contact = group && message.isOutbound ? handlesOf(group).join(',') : message.contact
  return {
    date: formatTime(message.createdAt),
    allowSMS: null,
    sendStyle: wireStyle(message),
    type: message.type,
    uuid: message.handle,
    media_url: message.mediaUrl,
    content: message.content,
    number: contact,
    is_outbound: message.isOutbound,
    accountEmail: account.email,
    was_downgraded: message.wasDowngraded,
    callbackURL: message.statusCallback ?? '',
    row_id: null,
    status: message.status,
    error_message: error?.message ?? null,
    error_detail: error?.detail ?? null,
    error_code: error?.code ?? null,
    to_number: message.isOutbound ? contact : lineNumber,
    from_number: message.isOutbound ? lineNumber : contact,
    date_sent: formatTime(message.sentAt),
    date_updated: formatTime(message.updatedAt),
    phoneID: message.lineId,
    group_id: message.groupId ?? '',
  }
}

const LegacyMessages = Type.Array(LegacyMessage)

/** The message list of the first version of the interface. */
export function registerLegacyMessages(app: Routes, ctx: Ctx): void {
  for (const [path, operationId, version] of [
    ['/accounts/messages', 'listMessagesV1', 'first version'],
    ['/api/accounts/messages', 'listMessagesAtOlderPath', 'older path'],
  ] as const)
    app.get(
      path,
      route({
        operationId,
        summary: `List messages (${version})`,
        description: 'Newest first. Use GET /api/v2/messages in new programs; both share one rate limit.',
        deprecated: true,
        querystring: LegacyQuery,
        response: { 200: Type.Object({ messages: LegacyMessages }) },
      }),
      async (request, reply) => {
        const actor = actorOf(request)
        ctx.meters.countList(actor.account.id, actor.account.limits)
        const { cid, from_date, ...query } = request.query
        const since = from_date === undefined ? {} : { sent_at_gte: formatTime(legacyTime(from_date)) }
        const branches = await branchesOf(ctx, actor, { ...query, ...since })
        const conversation = cid === undefined ? {} : await conversationOf(ctx, actor.account, cid)
        const found = branches.flatMap((branch) => merge(branch, conversation) ?? [])
        const sql = ctx.db.aside(actor.account.id)
        const { pieces } = await listMessageIds(sql, found, pageOf(query))
        return sendList(reply, {
          owner: actor.account.id,
          pieces,
          rows: LegacyMessages,
          async read(ids) {
            const messages = await readMessages(sql, ids)
            const groups = await groupsOf(ctx, messages)
            return messages.map((message) =>
              legacyWire(message, actor.account, groups.get(message.groupId ?? '')),
            )
          },
          head: '{"messages":',
          tail: () => '}',
        })
      },
    )
}

async function conversationOf(ctx: Ctx, account: Account, cid: string): Promise<Partial<Branch>> {
  const contact = toE164(cid) ?? (await findContacts(ctx.db, account.id, 'id', [cid])).get(cid)?.phone
  return contact ? { contact } : { groupId: cid }
}

function legacyTime(text: string): number {
  const time = parseBound(text)
  if (time === undefined)
    throw new AppError('invalid', 'from_date: must be like 2026-01-31 09:30:00 (UTC), or ISO 8601')
  return time
}
