import type { PhoneMessage, PhoneReaction } from '../../core/sim/phone.js'
import type { Sql } from '../engine/db.js'
import { findValue, forUpdate, listValues } from '../engine/query.js'
import { PHONE_MESSAGES } from './messages.js'

/** The copies of a message by the network's id: one, or one on each phone of a group. */
export function listCopies(sql: Sql, providerId: string): Promise<PhoneMessage[]> {
  return PHONE_MESSAGES.list(sql, 'provider_id = $1 order by id', [providerId])
}

/** An account's handles of messages to a line, by the carrier's ids. */
export async function listHandlesByProvider(
  sql: Sql,
  accountId: string,
  lineId: string,
  providerIds: readonly string[],
): Promise<Map<string, string>> {
  const list = sql.inList(3, [...new Set(providerIds)])
  const rows = await sql.all<{ provider_id: string; handle: string }>(
    `select provider_id, handle from messages where line_id = $1 and account_id = $2 and provider_id ${list.sql}
       and deleted_at is null`,
    [lineId, accountId, list.param],
  )
  return new Map(rows.map((row) => [row.provider_id, row.handle]))
}

/** The card of the same session that was on this phone's screen before. */
export function findEarlierCard(sql: Sql, card: PhoneMessage, session: string): Promise<string | undefined> {
  return findValue(
    sql,
    `select provider_id from phone_messages where line_id = $1 and phone = $2 and card_session = $3 and id < $4
       and network = $5 and (from_phone = 1 or arrived_at is not null) order by id desc limit 1`,
    [card.lineId, card.phone, session, card.id, card.network],
  )
}

/**
 * Marks the texts of a number to a line that this account received as read. SMS has no read receipts, so its texts stay
 * unread. Returns the networks of the phones that sent them.
 */
export async function saveReadByLine(
  sql: Sql,
  lineId: string,
  { accountId, to }: { accountId: string; to: string },
  at: number,
): Promise<Set<string>> {
  const networks = await listValues<string>(
    sql,
    `update phone_messages set read_at = $3 where line_id = $1 and phone = $2 and from_phone = 1 and read_at is null
       and arrived_at is not null and service <> 'SMS' and exists (select 1 from messages m
         where m.line_id = $1 and m.provider_id = phone_messages.provider_id and m.account_id = $4)
     returning network`,
    [lineId, to, at, accountId],
  )
  return new Set(networks)
}

/** Saves a person's only reaction to a part of a message; a new reaction replaces the old one. */
export async function saveReaction(sql: Sql, network: string, reaction: PhoneReaction): Promise<void> {
  await sql.run(
    `insert into phone_reactions (network, provider_id, part_index, actor, reaction, at) values ($1, $2, $3, $4, $5, $6)
     on conflict (network, provider_id, part_index, actor) do update set reaction = excluded.reaction, at = excluded.at`,
    [network, reaction.providerId, reaction.partIndex, reaction.by, reaction.reaction, reaction.at],
  )
}

/** Deletes exactly this reaction. */
export async function deleteReaction(sql: Sql, network: string, reaction: PhoneReaction): Promise<number> {
  return sql.run(
    'delete from phone_reactions where network = $1 and provider_id = $2 and part_index = $3 and actor = $4 and reaction = $5',
    [network, reaction.providerId, reaction.partIndex, reaction.by, reaction.reaction],
  )
}

export function listReactions(
  sql: Sql,
  network: string,
  providerIds: readonly string[],
): Promise<PhoneReaction[]> {
  if (providerIds.length === 0) return Promise.resolve([])
  const list = sql.inList(2, providerIds)
  return sql.all(
    `select provider_id as "providerId", part_index as "partIndex", actor as by, reaction, at
     from phone_reactions where network = $1 and provider_id ${list.sql} order by provider_id, at, actor`,
    [network, list.param],
  )
}

interface Typing {
  network: string
  phone: string
  lineId: string
  fromPhone: boolean
  /** When the typing indicator disappears by itself; in the past if nobody types. */
  until: number
}

/** Saves a typing indicator and returns the previous `until`. */
export async function saveTyping(sql: Sql, typing: Typing): Promise<number> {
  const key = [typing.network, typing.phone, typing.lineId, typing.fromPhone ? 1 : 0]
  // Creates the row first, so that two concurrent transactions lock the same row.
  await sql.run(
    `insert into phone_typing (network, phone, line_id, from_phone, until) values ($1, $2, $3, $4, 0)
     on conflict (network, phone, line_id, from_phone) do nothing`,
    key,
  )
  const before = await findValue<number>(
    sql,
    `select until from phone_typing where network = $1 and phone = $2 and line_id = $3 and from_phone = $4
     ${forUpdate(sql)}`,
    key,
  )
  await sql.run(
    'update phone_typing set until = $5 where network = $1 and phone = $2 and line_id = $3 and from_phone = $4',
    [...key, typing.until],
  )
  return before!
}

/** Lines that are typing to a phone now. */
export function listTypingLines(sql: Sql, network: string, phone: string, now: number): Promise<string[]> {
  return listValues(
    sql,
    'select line_id from phone_typing where network = $1 and phone = $2 and from_phone = 0 and until > $3 order by line_id',
    [network, phone, now],
  )
}
