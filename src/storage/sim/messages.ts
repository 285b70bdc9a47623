import { cardSession } from '../../core/messages/app-card.js'
import type { Service } from '../../core/messages/message.js'
import type { PhoneMessage } from '../../core/sim/phone.js'
import type { Columns, Param, Row, Sql, Writes } from '../engine/db.js'

const MESSAGE_COLUMNS = {
  network: 'text',
  phone: 'text',
  line_id: 'text',
  line_number: 'text',
  from_phone: 'bigint',
  provider_id: 'text',
  ref: 'text',
  handle: 'text',
  content: 'text',
  media_url: 'text',
  send_style: 'text',
  reply_to: 'text',
  reply_to_part: 'bigint',
  extra: 'text',
  chat_id: 'text',
  sender: 'text',
  card_session: 'text',
  service: 'text',
  created_at: 'bigint',
  arrived_at: 'bigint',
  read_at: 'bigint',
  // What is sent to a phone that is switched off waits until it is switched on.
  due_at: {
    type: 'bigint',
    as: 'case when {from_phone} = 0 and exists (select 1 from phones p where p.network = {network} and p.number = {phone} and p.power = 0) then null else {due_at} end',
  },
} as const satisfies Columns

export type NewPhoneMessage = Omit<PhoneMessage, 'id'>

export async function insertPhoneMessages(sql: Writes, messages: readonly NewPhoneMessage[]): Promise<void> {
  await sql.insertMany(
    'phone_messages',
    MESSAGE_COLUMNS,
    messages.map((m) => [
      m.network,
      m.phone,
      m.lineId,
      m.lineNumber,
      m.fromPhone ? 1 : 0,
      m.providerId,
      m.ref,
      m.handle,
      m.content,
      m.mediaUrl,
      m.sendStyle,
      m.replyTo,
      m.replyToPart ?? null,
      m.extra === null ? null : JSON.stringify(m.extra),
      m.chatId,
      m.sender,
      cardSession(m.extra),
      m.service,
      m.createdAt,
      m.arrivedAt,
      m.readAt,
      m.dueAt,
    ]),
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

/** Which of these there are. */
export async function listPhoneMessageIds(sql: Sql, ids: readonly number[]): Promise<Set<number>> {
  const list = sql.inIds(1, ids)
  const rows = await sql.all<{ id: number }>(`select id from phone_messages where id in ${list.sql}`, [
    list.param,
  ])
  return new Set(rows.map((row) => row.id))
}

/** A phone comes back to the network: everything that waited for it is due. */
export async function releaseWaiting(
  sql: Sql,
  network: string,
  phone: string,
  at: number,
): Promise<string[]> {
  const rows = await sql.all<{ line_id: string }>(
    `update phone_messages set due_at = $3 where network = $1 and phone = $2 and arrived_at is null and due_at is null
     returning line_id`,
    [network, phone, at],
  )
  return [...new Set(rows.map((row) => row.line_id))]
}

export async function savePhoneRead(sql: Sql, id: number, at: number): Promise<void> {
  await sql.run('update phone_messages set read_at = $2 where id = $1', [id, at])
}

export async function listDuePhoneMessages(
  sql: Sql,
  lineId: string,
  now: number,
  limit: number,
): Promise<PhoneMessage[]> {
  const rows = await sql.all(
    'select * from phone_messages where line_id = $1 and due_at <= $2 order by due_at, id limit $3',
    [lineId, now, limit],
  )
  return rows.map(toPhoneMessage)
}

export async function findNextDue(sql: Sql, lineId: string, after: number): Promise<number | undefined> {
  const row = await sql.one<{ due_at: number | null }>(
    'select min(due_at) as due_at from phone_messages where line_id = $1 and due_at > $2',
    [lineId, after],
  )
  return row?.due_at ?? undefined
}

/** What a line sent under this name: one message, or one for each phone of a group. */
export async function listPhoneMessagesByRef(sql: Sql, ref: string): Promise<PhoneMessage[]> {
  return (await sql.all('select * from phone_messages where ref = $1 order by id', [ref])).map(toPhoneMessage)
}

/**
 * Whether a message is on its phone's screen. It is from the moment it is due: the line hears of it next, and only
 * then the books say so.
 */
export const onScreen = (now: string) => `(arrived_at is not null or due_at <= ${now})`

/** What of a phone's messages belongs to an account. */
const visibleTo = (account: string, now: string) => `case when from_phone = 1
  then line_id in (select id from lines where account_id = ${account} union select line_id from line_members where account_id = ${account})
  when sender is not null then ${onScreen(now)}
    and exists (select 1 from messages m where m.line_id = p.line_id and m.provider_id = p.provider_id and m.account_id = ${account})
  else ${onScreen(now)} and exists (select 1 from messages m where m.handle = p.handle and m.account_id = ${account}) end`

/** Whether a message is on its phone's screen, as this account may see it. */
export async function isOnPhone(
  sql: Sql,
  accountId: string,
  message: PhoneMessage,
  now: number,
): Promise<boolean> {
  const row = await sql.one(`select 1 from phone_messages p where id = $1 and ${visibleTo('$2', '$3')}`, [
    message.id,
    accountId,
    now,
  ])
  return row !== undefined
}

export interface Shown {
  fromPhone?: boolean
  newestFirst?: boolean
}

/**
 * What a phone has on its screen, oldest first: what it sent, and what has arrived. Live accounts share a network
 * and thereby its phones, so each sees only its own side of them.
 */
export async function listPhoneMessages(
  sql: Sql,
  owner: { network: string; accountId: string; now: number },
  phone: string,
  afterId: number,
  limit: number,
  { fromPhone, newestFirst = false }: Shown = {},
): Promise<PhoneMessage[]> {
  const params: Param[] = [owner.network, phone, afterId, owner.accountId, owner.now, limit]
  const rows = await sql.all(
    `select * from phone_messages p where network = $1 and phone = $2 and id > $3 and ${visibleTo('$4', '$5')}
     ${fromPhone === undefined ? '' : `and from_phone = ${fromPhone ? 1 : 0}`}
     order by id ${newestFirst ? 'desc' : ''} limit $6`,
    params,
  )
  return rows.map(toPhoneMessage)
}

export function toPhoneMessage(row: Row): PhoneMessage {
  return {
    id: row.id as number,
    network: row.network as string,
    phone: row.phone as string,
    lineId: row.line_id as string,
    lineNumber: row.line_number as string,
    fromPhone: row.from_phone === 1,
    providerId: row.provider_id as string,
    ref: row.ref as string | null,
    handle: row.handle as string | null,
    content: row.content as string,
    mediaUrl: row.media_url as string,
    sendStyle: row.send_style as string,
    replyTo: row.reply_to as string | null,
    replyToPart: row.reply_to_part as number | null,
    extra: row.extra === null ? null : JSON.parse(row.extra as string),
    chatId: row.chat_id as string | null,
    sender: row.sender as string | null,
    service: row.service as Service,
    createdAt: row.created_at as number,
    arrivedAt: row.arrived_at as number | null,
    readAt: row.read_at as number | null,
    dueAt: row.due_at as number | null,
  }
}
