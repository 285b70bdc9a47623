import type { PhoneMessage, PhoneReaction } from '../../core/sim/phone.js'
import type { Row, Sql } from '../engine/db.js'
import { toPhoneMessage } from './messages.js'

/** The copies of a message on the simulated network, by the network's own id: one, or one on each phone of a group. */
export async function listCopies(sql: Sql, network: string, providerId: string): Promise<PhoneMessage[]> {
  const rows = await sql.all(
    'select * from phone_messages where network = $1 and provider_id = $2 order by id',
    [network, providerId],
  )
  return rows.map(toPhoneMessage)
}

/** An account's handles of what came to a line, by the carrier's ids. */
export async function listHandlesByProvider(
  sql: Sql,
  accountId: string,
  lineId: string,
  providerIds: readonly string[],
): Promise<Map<string, string>> {
  const list = sql.inList(3, [...new Set(providerIds)])
  const rows = await sql.all<{ provider_id: string; handle: string }>(
    `select provider_id, handle from messages where line_id = $1 and account_id = $2 and provider_id in ${list.sql}
       and deleted_at is null`,
    [lineId, accountId, list.param],
  )
  return new Map(rows.map((row) => [row.provider_id, row.handle]))
}

/** The card of the same session that was on this phone's screen before. */
export async function findEarlierCard(
  sql: Sql,
  card: PhoneMessage,
  session: string,
): Promise<string | undefined> {
  const row = await sql.one<{ provider_id: string }>(
    `select provider_id from phone_messages where line_id = $1 and phone = $2 and card_session = $3 and id < $4
       and (from_phone = 1 or arrived_at is not null) order by id desc limit 1`,
    [card.lineId, card.phone, session, card.id],
  )
  return row?.provider_id
}

/** Everything this phone sent to the line is read. SMS has no way to tell, so its texts stay as they are. */
export async function saveReadByLine(sql: Sql, lineId: string, phone: string, at: number): Promise<number> {
  return sql.run(
    `update phone_messages set read_at = $3 where line_id = $1 and phone = $2 and from_phone = 1 and read_at is null
       and arrived_at is not null and service <> 'SMS'`,
    [lineId, phone, at],
  )
}

/** A person's one reaction to a part of a message; a new one takes the place of the old. */
export async function saveReaction(sql: Sql, network: string, reaction: PhoneReaction): Promise<void> {
  await sql.run(
    `insert into phone_reactions (network, provider_id, part_index, actor, reaction, at) values ($1, $2, $3, $4, $5, $6)
     on conflict (network, provider_id, part_index, actor) do update set reaction = excluded.reaction, at = excluded.at`,
    [network, reaction.providerId, reaction.partIndex, reaction.by, reaction.reaction, reaction.at],
  )
}

/** Takes this very reaction away; another one stays. */
export async function deleteReaction(sql: Sql, network: string, reaction: PhoneReaction): Promise<number> {
  return sql.run(
    'delete from phone_reactions where network = $1 and provider_id = $2 and part_index = $3 and actor = $4 and reaction = $5',
    [network, reaction.providerId, reaction.partIndex, reaction.by, reaction.reaction],
  )
}

export async function listReactions(
  sql: Sql,
  network: string,
  providerIds: readonly string[],
): Promise<PhoneReaction[]> {
  if (providerIds.length === 0) return []
  const list = sql.inList(2, providerIds)
  const rows = await sql.all(
    `select * from phone_reactions where network = $1 and provider_id in ${list.sql} order by provider_id, at, actor`,
    [network, list.param],
  )
  return rows.map(toReaction)
}

export interface Typing {
  network: string
  phone: string
  lineId: string
  fromPhone: boolean
  /** The moment it ends by itself; in the past when nobody types. */
  until: number
}

/** Saves who types, and tells until when they did before. */
export async function saveTyping(sql: Sql, typing: Typing): Promise<number> {
  const key = [typing.network, typing.phone, typing.lineId, typing.fromPhone ? 1 : 0]
  // There is a row to lock from the first time on: two at once see each other.
  await sql.run(
    `insert into phone_typing (network, phone, line_id, from_phone, until) values ($1, $2, $3, $4, 0)
     on conflict (network, phone, line_id, from_phone) do nothing`,
    key,
  )
  const before = await sql.one<{ until: number }>(
    `select until from phone_typing where network = $1 and phone = $2 and line_id = $3 and from_phone = $4
     ${sql.engine === 'postgres' ? 'for update' : ''}`,
    key,
  )
  await sql.run(
    'update phone_typing set until = $5 where network = $1 and phone = $2 and line_id = $3 and from_phone = $4',
    [...key, typing.until],
  )
  return before!.until
}

/** Lines that are typing to a phone at this moment. */
export async function listTypingLines(
  sql: Sql,
  network: string,
  phone: string,
  now: number,
): Promise<string[]> {
  const rows = await sql.all<{ line_id: string }>(
    'select line_id from phone_typing where network = $1 and phone = $2 and from_phone = 0 and until > $3 order by line_id',
    [network, phone, now],
  )
  return rows.map((row) => row.line_id)
}

function toReaction(row: Row): PhoneReaction {
  return {
    providerId: row.provider_id as string,
    partIndex: row.part_index as number,
    by: row.actor as string,
    reaction: row.reaction as string,
    at: row.at as number,
  }
}
