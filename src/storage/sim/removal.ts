import type { Sql } from '../engine/db.js'
import { hasChanged } from '../engine/query.js'

const TRACES = ['phone_messages', 'phone_typing', 'sim_locations', 'sim_location_requests', 'sim_cards']

/** Deletes a phone with everything on it. Returns whether there was one. */
export async function deletePhone(sql: Sql, network: string, number: string): Promise<boolean> {
  const of = [network, number]
  await sql.run(
    `delete from phone_reactions where network = $1 and provider_id in
       (select provider_id from phone_messages where network = $1 and phone = $2 and chat_id is null)`,
    of,
  )
  for (const table of TRACES) await sql.run(`delete from ${table} where network = $1 and phone = $2`, of)
  return hasChanged(sql, 'delete from phones where network = $1 and number = $2', of)
}
