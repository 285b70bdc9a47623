import { cardSession } from '../../core/messages/app-card.js'
import type { PhoneMessage } from '../../core/sim/phone.js'
import type { Param, Reads, Sql, Writes } from '../engine/db.js'
import type { SizedRow } from '../engine/pieces.js'
import { exists, findValue, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

export type NewPhoneMessage = Omit<PhoneMessage, 'id'>

export const PHONE_MESSAGES = table<PhoneMessage, NewPhoneMessage>()('phone_messages', {
  serial: 'id',
  text: 'network phone lineId lineNumber providerId ref handle content mediaUrl sendStyle replyTo chatId sender service',
  number: 'replyToPart createdAt arrivedAt readAt dueAt',
  flag: 'fromPhone',
  json: 'extra',
})

const NEW_COLUMNS = {
  ...PHONE_MESSAGES.columns,
  // A message to a phone that is switched off waits until the phone is switched on.
  due_at: {
    type: 'bigint',
    as: 'case when {from_phone} = 0 and exists (select 1 from phones p where p.network = {network} and p.number = {phone} and p.power = 0) then null else {due_at} end',
  },
  card_session: 'text',
} as const

export async function insertPhoneMessages(sql: Writes, messages: readonly NewPhoneMessage[]): Promise<void> {
  const rows = messages.map(PHONE_MESSAGES.values)
  for (const [i, row] of rows.entries()) row.push(cardSession(messages[i]!.extra))
  await sql.insertMany('phone_messages', NEW_COLUMNS, rows)
}

/**
 * Fails with MissingValue if the line of one of these attempts has begun a new epoch: its outcome is being looked up,
 * perhaps by another process, and a message that arrived now would be sent again.
 */
export async function requireUnfenced(sql: Writes, refs: readonly string[]): Promise<void> {
  const list = sql.inList(1, refs)
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where exists (select 1 from attempts a join line_leases l on l.line_id = a.line_id
       where a.ref ${list.sql} and a.epoch < l.epoch)`,
    [list.param],
  )
}

/** Marks messages as arrived: nothing is left for the network to do. */
export async function savePhoneArrivals(sql: Writes, ids: readonly number[], at: number): Promise<void> {
  await sql.updateMany(
    'phone_messages',
    { id: 'bigint' },
    { arrived_at: 'bigint', due_at: 'bigint' },
    ids.map((id) => [id, at, null]),
  )
}

/** The ids among these that exist. */
export async function listPhoneMessageIds(sql: Sql, ids: readonly number[]): Promise<Set<number>> {
  const list = sql.inIds(1, ids)
  const found = await listValues<number>(sql, `select id from phone_messages where id ${list.sql}`, [
    list.param,
  ])
  return new Set(found)
}

/** Makes the messages due that waited for a phone to be switched on. Returns their lines. */
export async function releaseWaiting(
  sql: Sql,
  network: string,
  phone: string,
  at: number,
): Promise<string[]> {
  const lines = await listValues<string>(
    sql,
    `update phone_messages set due_at = $3 where network = $1 and phone = $2 and arrived_at is null and due_at is null
     returning line_id`,
    [network, phone, at],
  )
  return [...new Set(lines)]
}

export function listDuePhoneMessages(
  sql: Sql,
  lineId: string,
  now: number,
  limit: number,
): Promise<PhoneMessage[]> {
  const where = 'line_id = $1 and due_at <= $2 order by due_at, id limit $3'
  return PHONE_MESSAGES.list(sql, where, [lineId, now, limit])
}

export function findNextDue(sql: Sql, lineId: string, after: number): Promise<number | undefined> {
  const text = 'select min(due_at) from phone_messages where line_id = $1 and due_at > $2'
  return findValue(sql, text, [lineId, after])
}

/** The messages of one send: one message, or one for each phone of a group. */
export function listPhoneMessagesByRef(sql: Sql, ref: string): Promise<PhoneMessage[]> {
  return PHONE_MESSAGES.list(sql, 'ref = $1 order by id', [ref])
}

/** Whether a phone shows a message: from the time it is due, before its line hears of it and the arrival is stored. */
export const onScreen = (now: string) => `(arrived_at is not null or due_at <= ${now})`

/** What a phone shows: messages it sent, and messages that have arrived. */
const shown = (now: string) => `(from_phone = 1 or ${onScreen(now)})`

/** Whether a message is on its phone's screen. */
export function isOnPhone(sql: Sql, message: PhoneMessage, now: number): Promise<boolean> {
  return exists(sql, `select 1 from phone_messages where id = $1 and ${shown('$2')}`, [message.id, now])
}

interface InboxOptions {
  fromPhone?: boolean
  newestFirst?: boolean
  beforeId?: number
}

interface Inbox {
  network: string
  phone: string
  now: number
  afterId: number
}

/** The messages a phone shows, oldest first. */
export function listPhoneMessages(
  sql: Sql,
  inbox: Inbox,
  limit: number,
  options: InboxOptions = {},
): Promise<PhoneMessage[]> {
  return PHONE_MESSAGES.all(sql, ...inboxQuery('*', inbox, limit, options))
}

/** Like `listPhoneMessages`, but only the ids and sizes. */
export function listInboxIds(
  sql: Reads,
  inbox: Inbox,
  limit: number,
  options: InboxOptions,
): Promise<SizedRow<number>[]> {
  const bytes = 'octet_length(content) + coalesce(octet_length(extra), 0)'
  return sql.all(...inboxQuery(`id, ${bytes} as bytes`, inbox, limit, options))
}

function inboxQuery(
  columns: string,
  { network, phone, now, afterId }: Inbox,
  limit: number,
  { fromPhone, newestFirst = false, beforeId }: InboxOptions,
): [string, Param[]] {
  return [
    `select ${columns} from phone_messages where network = $1 and phone = $2 and id > $3 and ${shown('$4')}
     ${fromPhone === undefined ? '' : `and from_phone = ${fromPhone ? 1 : 0}`}
     ${beforeId === undefined ? '' : 'and id < $6'}
     order by id ${newestFirst ? 'desc' : ''} limit $5`,
    [network, phone, afterId, now, limit, ...(beforeId === undefined ? [] : [beforeId])],
  ]
}

/** These messages, oldest first. */
export function readPhoneMessages(sql: Reads, ids: readonly number[]): Promise<PhoneMessage[]> {
  const list = sql.inIds(1, ids)
  return PHONE_MESSAGES.all(sql, `select * from phone_messages where id ${list.sql} order by id`, [
    list.param,
  ])
}

/** A person reads what a phone shows. Returns what was unread, oldest first. */
export async function readShown(
  sql: Sql,
  network: string,
  phone: string,
  at: number,
): Promise<ReadMessage[]> {
  const read = await sql.all<{ id: number; line_id: string; provider_id: string; service: string }>(
    `update phone_messages set read_at = $3
     where network = $1 and phone = $2 and from_phone = 0 and read_at is null and ${onScreen('$3')}
     returning id, line_id, provider_id, service`,
    [network, phone, at],
  )
  return read
    .sort((a, b) => a.id - b.id)
    .map(({ line_id: lineId, provider_id: providerId, service }) => ({ lineId, providerId, service }))
}

interface ReadMessage {
  lineId: string
  providerId: string
  service: string
}
