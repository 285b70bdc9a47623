import type { MessageRow } from '../chat-db.js'
import { badRequest, iMessageError, NOT_FOUND, notFound, type Reply } from '../envelope.js'
import { messageView, type View } from '../projections.js'
import { type Ask, helperTrouble, type Mac, now, osMajor, type Route } from '../state.js'
import { countMessages, findMessages, type MessageQuery, type Predicate } from './query.js'
import { type Rules, validate } from './rules.js'

const COUNT_RULES: Rules = {
  chatGuid: 'string',
  after: 'numeric|min:0',
  before: 'numeric|min:1',
  minRowId: 'numeric|min:0',
  maxRowId: 'numeric|min:1',
}

const QUERY_RULES: Rules = {
  with: 'array',
  convertAttachments: 'boolean',
  where: 'array',
  'where.*.statement': 'required|string',
  'where.*.args': 'present',
  sort: 'string|in:ASC,DESC',
  after: 'numeric|min:0',
  before: 'numeric|min:1',
  chatGuid: 'string',
  offset: 'numeric|min:0',
  limit: 'numeric|min:1|max:1000',
}

export const messageRoutes: Route[] = [
  { method: 'GET', path: 'message/count', handle: (mac, { query }) => count(mac, query, {}) },
  {
    method: 'GET',
    path: 'message/count/me',
    handle: (mac, { query }) => count(mac, query, { fromMe: true }),
  },
  { method: 'POST', path: 'message/query', handle: query },
  { method: 'GET', path: 'message/:guid', handle: find },
  { method: 'POST', path: 'message/:guid/edit', privateApi: true, handle: edit },
  { method: 'POST', path: 'message/:guid/unsend', privateApi: true, handle: unsend },
  { method: 'POST', path: 'message/:guid/notify', privateApi: true, handle: notify },
]

/** Parses `chat,attachment` or a list, case-insensitively. */
export function withs(value: unknown): string[] {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []
  return items.map((item) => String(item).trim().toLowerCase())
}

const has = (list: readonly string[], ...names: string[]) => names.some((name) => list.includes(name))
const number = (value: unknown) =>
  value === undefined || value === null || value === '' ? null : Number(value)

export const fullView = (mac: Mac, row: MessageRow, view: Partial<View> = {}) =>
  messageView(mac.db, row, { osVersion: mac.flags.osVersion, convertsHeic: mac.flags.convertsHeic, ...view })

function count(mac: Mac, query: URLSearchParams, more: MessageQuery): Reply {
  const asked = validate(Object.fromEntries(query), COUNT_RULES)
  const total = countMessages(mac.db, {
    ...more,
    chatGuid: (asked.chatGuid as string) || null,
    after: number(asked.after),
    before: number(asked.before),
    minRowId: number(asked.minRowId),
    maxRowId: number(asked.maxRowId),
  })
  return { data: { total } }
}

function query(mac: Mac, { fields }: Ask): Reply {
  const asked = validate(fields, QUERY_RULES)
  const wanted = withs(asked.with)
  // The server's bug: its answer for an unknown chat is never sent.
  if (asked.chatGuid && !mac.db.chat(asked.chatGuid as string)) return NOT_FOUND
  const chats = has(wanted, 'chat', 'chats', 'chat.participants', 'chats.participants')
  const offset = number(asked.offset) ?? 0
  const limit = number(asked.limit) || 100
  const { rows, total } = findMessages(mac.db, {
    chatGuid: (asked.chatGuid as string) || null,
    withChats: chats,
    where: spotlight(mac, (asked.where as Predicate[] | undefined) ?? []),
    after: number(asked.after),
    before: number(asked.before),
    sort: (asked.sort as string) ?? 'DESC',
    limit,
    offset,
  })
  const view = {
    withChats: chats || Boolean(asked.chatGuid),
    withAttachments: has(wanted, 'attachment', 'attachments'),
    attachmentMetadata: has(wanted, 'attachment.metadata', 'attachments.metadata'),
    chatParticipants: has(wanted, 'chat.participants', 'chats.participants'),
    payloadData: has(wanted, 'payloaddata', 'payload-data'),
  }
  return {
    message: 'Successfully fetched messages!',
    data: rows.map((row) => fullView(mac, row, view)),
    metadata: { offset, limit, total, count: rows.length },
  }
}

