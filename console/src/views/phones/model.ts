import type { AppCard, Chat, Message, PhoneMessage, Place, Service } from '../../api/types'
import type { Namer } from './names'

/** A message as it is drawn, whoever's screen it is on. */
export interface Bubble {
  id: string
  mine: boolean
  /** Above the bubble in a group. */
  sender: string | null
  text: string
  media: string[]
  card: AppCard | null
  place: Place | null
  asksForPlace: boolean
  service: Service
  effect: string
  at: number
  replyTo: { sender: string; text: string } | null
  reactions: { reaction: string; mine: boolean; by: string }[]
  /** Its own page, when the account knows it. */
  handle: string | null
  /** Nothing is known of a text that somebody sent by SMS. */
  state: 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'received' | 'unknown'
  readAt: number | null
  /** It was meant for iMessage and went as a text. */
  downgraded: boolean
  fault: string | null
}

/** A line between bubbles. */
export interface Notice {
  id: string
  at: number
  text: string
}

export const TAPBACKS = ['love', 'like', 'dislike', 'laugh', 'emphasize', 'question', '🎉', '🙏', '👀', '🔥']

const time = (at: string | null) => (at === null ? null : Date.parse(at))
const summary = (text: string, media: readonly string[]) => text || (media.length > 0 ? 'Photo' : 'Message')

/** What a phone has on its screen in one thread. */
export function phoneBubbles(
  messages: readonly PhoneMessage[],
  phone: { number: string; imessage: boolean },
  nameOf: Namer,
): Bubble[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const replaced = new Set(messages.map((message) => message.replaces))
  return messages
    .filter((message) => message.tapback_on === null && !replaced.has(message.id))
    .map((message) => {
      const mine = message.direction === 'out'
      const answered = byId.get(message.reply_to ?? '')
      const who = (one: PhoneMessage) => (one.direction === 'out' ? 'You' : nameOf(one.from))
      return {
        id: message.id,
        mine,
        sender: message.group && !mine ? nameOf(message.from) : null,
        text: message.content,
        media: message.media_urls,
        card: message.app_card ?? null,
        place: message.location ?? null,
        asksForPlace: message.location_request ?? false,
        service: message.service as Service,
        effect: message.send_style,
        at: Date.parse(message.created_at),
        replyTo: answered
          ? { sender: who(answered), text: summary(answered.content, answered.media_urls) }
          : null,
        reactions: message.reactions.map(({ by, reaction }) => ({
          reaction,
          mine: by === phone.number,
          by: by === phone.number ? 'You' : nameOf(by),
        })),
        handle: message.message_handle,
        state: mine ? phoneState(message) : 'received',
        readAt: time(message.read_at),
        downgraded: mine && phone.imessage && message.service === 'SMS',
        fault: null,
      }
    })
}

function phoneState(message: PhoneMessage): Bubble['state'] {
  if (message.arrived_at === null) return 'sending'
  if (message.service === 'SMS') return 'unknown'
  return message.read_at === null ? 'delivered' : 'read'
}

const FAILED = ['ERROR', 'DECLINED']

/** A conversation as the line's side has it. */
export function lineBubbles(records: readonly Message[], nameOf: Namer): Bubble[] {
  const byHandle = new Map(records.map((record) => [record.message_handle, record]))
  return records.map((record) => {
    const mine = record.is_outbound
    const answered = byHandle.get(record.reply_to?.message_handle ?? '')
    const media = record.media_urls ?? (record.media_url ? [record.media_url] : [])
    return {
      id: record.message_handle,
      mine,
      sender: record.group_id && !mine ? nameOf(record.from_number) : null,
      text: record.content,
      media,
      card: record.app_card ?? null,
      place: record.location ?? null,
      asksForPlace: false,
      service: record.service,
      effect: record.send_style,
      at: Date.parse(record.date_created),
      replyTo: answered
        ? {
            sender: answered.is_outbound ? 'You' : nameOf(answered.from_number),
            text: summary(answered.content, []),
          }
        : null,
      reactions: [],
      handle: record.message_handle,
      state: mine ? lineState(record) : 'received',
      readAt: null,
      downgraded: mine && record.was_downgraded === true,
      fault: FAILED.includes(record.status) ? (record.error_message ?? 'It could not be sent') : null,
    } satisfies Bubble
  })
}

function lineState({ status }: Message): Bubble['state'] {
  if (FAILED.includes(status)) return 'failed'
  if (status === 'DELIVERED') return 'delivered'
  return status === 'SENT' ? 'sent' : 'sending'
}

/** What happened to a group, in the words of a phone. */
export function chatNotices(chat: Chat, self: string, nameOf: Namer): Notice[] {
  const who = (handle: string) => (handle === self ? 'You' : nameOf(handle))
  return chat.history.map(({ kind, by, value, at }, index) => ({
    id: `${chat.id} ${index}`,
    at: Date.parse(at),
    text: noticeText(kind, who(by), value, who),
  }))
}

function noticeText(kind: string, by: string, value: string | null, who: (handle: string) => string): string {
  switch (kind) {
    case 'named':
      return `${by} named the conversation “${value}”.`
    case 'unnamed':
      return `${by} removed the name from the conversation.`
    case 'photo':
      return value ? `${by} changed the group photo.` : `${by} removed the group photo.`
    case 'added':
      return `${by} added ${value === null ? 'somebody' : who(value)} to the conversation.`
    case 'removed':
      return `${by} removed ${value === null ? 'somebody' : who(value)} from the conversation.`
    case 'left':
      return `${by} left the conversation.`
    default:
      return `${by} started the conversation.`
  }
}

export interface Thread {
  /** The line's number, or the id of the group. */
  key: string
  line: string
  group: Chat | null
  title: string
  messages: PhoneMessage[]
  unread: number
  last: number
}

/** The conversations of a phone, the newest first. */
export function threadsOf(
  messages: readonly PhoneMessage[],
  chats: readonly Chat[],
  titleOf: (line: string, chat: Chat | null) => string,
): Thread[] {
  const threads = new Map<string, Thread>()
  const threadAt = (key: string, line: string, group: Chat | null, at: number) => {
    const found = threads.get(key) ?? {
      key,
      line,
      group,
      title: titleOf(line, group),
      messages: [],
      unread: 0,
      last: at,
    }
    threads.set(key, found)
    return found
  }
  for (const chat of chats)
    threadAt(chat.id, chat.line, chat, Date.parse(chat.history.at(-1)?.at ?? chat.created_at))
  for (const message of messages) {
    const chat = message.group ? chats.find((one) => one.id === message.group?.id) : undefined
    const known: Chat | null =
      chat ??
      (message.group
        ? {
            id: message.group.id ?? '',
            name: message.group.name ?? null,
            members: message.group.members ?? [],
            group_id: null,
            photo_url: null,
            line: message.line,
            history: [],
            created_at: message.created_at,
          }
        : null)
    const thread = threadAt(message.group?.id ?? message.line, message.line, known, 0)
    thread.messages.push(message)
    thread.last = Math.max(thread.last, Date.parse(message.created_at))
    if (message.direction === 'in' && message.read_at === null && message.tapback_on === null) thread.unread++
  }
  return [...threads.values()].sort((a, b) => b.last - a.last)
}
