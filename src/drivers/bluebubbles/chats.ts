import { createBoundedMap } from '../../base/bounded-map.js'
import { fieldsOf, listOf } from '../../core/fields.js'
import type { Service } from '../../core/messages/message.js'
import type { GroupNews } from '../inbound.js'
import { dataOf, inPath, type Mac, MacFault } from './mac.js'
import { addressOf, type ChatRef, identifierOf, readChat, serviceOfChat } from './reading/rows.js'

/** A chat with its members. */
export interface Chat extends ChatRef {
  members: string[]
}

/** Finds the Mac's chats. Their ids are looked up, never built: the prefix before the number depends on the Mac. */
export interface Chats {
  /** The chat with one person, over this service or any. */
  withPerson(address: string, service?: Service): Promise<string | undefined>
  /** The group with this identifier at Apple. */
  group(chatId: string): Promise<string | undefined>
  /** The group with exactly these members; if several match, the one with the latest message. */
  groupWith(members: readonly string[]): Promise<Chat | undefined>
  /** The current state of a chat. */
  read(guid: string): Promise<Chat | undefined>
  /** Remembers a chat that a message belongs to. */
  learn(chat: ChatRef): void
  /** Drops the remembered chats with this identifier. */
  forget(key: string): void
}

const MAX_KNOWN = 20_000
const PAGE = 1000
const PAGE_BYTES = 64_000_000
const MAX_PAGES = 10
const PREFIXES: Record<Service, readonly string[]> = {
  iMessage: ['any', 'iMessage'],
  SMS: ['SMS', 'any'],
  RCS: ['RCS', 'any'],
  WhatsApp: [],
}
const ALL = ['any', 'iMessage', 'SMS', 'RCS']

export function createChats(mac: Mac): Chats {
  const known = createBoundedMap<string, string[]>(MAX_KNOWN)

  function learn({ guid }: ChatRef) {
    const key = identifierOf(guid)
    const guids = known.get(key) ?? []
    known.set(key, guids.includes(guid) ? guids : [...guids, guid])
  }

  async function read(guid: string): Promise<Chat | undefined> {
    const answer = await mac.call({ path: `/chat/${inPath(guid)}`, query: { with: 'participants' } })
    if (answer.status === 404) return undefined
    const chat = answer.status === 200 ? readChat(answer.data) : undefined
    if (!chat) throw new MacFault(answer, 'The chat could not be read')
    learn(chat)
    return { ...chat, members: membersOf(answer.data) }
  }

  async function find(key: string, kind: '-' | '+', prefixes: readonly string[]) {
    const wanted = prefixes.map((prefix) => `${prefix};${kind};${key}`)
    const have = known.get(key) ?? []
    const found = wanted.find((guid) => have.includes(guid))
    if (found) return found
    for (const guid of wanted) if ((await read(guid))?.guid === guid) return guid
    return undefined
  }

  async function groupWith(members: readonly string[]): Promise<Chat | undefined> {
    const wanted = keyOf(members)
    for (let page = 0; page < MAX_PAGES; page++) {
      const json = {
        with: ['participants', 'lastMessage'],
        sort: 'lastmessage',
        limit: PAGE,
        offset: page * PAGE,
      }
      const data = await dataOf(mac, 'The chats could not be read', {
        method: 'POST',
        path: '/chat/query',
        json,
        maxBytes: PAGE_BYTES,
      })
      for (const one of listOf(data)) {
        const chat = readChat(one)
        if (!chat?.isGroup || keyOf(membersOf(one)) !== wanted) continue
        learn(chat)
        return { ...chat, members: membersOf(one) }
      }
      if (listOf(data).length < PAGE) break
    }
    return undefined
  }

  return {
    groupWith,
    withPerson: (address, service) => find(address, '-', service ? PREFIXES[service] : ALL),
    group: (chatId) => find(chatId, '+', ALL),
    read,
    learn,
    forget: (key) => void known.delete(key),
  }
}

export function membersOf(chat: unknown): string[] {
  const addresses = listOf(fieldsOf(chat).participants).flatMap(
    (one) => addressOf(fieldsOf(one).address) ?? [],
  )
  return [...new Set(addresses)]
}

export function newsOf(chat: Chat, line: { number: string }, groupId: string | null = null): GroupNews {
  return {
    chatId: identifierOf(chat.guid),
    groupId,
    members: chat.members.filter((member) => member !== line.number),
    name: chat.name,
  }
}

/** Whether a chat's id names no service; messages in it may use any. */
export function isOpenService(guid: string): boolean {
  return serviceOfChat(guid) === null
}

function keyOf(members: readonly string[]): string {
  return [...members].sort().join(' ')
}