/** A single predicate on the text goes to Spotlight, which matches words instead. */
function spotlight(mac: Mac, where: Predicate[]): Predicate[] {
  const texts = where.filter(({ statement }) => statement.includes('message.text'))
  if (texts.length !== 1 || osMajor(mac) < 13 || !mac.flags.privateApi) return where
  const [{ statement, args }] = texts as [Predicate]
  const term = String(args?.[statement.split(' ')[2]!.replace(':', '')]).replace(/^%+|%+$/g, '')
  const others = where.filter((item) => item !== texts[0])
  const words = term.split(/\s+/).map((word, i) => ({
    statement: `instr(lower(message.text), :word${i}) > 0`,
    args: { [`word${i}`]: word.toLowerCase() },
  }))
  return [...others, ...words]
}

function find(mac: Mac, { params, query }: Ask): Reply {
  const wanted = withs(query.get('with'))
  const row = mac.db.message(params.guid!)
  if (!row) throw notFound('Message does not exist!')
  return {
    data: fullView(mac, row, {
      withChats: has(wanted, 'chat', 'chats'),
      withAttachments: has(wanted, 'attachment', 'attachments'),
      chatParticipants: has(wanted, 'chat.participants', 'chats.participants'),
      payloadData: has(wanted, 'payloaddata', 'payload-data'),
    }),
  }
}

/** Changes a message in the database and on the recipients' phones. */
function change(
  mac: Mac,
  guid: string,
  headline: string,
  changes: Partial<MessageRow>,
  seen: object,
): MessageRow {
  const row = mac.db.message(guid)
  if (!row) throw badRequest('Selected message does not exist!')
  const trouble = helperTrouble(mac)
  if (trouble) throw iMessageError(headline, trouble)
  if (osMajor(mac) < 13)
    throw iMessageError(headline, 'Unsend message is only supported on macOS Ventura and newer!')
  mac.db.update('message', row.ROWID, changes)
  for (const item of mac.people.sent.filter((message) => message.guid === guid)) Object.assign(item, seen)
  mac.events.changed()
  return mac.db.message(guid)!
}

function edit(mac: Mac, { params, fields }: Ask): Reply {
  const { editedMessage } = validate(fields, {
    editedMessage: 'required|string',
    backwardsCompatibilityMessage: 'required|string',
    partIndex: 'numeric|min:0',
  })
  const text = editedMessage as string
  const row = change(
    mac,
    params.guid!,
    'Message Edit Error',
    { text, date_edited: now(mac) },
    { text, edited: true },
  )
  return { message: 'Message edited!', data: fullView(mac, row, { withAttachments: false }) }
}

function unsend(mac: Mac, { params, fields }: Ask): Reply {
  validate(fields, { partIndex: 'numeric|min:0' })
  const at = now(mac)
  const changes = { text: '', date_edited: at, date_retracted: at }
  const row = change(mac, params.guid!, 'Unsend Message Error', changes, { text: '', unsent: true })
  return { message: 'Message unsent!', data: fullView(mac, row, { withAttachments: false }) }
}

function notify(mac: Mac, { params }: Ask): Reply {
  const row = mac.db.message(params.guid!)
  if (!row) throw badRequest('Selected message does not exist!')
  mac.db.update('message', row.ROWID, { did_notify_recipient: 1 })
  mac.events.changed()
  return { message: 'Successfully notified recipient!', data: fullView(mac, mac.db.message(row.guid)!) }
}
