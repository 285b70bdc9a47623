import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { handlesOf } from '../../core/groups/group.js'
import { SERVICES, STATUSES } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import {
  type Conversation,
  type ConversationPlace,
  listConversations,
} from '../../services/insight/conversations.js'
import { actorOf } from '../http/auth.js'
import { NextCursor, pageQuery, positionsIn, positionText } from '../http/cursor.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, nullable, oneOf, string, strings } from '../http/schemas.js'

const route = routesOf('Conversations', { access: 'account', confined: 'to its lines' })

const PREVIEW = 140

const ConversationWire = Type.Object(
  {
    conversation: string("The contact's number, or the id of the group"),
    line: string('The line, E.164'),
    line_id: string('Id of the line'),
    group_id: string('Group id; empty outside groups'),
    name: nullable('string', "The contact's or the group's name; null when it has none"),
    participants: strings('Members of the conversation without the line'),
    last_activity_at: string('When its latest message was accepted or stored, ISO 8601'),
    awaits_reply: boolean('Whether the last message is inbound'),
    held_until: nullable('string', 'Until when the conversation is held because of a message loop'),
    last_message: Type.Object({
      message_handle: string('Unique identifier of the message'),
      is_outbound: boolean('Direction'),
      status: oneOf(STATUSES, 'Status'),
      service: oneOf(SERVICES, 'Service'),
      preview: string(`Text, cut after ${PREVIEW} characters`),
      has_media: boolean('Whether the message has media'),
      from_number: string('Sender'),
    }),
  },
  { title: 'Conversation' },
)

export function registerConversations(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/conversations',
    route({
      operationId: 'listConversations',
      summary: 'List conversations',
      description:
        'Conversations of the lines, latest activity first. A page reads at most 5000 messages and may hold fewer conversations than requested; there are more while next_cursor is not null. A token confined to some lines sees only those lines.',
      querystring: Type.Object(pageQuery(200, 50)),
      response: {
        200: Type.Object({
          data: Type.Array(ConversationWire),
          looked_back_to: nullable(
            'string',
            'Time of the oldest message that was read for this page; null without messages',
          ),
          next_cursor: NextCursor,
        }),
      },
    }),
    async (request) => {
      const { limit = 50, cursor } = request.query
      const place = cursor === undefined ? undefined : placeOf(cursor)
      const page = await listConversations(ctx, actorOf(request), place, Math.min(limit, 200))
      return {
        data: page.conversations.map(conversationWire),
        looked_back_to: page.lookedBackTo === undefined ? null : formatTime(page.lookedBackTo),
        next_cursor: page.next ? `${positionText(page.next.below)}-${positionText(page.next.top)}` : null,
      }
    },
  )
}

function placeOf(cursor: string): ConversationPlace {
  const [below, top] = positionsIn(cursor, 2)
  return { below: below!, top: top! }
}

function conversationWire({ last, contact, group, heldUntil }: Conversation) {
  const name = group ? group.name : `${contact?.firstName ?? ''} ${contact?.lastName ?? ''}`.trim()
  return {
    conversation: last.groupId ?? last.contact,
    line: last.lineNumber,
    line_id: last.lineId,
    group_id: last.groupId ?? '',
    name: name || contact?.companyName || null,
    participants: group ? handlesOf(group) : last.groupId === null ? [last.contact] : [],
    last_activity_at: formatTime(last.createdAt),
    awaits_reply: !last.isOutbound,
    held_until: heldUntil === undefined ? null : formatTime(heldUntil),
    last_message: {
      message_handle: last.handle,
      is_outbound: last.isOutbound,
      status: last.status,
      service: last.service,
      preview: [...last.content.slice(0, 2 * PREVIEW)].slice(0, PREVIEW).join(''),
      has_media: last.mediaUrl !== '',
      from_number: last.isOutbound ? last.lineNumber : last.contact,
    },
  }
}
