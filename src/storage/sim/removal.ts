import type { Sql } from '../engine/db.js'
import { hasChanged } from '../engine/query.js'
import type { WorldScope } from './world.js'

/** Deletes everything between the lines of a world and a phone. */
export async function deletePhoneTraces(sql: Sql, scope: WorldScope, number: string): Promise<void> {
  const lines = sql.inList(3, scope.lines)
  const params = [scope.network, number, lines.param]
  const shown = `network = $1 and phone = $2 and line_id in ${lines.sql}`
  await sql.run(
    `delete from phone_reactions where network = $1 and provider_id in
       (select provider_id from phone_messages where ${shown} and chat_id is null)`,
    params,
  )
  for (const table of ['phone_messages', 'phone_typing', 'sim_locations', 'sim_cards'])
    await sql.run(`delete from ${table} where ${shown}`, params)
}

/** Deletes a phone, unless another account created it or writes with it. Returns whether it was deleted. */
export function deletePhone(sql: Sql, scope: WorldScope, number: string): Promise<boolean> {
  return hasChanged(
    sql,
    `delete from phones where network = $1 and number = $2 and (account_id is null or account_id = $3)
       and not exists (select 1 from phone_messages m where m.network = $1 and m.phone = $2)`,
    [scope.network, number, scope.accountId],
  )
}
