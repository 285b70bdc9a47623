import { type ChatRow, newGuid, type Service } from '../chat-db.js'
import { notFound, type Reply } from '../envelope.js'
import { never, sendByHelper } from '../messages-app.js'
import { chatView, participantsOf } from '../projections.js'
import { type Ask, helperTrouble, type Mac, type Route, wait } from '../state.js'
import { fullView, withs } from './messages.js'
import { findMessages } from './query.js'
import { validate } from './rules.js'
import { appleScript } from './sends.js'

export const chatRoutes: Route[] = [
  { method: 'POST', path: 'chat/new', handle: create },
  { method: 'GET', path: 'chat/count', handle: count },
  { method: 'POST', path: 'chat/query', handle: query },
  { method: 'GET', path: 'chat/:guid/message', handle: messages },
  { method: 'GET', path: 'chat/:guid', handle: find },
]

/** Guids are case-sensitive. */
export function requireChat(mac: Mac, guid: string | undefined): ChatRow {
  const chat = mac.db.chat(guid!)
  if (!chat) throw notFound('Chat does not exist!')
  return chat
}

function find(mac: Mac, { params, query }: Ask): Reply {
  const chat = requireChat(mac, params.guid)
  const wanted = withs(query.get('with'))
  const data: Record<string, unknown> = chatView(mac.db, chat, {
    participants: wanted.includes('participants'),
  })
  if (wanted.includes('lastmessage')) data.lastMessage = lastMessage(mac, chat)
  return { data }
}

function lastMessage(mac: Mac, chat: ChatRow) {
  const [row] = findMessages(mac.db, { chatGuid: chat.guid, limit: 1 }).rows
  return row ? fullView(mac, row, { withAttachments: false }) : null
}

function count(mac: Mac): Reply {
  const rows = mac.db.all<{ service_name: string; total: number }>(
    'select service_name, count(*) as total from chat group by service_name',
  )
  const breakdown = Object.fromEntries(rows.map((row) => [row.service_name, row.total]))
  return { data: { total: rows.reduce((sum, row) => sum + row.total, 0), breakdown } }
}

/** The metadata repeats offset and limit from the request, or omits them. */
function query(mac: Mac, { fields }: Ask): Reply {
  const asked = validate(fields, {
    with: 'array',
    sort: 'string|in:lastmessage',
    offset: 'numeric|min:0',
    limit: 'numeric|min:1|max:1000',
  })
  const wanted = withs(asked.with)
  const last = wanted.includes('lastmessage') || wanted.includes('last-message')
  const all = mac.db
    .all<{ guid: string }>('select guid from chat order by ROWID')
    .map(({ guid }) => mac.db.chat(guid)!)
  const rows = asked.guid ? all.filter(({ guid }) => guid === asked.guid) : all
  const from = Number(asked.offset ?? 0)
  const page = rows.slice(from, from + Number(asked.limit ?? 1000))
  const data = page.map((chat) => ({
    ...chatView(mac.db, chat, { participants: true }),
    ...(last && { messages: [], lastMessage: lastMessage(mac, chat) }),
  }))
  return {
    data,
    metadata: { count: data.length, total: rows.length, offset: asked.offset, limit: asked.limit },
  }
}

function messages(mac: Mac, { params, query }: Ask): Reply {
  const asked = validate(Object.fromEntries(query), {
    with: 'string',
    sort: 'string|in:DESC,ASC',
    after: 'numeric|min:0',
    before: 'numeric|min:1',
    offset: 'numeric|min:0',
    limit: 'numeric|min:1|max:1000',
  }) as Record<string, string | undefined>
  const chat = requireChat(mac, params.guid)
  const wanted = withs(asked.with)
  const offset = Number(asked.offset ?? 0)
  const limit = Number(asked.limit ?? 100)
  const { rows, total } = findMessages(mac.db, {
    chatGuid: chat.guid,
    sort: asked.sort,
    after: asked.after ? Number(asked.after) : null,
    before: asked.before ? Number(asked.before) : null,
    offset,
    limit,
  })
  const withAttachments = wanted.includes('attachment') || wanted.includes('attachments')
  return {
    data: rows.map((row) => fullView(mac, row, { withAttachments })),
    metadata: { offset, limit, total, count: rows.length },
  }
}

