import type { SharedPlace } from '../../core/sim/location.js'
import type { Row, Sql, Writes } from '../engine/db.js'
import { onScreen } from './messages.js'

export async function savePhoneLocation(sql: Sql, share: SharedPlace): Promise<void> {
  await sql.run(
    `insert into sim_locations (line_id, phone, network, place, at, expires_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (line_id, phone) do update set place = excluded.place, at = excluded.at, expires_at = excluded.expires_at`,
    [
      share.lineId,
      share.phone,
      share.network,
      share.place === null ? null : JSON.stringify(share.place),
      share.at,
      share.expiresAt,
    ],
  )
}

/** What is shared with a line at that time, by everyone or by one phone. */
export async function listPhoneLocations(
  sql: Sql,
  lineId: string,
  phone: string | null,
  now: number,
): Promise<SharedPlace[]> {
  const rows = await (phone === null
    ? sql.all(
        'select * from sim_locations where line_id = $1 and (expires_at is null or expires_at > $2) order by phone',
        [lineId, now],
      )
    : sql.all(
        'select * from sim_locations where line_id = $1 and phone = $3 and (expires_at is null or expires_at > $2)',
        [lineId, now, phone],
      ))
  return rows.map(toSharedPlace)
}

/** What one phone shares, with whichever line. */
export async function listLocationsOfPhone(
  sql: Sql,
  network: string,
  phone: string,
  now: number,
): Promise<SharedPlace[]> {
  const rows = await sql.all(
    `select * from sim_locations where network = $1 and phone = $2 and (expires_at is null or expires_at > $3)
     order by line_id`,
    [network, phone, now],
  )
  return rows.map(toSharedPlace)
}

export async function deletePhoneLocation(sql: Sql, lineId: string, phone: string): Promise<void> {
  await sql.run('delete from sim_locations where line_id = $1 and phone = $2', [lineId, phone])
}

/** Requests that are on their way to phones; a newer one takes the place of an older one. */
export async function insertLocationRequests(
  sql: Writes,
  requests: readonly { lineId: string; phone: string; ref: string }[],
): Promise<void> {
  for (const { lineId, phone, ref } of requests) {
    await sql.run(
      `insert into sim_location_requests (line_id, phone, ref) values ($1, $2, $3)
       on conflict (line_id, phone) do update set ref = excluded.ref`,
      [lineId, phone, ref],
    )
  }
}

/** The open request of a line on a phone, whose message has arrived; it is answered by this. */
export async function takeLocationRequest(
  sql: Sql,
  lineId: string,
  phone: string,
  now: number,
): Promise<boolean> {
  const taken = await sql.run(
    `delete from sim_location_requests where line_id = $1 and phone = $2
       and exists (select 1 from phone_messages m where m.ref = sim_location_requests.ref and ${onScreen('$3')})`,
    [lineId, phone, now],
  )
  return taken > 0
}

function toSharedPlace(row: Row): SharedPlace {
  return {
    lineId: row.line_id as string,
    phone: row.phone as string,
    network: row.network as string,
    place: row.place === null ? null : JSON.parse(row.place as string),
    at: row.at as number,
    expiresAt: row.expires_at as number | null,
  }
}
