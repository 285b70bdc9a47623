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
import { NextCursor, pageQuery, placesOf, placeText } from '../http/cursor.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, nullable, oneOf, string, strings } from '../http/schemas.js'

const route = routesOf('Conversations', { access: 'account', confined: 'to its lines' })

const PREVIEW = 140

const ConversationWire = Type.Object({
  conversation: string("The other's number, or the id of the group"),
  line: string('The line, E.164'),
  line_id: string('Id of the line'),
  group_id: string('Group id; empty outside groups'),
  name: nullable('string', "The contact's or the group's name; null when it has none"),
  participants: strings('The people in it beside the line'),
  last_activity_at: string('When its latest message was accepted or stored, ISO 8601'),
  awaits_reply: boolean('Whether the other side had the last word'),
  held_until: nullable('string', 'Until when nothing goes out in it because it went round in circles'),
  last_message: Type.Object({
    message_handle: string('Unique identifier of the message'),
    is_outbound: boolean('Direction'),
    status: oneOf(STATUSES, 'Status'),
    service: oneOf(SERVICES, 'Service'),
    preview: string(`Text, cut after ${PREVIEW} characters`),
    has_media: boolean('Whether there is media in it'),
    from_number: string('Who wrote it'),
  }),
})

export function registerConversations(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/conversations',
    route({
      summary: 'List conversations',
      description:
        'Everybody a line has written with, latest activity first. A page looks at no more than 5000 messages and may hold fewer conversations than asked for; there are more as long as next_cursor is not null. ' +
        'A token that is confined to some lines sees those.',
      querystring: Type.Object(pageQuery(200, 50)),
      response: {
        200: Type.Object({
          data: Type.Array(ConversationWire),
          looked_back_to: nullable('string', 'How far back this page goes; null when there is nothing'),
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
        next_cursor: page.next ? `${placeText(page.next.below)}-${placeText(page.next.top)}` : null,
      }
    },
  )
}

function placeOf(cursor: string): ConversationPlace {
  const [below, top] = placesOf(cursor, 2)
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
