import type { Card } from '../../core/lines/profile.js'
import type { Sql } from '../engine/db.js'
import { onScreen } from './messages.js'

/** The simulated network's books on names and photos: those of lines, and the copies phones were given. */

export async function findCard(sql: Sql, lineId: string): Promise<Card | undefined> {
  const row = await sql.one<{ card: string }>('select card from sim_profiles where line_id = $1', [lineId])
  return row && JSON.parse(row.card)
}

export async function saveCard(sql: Sql, lineId: string, card: Card): Promise<void> {
  await sql.run(
    'insert into sim_profiles (line_id, card) values ($1, $2) on conflict (line_id) do update set card = excluded.card',
    [lineId, JSON.stringify(card)],
  )
}

export interface GivenCard {
  lineId: string
  card: Card
  at: number
}

export async function giveCard(
  sql: Sql,
  given: GivenCard & { network: string; phone: string },
): Promise<void> {
  await sql.run(
    `insert into sim_cards (line_id, phone, network, card, at) values ($1, $2, $3, $4, $5)
     on conflict (line_id, phone) do update set card = excluded.card, at = excluded.at`,
    [given.lineId, given.phone, given.network, JSON.stringify(given.card), given.at],
  )
}

export async function listGivenCards(sql: Sql, network: string, phone: string): Promise<GivenCard[]> {
  const rows = await sql.all<{ line_id: string; card: string; at: number }>(
    'select line_id, card, at from sim_cards where network = $1 and phone = $2 order by line_id',
    [network, phone],
  )
  return rows.map((row) => ({ lineId: row.line_id, card: JSON.parse(row.card), at: row.at }))
}

/** How far back a conversation is looked at: a phone's list may be long. */
const RECENT = 1000

/** Whether a phone and a line have lately written each other by iMessage. */
export async function hasIMessageChat(
  sql: Sql,
  network: string,
  phone: string,
  lineId: string,
  now: number,
): Promise<boolean> {
  const row = await sql.one(
    `select 1 as found from (
       select line_id, service, arrived_at, due_at from phone_messages where network = $1 and phone = $2 order by id desc limit ${RECENT}
     ) m where line_id = $3 and service = 'iMessage' and ${onScreen('$4')} limit 1`,
    [network, phone, lineId, now],
  )
  return row !== undefined
}
