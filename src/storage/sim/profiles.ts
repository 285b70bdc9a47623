import type { Card } from '../../core/lines/profile.js'
import type { Sql } from '../engine/db.js'
import { exists, findValue } from '../engine/query.js'
import { table } from '../engine/table.js'
import { onScreen } from './messages.js'

/** The simulated network's records of names and photos: of lines, and the copies that phones received. */

export async function findCard(sql: Sql, lineId: string): Promise<Card | undefined> {
  const card = await findValue<string>(sql, 'select card from sim_profiles where line_id = $1', [lineId])
  return card && JSON.parse(card)
}

export async function saveCard(sql: Sql, lineId: string, card: Card): Promise<void> {
  await sql.run(
    'insert into sim_profiles (line_id, card) values ($1, $2) on conflict (line_id) do update set card = excluded.card',
    [lineId, JSON.stringify(card)],
  )
}

interface GivenCard {
  lineId: string
  card: Card
  at: number
}

const CARDS = table<GivenCard>()('sim_cards', { text: 'lineId', number: 'at', json: 'card' })

export async function giveCard(
  sql: Sql,
  { network, phone, ...given }: GivenCard & { network: string; phone: string },
): Promise<void> {
  const tail = 'on conflict (network, phone, line_id) do update set card = excluded.card, at = excluded.at'
  await CARDS.insert(sql, given, { network, phone }, tail)
}

export function listGivenCards(sql: Sql, network: string, phone: string): Promise<GivenCard[]> {
  return CARDS.list(sql, 'network = $1 and phone = $2 order by line_id', [network, phone])
}

/** Number of messages to search: a phone may have many. */
const RECENT = 1000

/** Whether a phone and a line have recently exchanged iMessages. */
export function hasIMessageChat(
  sql: Sql,
  network: string,
  phone: string,
  lineId: string,
  now: number,
): Promise<boolean> {
  return exists(
    sql,
    `select 1 from (
       select line_id, service, arrived_at, due_at from phone_messages where network = $1 and phone = $2 order by id desc limit ${RECENT}
     ) m where line_id = $3 and service = 'iMessage' and ${onScreen('$4')} limit 1`,
    [network, phone, lineId, now],
  )
}
