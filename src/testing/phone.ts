import { extractCode, extractLink } from '../core/sim/extract.js'
import { type Duration, milliseconds } from './duration.js'
import type { Ask, Json } from './request.js'

/** A message as a phone shows it. */
export interface PhoneMessage {
  /** The network's id. */
  id: string
  /** From the phone's side. */
  direction: 'in' | 'out'
  /** The line it came from or goes to. */
  line: string
  /** Who wrote it: the line, this phone, or another phone of the group. */
  from: string
  /** The group chat it is in; null for an ordinary message. */
  group: { id: string; name: string | null; members: string[] } | null
  content: string
  /** Empty if there is none. */
  mediaUrl: string
  /** An effect like `confetti`; empty if there is none. */
  sendStyle: string
  service: 'iMessage' | 'RCS' | 'SMS'
  /** Id of the message it answers. */
  replyTo: string | null
  /** The API's handle of a message that the line sent. */
  handle: string | null
  createdAt: Date
  /** When it reached the other side. */
  arrivedAt: Date | null
  readAt: Date | null
}

/** The settings of a phone. */
export interface PhoneSwitches {
  /** Name of the owner. */
  name?: string
  iMessage?: boolean
  rcs?: boolean
  /** false: messages wait until the phone is on again. */
  power?: boolean
  readReceipts?: boolean
  /** Refuses every message. */
  refuses?: boolean
  /** An e-mail address that also reaches its owner by iMessage. */
  email?: string | null
  /** Auto-reply; null turns it off. */
  autoReply?: string | null
}

export interface PhoneText {
  content?: string
  /** URL of a file, which the line fetches. */
  mediaUrl?: string
  /** A file on the phone. */
  media?: { name: string; bytes: Uint8Array }
  /** The message that this one answers. */
  replyTo?: Pick<PhoneMessage, 'id'>
  /** The line to write to; default `world.line`. */
  to?: string
}

export interface WaitFor {
  /** Text that the message must contain, or a pattern that it must match. */
  match?: string | RegExp
  /** Extracted from the text; a message without it does not match. A pattern gives its first group, or the whole match. */
  extract?: 'otp' | 'link' | RegExp
  /** Real time; default 5 seconds. */
  timeout?: Duration
}

export type Tapback = 'love' | 'like' | 'dislike' | 'laugh' | 'emphasize' | 'question'

/** A virtual phone, with everything that a person can do with it. */
export interface Phone {
  readonly number: string
  /** Writes to the line. */
  text(content: string | PhoneText, more?: PhoneText): Promise<{ id: string; service: string }>
  /** Reacts to a message on the phone, also with any emoji; a `-` in front removes the reaction. */
  tapback(message: Pick<PhoneMessage, 'id'>, reaction: Tapback | (string & {})): Promise<void>
  /** Starts (or, with false, stops) typing. */
  typing(isTyping?: boolean): Promise<void>
  /** Reads all messages. Returns how many were unread. */
  read(): Promise<number>
  set(switches: PhoneSwitches): Promise<void>
  /** Received messages, oldest first. */
  inbox(): Promise<PhoneMessage[]>
  /** Received and sent messages, oldest first. */
  conversation(): Promise<PhoneMessage[]>
  /**
   * Waits for the oldest message that matches and that no earlier wait returned. Other messages stay available for
   * later waits.
   */
  waitForMessage(
    want: WaitFor & { extract: 'otp' | 'link' | RegExp },
  ): Promise<PhoneMessage & { extracted: string }>
  waitForMessage(want?: WaitFor): Promise<PhoneMessage & { extracted: string | null }>
}

const PAGE = 1000
/** The longest wait that the API accepts in one request. */
const LONGEST_MS = 60_000
const SHOWN = 5

