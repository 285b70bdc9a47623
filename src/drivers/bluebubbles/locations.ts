import { type Fields, fieldsOf, listOf, momentOf, textOf } from '../../core/fields.js'
import type { LineActions, LocationShare } from '../contract.js'
import { faultOf } from './actions.js'
import { type Mac, MacFault } from './mac.js'
import { addressOf } from './reading/rows.js'

const FIND_MY_TIMEOUT_MS = 60_000
const TYPES = ['legacy', 'live', 'shallow'] as const

/** Locations that people share with the Mac through Find My. */
export function locationActions(mac: Mac): Pick<LineActions, 'locations'> {
  return {
    async locations({ number }) {
      try {
        if (number === null) return await list(mac)
        const share = await locationOf(mac, number)
        return share ? [share] : []
      } catch (error) {
        throw faultOf(error)
      }
    },
  }
}

/** One person's location, refreshed if the server can do that. */
export async function locationOf(mac: Mac, number: string): Promise<LocationShare | undefined> {
  const fromList = async () => (await list(mac)).find((share) => share.number === number)
  if (!mac.abilities.locationRequests) return fromList()
  const answer = await mac.call({
    method: 'POST',
    path: '/icloud/findmy/friend/refresh',
    version: 2,
    json: { address: number },
    timeoutMs: FIND_MY_TIMEOUT_MS,
  })
  if (answer.status !== 200) return fromList()
  const fresh = shareOf(answer.data)
  if (fresh?.number !== number) return undefined
  if (answer.metadata.refreshed !== false || !fresh.location) return fresh
  const wait = Number(answer.metadata.retry_after_seconds)
  const refreshError = `Find My has no newer location yet${wait > 0 ? `. Ask again in ${Math.ceil(wait)} s.` : ''}`
  return { ...fresh, location: { ...fresh.location, refreshError } }
}

async function list(mac: Mac): Promise<LocationShare[]> {
  const answer = await mac.call({ path: '/icloud/findmy/friends', timeoutMs: FIND_MY_TIMEOUT_MS })
  if (answer.status !== 200) throw new MacFault(answer, 'Find My could not be read')
  const shares = new Map<string, LocationShare>()
  for (const one of listOf(answer.data)) {
    const share = shareOf(one)
    if (share) shares.set(share.number, share)
  }
  return [...shares.values()]
}

/** API v1 has the location's fields in the item itself, v2 in its `location` object. */
function shareOf(value: unknown): LocationShare | undefined {
  const friend = fieldsOf(value)
  const number = addressOf(friend.handle)
  if (number === undefined || friend.is_sharing_with_me === false) return undefined
  const item = 'location' in friend ? fieldsOf(friend.location) : friend
  const [latitude, longitude] =
    'coordinates' in item ? listOf(item.coordinates) : [item.latitude, item.longitude]
  if (!isDegrees(latitude, 90) || !isDegrees(longitude, 180) || (latitude === 0 && longitude === 0))
    return { number, state: 'shared_no_fix_yet', location: null }
  return {
    number,
    state: 'shared_with_fix',
    location: {
      latitude,
      longitude,
      accuracy: meters(item, 'horizontal_accuracy'),
      altitude: meters(item, 'altitude'),
      address: textOf(item.long_address) || null,
      locationType: TYPES.find((type) => type === item.status) ?? 'unknown',
      at: momentOf(item.last_updated) ?? 0,
      expiresAt: null,
      refreshError: null,
    },
  }
}

function isDegrees(value: unknown, limit: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= limit
}

function meters(item: Fields, name: string): number | null {
  const value = item[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