/** Opens a chat with a person or a group; an existing group of the same people is reused. */
async function create(mac: Mac, { fields }: Ask): Promise<Reply> {
  const asked = validate(fields, {
    addresses: 'required|array',
    message: 'string',
    method: 'string|in:apple-script,private-api',
    service: 'string|in:iMessage,SMS',
    tempGuid: 'string',
    effectId: 'string',
    subject: 'string',
  })
  const {
    message,
    method = 'apple-script',
    service = 'iMessage',
    tempGuid,
  } = asked as Record<string, string | undefined>
  const addresses = (asked.addresses as string[]).map(normalise)
  if (method === 'apple-script' && addresses.length > 1)
    throw new Error('Cannot create group chats on macOS Big Sur or newer!')
  if (!message?.trim())
    throw new Error(
      method === 'apple-script'
        ? 'A message is required when creating chats on macOS Big Sur or newer!'
        : 'A message is required when creating chats with the Private API!',
    )
  const outgoing = {
    text: message,
    subject: (asked.subject as string) || null,
    effectId: (asked.effectId as string) || null,
  }
  if (tempGuid) mac.events.awaitTempGuid(tempGuid, message)
  const { chat, guid } =
    method === 'private-api'
      ? await createByHelper(mac, addresses, service as Service, outgoing)
      : await createByScript(mac, addresses[0]!, service as Service, outgoing)
  const row = mac.db.message(guid)!
  const shown = {
    ...fullView(mac, row, { chats: false, withAttachments: false }),
    ...(tempGuid && { tempGuid }),
  }
  return {
    message: 'Successfully created chat!',
    data: { ...chatView(mac.db, mac.db.chat(chat.guid)!, { participants: true }), messages: [shown] },
  }
}

async function createByHelper(
  mac: Mac,
  addresses: string[],
  service: Service,
  outgoing: { text: string; subject: string | null; effectId: string | null },
) {
  const trouble = helperTrouble(mac)
  if (trouble) throw new Error(trouble)
  if (!mac.flags.helperConnected) return never(mac)
  const unknown = addresses.some((address) => mac.people.of(address).unknown)
  if (unknown || (service === 'SMS' && !mac.flags.smsForwarding))
    throw new Error('Failed to find all handles for specified service')
  const chat = openChat(mac, addresses, service)
  const guid = await sendByHelper(mac, chat, outgoing)
  if (!mac.db.message(guid)) {
    await wait(mac, mac.waits.change)
    throw new Error('Failed to create new chat! Message not found after 30 seconds!')
  }
  return { chat, guid }
}

async function createByScript(
  mac: Mac,
  address: string,
  service: Service,
  outgoing: { text: string; subject: string | null; effectId: string | null },
) {
  const chat = openChat(mac, [address], service)
  const row = await appleScript(mac, chat.guid, outgoing, 'Message Send Error', 'message')
  return { chat, guid: row.guid }
}

/** The Mac's region is the United States. */
export function normalise(address: string): string {
  if (address.includes('@') || address.startsWith('+')) return address.replace(/[\s()-]/g, '')
  const digits = address.replace(/\D/g, '')
  return digits.length === 10 ? `+1${digits}` : `+${digits}`
}

/** The chat of exactly these people, created if missing. */
export function openChat(mac: Mac, addresses: readonly string[], service: Service, name = ''): ChatRow {
  const named = mac.flags.chatPrefix === 'any' ? 'any' : service
  const handles = [...new Set(addresses)].map((address) => mac.db.handle(address, service))
  const group = handles.length > 1
  const found = group
    ? mac.db
        .all<{ guid: string }>('select guid from chat where style = 43 and service_name = ?', named)
        .map(({ guid }) => mac.db.chat(guid)!)
        .find((chat) => sameMembers(mac, chat, addresses))
    : mac.db.chat(`${named};-;${addresses[0]}`)
  if (found) return found
  const identifier = group ? `chat${Math.floor(Math.random() * 9e17 + 1e17)}` : addresses[0]!
  const chat = mac.db.insert('chat', {
    guid: `${named};${group ? '+' : '-'};${identifier}`,
    style: group ? 43 : 45,
    chat_identifier: identifier,
    service_name: named,
    room_name: group ? identifier : null,
    display_name: name,
    group_id: newGuid(),
    last_addressed_handle: mac.account.activeAlias,
  })
  for (const handle of handles)
    mac.db.run('insert into chat_handle_join values (?, ?)', chat.ROWID, handle.ROWID)
  return chat
}

function sameMembers(mac: Mac, chat: ChatRow, addresses: readonly string[]): boolean {
  const members = participantsOf(mac.db, chat.ROWID).map(({ id }) => id)
  return [...new Set(addresses)].sort().join() === members.sort().join()
}
