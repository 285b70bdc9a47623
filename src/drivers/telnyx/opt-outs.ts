import { fieldsOf, textOf } from '../../core/fields.js'
import { toE164 } from '../../core/phone-number.js'
import type { DriverHost } from '../host.js'
import { type Api, rowsOf } from './api.js'

/**
 * Reports the people who opted out of a messaging profile after a time; returns the time of the newest. Each opt-out is
 * reported once: after a later START a second report would be wrong.
 */
export async function readOptOuts(
  api: Api,
  host: Pick<DriverHost, 'optedOut'>,
  profileId: string,
  after: number,
): Promise<number> {
  const query = new URLSearchParams({ 'filter[messaging_profile_id]': profileId })
  if (after > 0) query.set('created_at[gte]', new Date(after).toISOString())
  let newest = after
  for (const row of await rowsOf(api, '/messaging_optouts', query)) {
    const { to, created_at: createdAt, messaging_profile_id: profile } = fieldsOf(row)
    const at = Date.parse(textOf(createdAt))
    const number = toE164(textOf(to))
    if (!(at > after) || !number || profile !== profileId) continue
    await host.optedOut({ number })
    newest = Math.max(newest, at)
  }
  return newest
}
