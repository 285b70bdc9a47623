import type { ChatRow } from '../chat-db.js'
import { badRequest, type Reply } from '../envelope.js'
import { stopTyping } from '../messages-app.js'
import { participantsOf } from '../projections.js'
import { type Ask, type Mac, now, osMajor, type Route } from '../state.js'
import { requireChat } from './chats.js'
import { fullView } from './messages.js'
import { findMessages } from './query.js'
import { validate } from './rules.js'
import { attempt, helperSend } from './sends.js'

const REACTIONS = ['love', 'like', 'dislike', 'laugh', 'emphasize', 'question']

/** Typing, read receipts, reactions and profile. */
export const presenceRoutes: Route[] = [
  { method: 'POST', path: 'chat/:guid/typing', privateApi: true, handle: startTyping },
  { method: 'DELETE', path: 'chat/:guid/typing', privateApi: true, handle: endTyping },
  { method: 'POST', path: 'chat/:guid/read', privateApi: true, handle: (mac, ask) => mark(mac, ask, true) },
  {
    method: 'POST',
    path: 'chat/:guid/unread',
    privateApi: true,
    handle: (mac, ask) => mark(mac, ask, false),
  },
  { method: 'GET', path: 'chat/:guid/share/contact/status', privateApi: true, handle: cardStatus },
  { method: 'POST', path: 'chat/:guid/share/contact', privateApi: true, handle: shareCard },
  { method: 'POST', path: 'message/react', privateApi: true, handle: react },
]

/** The server does not wait for the helper here, so it misses a wrong chat or a dead helper. */
function reached(mac: Mac, { params }: Ask): ChatRow | undefined {
  return mac.flags.helperConnected ? mac.db.chat(params.guid!) : undefined
}

const people = (mac: Mac, chat: ChatRow | undefined) =>
  chat ? participantsOf(mac.db, chat.ROWID).map(({ id }) => mac.people.of(id)) : []

function startTyping(mac: Mac, ask: Ask): Reply {
  for (const person of people(mac, reached(mac, ask))) {
    person.typing = true
    person.typingLog.push(true)
  }
  return { message: 'Successfully started typing!' }
}

function endTyping(mac: Mac, ask: Ask): Reply {
  if (mac.profile.typingStopStarts) startTyping(mac, ask)
  else for (const person of people(mac, reached(mac, ask))) stopTyping(mac, person.address)
  return { message: 'Successfully stopped typing!' }
}

function mark(mac: Mac, ask: Ask, read: boolean): Reply {
  if (!read && osMajor(mac) < 13) throw new Error('Mark unread is only supported on macOS Ventura and newer!')
  const chat = reached(mac, ask)
  if (chat) {
    if (read) {
      for (const person of people(mac, chat)) person.readMarks.push(now(mac))
      markRows(mac, chat)
    }
    mac.events.emit('chat-read-status-changed', { chatGuid: chat.guid, read })
  }
  return { message: `Successfully marked chat as ${read ? 'read' : 'unread'}!` }
}

/** Marks inbound rows as read; the server announces that as a change. */
function markRows(mac: Mac, chat: ChatRow) {
  const { rows } = findMessages(mac.db, {
    chatGuid: chat.guid,
    where: [
      { statement: 'message.is_from_me = 0 AND message.is_read = 0 AND message.item_type = 0', args: {} },
    ],
    limit: 1000,
  })
  for (const row of rows) mac.db.update('message', row.ROWID, { is_read: 1, date_read: now(mac) })
  if (rows.length) mac.events.changed()
}

function cardStatus(mac: Mac, { params }: Ask): Reply {
  const chat = requireChat(mac, params.guid)
  const data = people(mac, chat).some(({ cardShared }) => cardShared === 0)
  return { message: 'Successfully got contact sharing status!', data }
}

function shareCard(mac: Mac, ask: Ask): Reply {
  requireChat(mac, ask.params.guid)
  for (const person of people(mac, reached(mac, ask))) person.cardShared++
  return { message: 'Successfully shared contact info!' }
}

async function react(mac: Mac, { fields }: Ask): Promise<Reply> {
  const allowed = mac.profile.emojiTapback ? [...REACTIONS, 'emoji'] : REACTIONS
  const asked = validate(fields, {
    chatGuid: 'required|string',
    selectedMessageGuid: 'required|string',
    reaction: `required|string|in:${[...allowed, ...allowed.map((name) => `-${name}`)].join(',')}`,
    partIndex: 'numeric|min:0',
    emoji: 'string',
  })
  const guid = asked.selectedMessageGuid as string
  if (!mac.db.message(guid)) throw badRequest('Selected message does not exist!')
  const tapback = {
    guid,
    part: Number(asked.partIndex ?? 0),
    reaction: asked.reaction as string,
    emoji: (asked.emoji as string | undefined) ?? null,
  }
  const row = await attempt('Reaction Send Error', () =>
    helperSend(mac, asked.chatGuid as string, { text: '', tapback }, 'reaction'),
  )
  return { message: 'Reaction sent!', data: fullView(mac, row, { withAttachments: false }) }
}
