import type { SharedPlace } from '../../core/sim/location.js'
import type { Sql, Writes } from '../engine/db.js'
import { hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'
import { onScreen } from './messages.js'

const LOCATIONS = table<SharedPlace>()('sim_locations', {
  text: 'lineId phone network',
  number: 'at expiresAt',
  json: 'place',
})

export async function savePhoneLocation(sql: Sql, share: SharedPlace): Promise<void> {
  await LOCATIONS.save(sql, share, 'network phone lineId')
}

/** Locations shared with a line at this time, by all phones or by those with a number. */
export function listPhoneLocations(
  sql: Sql,
  lineId: string,
  phone: string | null,
  now: number,
): Promise<SharedPlace[]> {
  const where = `line_id = $1 and (expires_at is null or expires_at > $2) ${phone === null ? '' : 'and phone = $3'}`
  return LOCATIONS.list(sql, `${where} order by phone`, [lineId, now, ...(phone === null ? [] : [phone])])
}

/** Locations that one phone shares with any line. */
export function listLocationsOfPhone(
  sql: Sql,
  network: string,
  phone: string,
  now: number,
): Promise<SharedPlace[]> {
  const where = 'network = $1 and phone = $2 and (expires_at is null or expires_at > $3) order by line_id'
  return LOCATIONS.list(sql, where, [network, phone, now])
}

/** The location that one phone shares with a line. */
export async function findPhoneLocation(
  sql: Sql,
  network: string,
  phone: string,
  lineId: string,
  now: number,
): Promise<SharedPlace | undefined> {
  return (await listLocationsOfPhone(sql, network, phone, now)).find((share) => share.lineId === lineId)
}

export async function deletePhoneLocation(
  sql: Sql,
  { network, phone, lineId }: Pick<SharedPlace, 'network' | 'phone' | 'lineId'>,
): Promise<void> {
  const text = 'delete from sim_locations where network = $1 and phone = $2 and line_id = $3'
  await sql.run(text, [network, phone, lineId])
}

/** Requests on their way to phones; a newer request replaces an older one. */
export async function insertLocationRequests(
  sql: Writes,
  requests: readonly { network: string; phone: string; lineId: string; ref: string }[],
): Promise<void> {
  for (const { network, phone, lineId, ref } of requests) {
    await sql.run(
      `insert into sim_location_requests (network, phone, line_id, ref) values ($1, $2, $3, $4)
       on conflict (network, phone, line_id) do update set ref = excluded.ref`,
      [network, phone, lineId, ref],
    )
  }
}

/** Deletes the open request of a line whose message has arrived on the phone. Returns whether there was one. */
export function takeLocationRequest(
  sql: Sql,
  network: string,
  phone: string,
  lineId: string,
  now: number,
): Promise<boolean> {
  return hasChanged(
    sql,
    `delete from sim_location_requests where network = $1 and phone = $2 and line_id = $3
       and exists (select 1 from phone_messages m where m.ref = sim_location_requests.ref and ${onScreen('$4')})`,
    [network, phone, lineId, now],
  )
}