export function createPhone(ask: Ask, number: string, line: string): Phone {
  const path = `/sim/phones/${encodeURIComponent(number)}`
  const returned = new Set<string>()

  /** All messages after a position, and the next position; waits until there is a message. */
  async function read(after: number, direction: string, waitMs = 0) {
    const messages: PhoneMessage[] = []
    let cursor = after
    if (waitMs > 0) await ask('GET', `${path}/inbox?after=${cursor}&limit=1${direction}&wait=${waitMs}ms`)
    for (let more = true; more; ) {
      const page = await ask('GET', `${path}/inbox?after=${cursor}&limit=${PAGE}${direction}`)
      messages.push(...page.data.map(toMessage))
      cursor = page.cursor
      more = page.data.length === PAGE
    }
    return { messages, cursor }
  }

  return {
    number,
    async text(content, more = {}) {
      const text = typeof content === 'string' ? { ...more, content } : content
      const { media, replyTo } = text
      const { id, service } = await ask('POST', `${path}/messages`, {
        to: text.to ?? line,
        content: text.content,
        media_url: text.mediaUrl,
        ...(media
          ? { media: { name: media.name, base64: Buffer.from(media.bytes).toString('base64') } }
          : {}),
        ...(replyTo ? { reply_to: replyTo.id } : {}),
      })
      return { id, service }
    },
    async tapback({ id }, reaction) {
      await ask('POST', `${path}/messages/${encodeURIComponent(id)}/reactions`, { reaction })
    },
    async typing(isTyping = true) {
      await ask('POST', `${path}/typing`, { to: line, typing: isTyping })
    },
    read: async () => (await ask('POST', `${path}/read`, {})).read,
    async set({ iMessage, readReceipts, autoReply, ...switches }) {
      await ask('PATCH', path, {
        ...switches,
        imessage: iMessage,
        read_receipts: readReceipts,
        auto_reply: autoReply,
      })
    },
    inbox: async () => (await read(0, '&direction=in')).messages,
    conversation: async () => (await read(0, '')).messages,
    waitForMessage: (async (want: WaitFor = {}) => {
      const endsAt = performance.now() + milliseconds(want.timeout ?? '5s')
      const seen: PhoneMessage[] = []
      for (let after = 0; ; ) {
        const left = Math.ceil(endsAt - performance.now())
        const { messages, cursor } = await read(after, '&direction=in', Math.min(left, LONGEST_MS))
        for (const message of messages) {
          const extracted = returned.has(message.id) ? undefined : extractFrom(message.content, want)
          if (extracted === undefined) continue
          returned.add(message.id)
          return { ...message, extracted }
        }
        seen.push(...messages)
        after = cursor
        if (left <= 0) throw new Error(noMessage(number, want, seen))
      }
    }) as Phone['waitForMessage'],
  }
}

/** The extracted part of a matching text (null if none was asked for); undefined if the text does not match. */
function extractFrom(content: string, { match, extract }: WaitFor): string | null | undefined {
  const fits = typeof match === 'string' ? content.includes(match) : !match || copy(match).test(content)
  if (!fits) return undefined
  if (extract === undefined) return null
  if (extract === 'otp') return extractCode(content) ?? undefined
  if (extract === 'link') return extractLink(content) ?? undefined
  const found = copy(extract).exec(content)
  return found ? (found[1] ?? found[0]) : undefined
}

/** Without the flags g and y, with which a pattern keeps its position between calls. */
function copy(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
}

function noMessage(
  number: string,
  { match, extract, timeout = '5s' }: WaitFor,
  seen: PhoneMessage[],
): string {
  const criteria = [match && `matching ${quoted(match)}`, extract && `with ${quoted(extract)} to extract`]
    .filter(Boolean)
    .join(' and ')
  const got = seen.slice(-SHOWN).map(({ content }) => `\n  ${JSON.stringify(content)}`)
  return [
    `No ${seen.length > 0 ? 'further ' : ''}message${criteria && ` ${criteria}`} reached ${number} within ${timeout}.`,
    seen.length > 0
      ? ` It has ${seen.length}${seen.length > SHOWN ? `, the last ${SHOWN} are` : ''}:`
      : ' It has no messages.',
    ...got,
  ].join('')
}

function quoted(text: string | RegExp): string {
  return typeof text === 'string' ? JSON.stringify(text) : String(text)
}

function toMessage(wire: Json): PhoneMessage {
  const time = (text: string | null) => (text === null ? null : new Date(text))
  return {
    id: wire.id,
    direction: wire.direction,
    line: wire.line,
    from: wire.from,
    group: wire.group,
    content: wire.content,
    mediaUrl: wire.media_url,
    sendStyle: wire.send_style,
    service: wire.service,
    replyTo: wire.reply_to,
    handle: wire.message_handle,
    createdAt: new Date(wire.created_at),
    arrivedAt: time(wire.arrived_at),
    readAt: time(wire.read_at),
  }
}
