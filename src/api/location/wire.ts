import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { LOCATION_TYPES } from '../../core/sim/location.js'
import type { ContactLocation } from '../../services/location/location.js'
import type { WatchNews } from '../../services/location/watch.js'
import { nullable, oneOf, optional, string } from '../http/schemas.js'

/** Locations on the wire. */

const number = (description: string) => Type.Number({ description })

export const LocationTypeWire = oneOf<(typeof LOCATION_TYPES)[number]>(
  LOCATION_TYPES,
  'How the location is known',
)

const Entry = Type.Object(
  {
    latitude: number('Degrees'),
    longitude: number('Degrees'),
    accuracy: optional(number('Metres')),
    altitude: optional(number('Metres')),
    address: nullable('string', 'Street address; null when not known'),
    locationType: LocationTypeWire,
    timestamp: string('When the person was there, ISO 8601'),
    expiresAt: optional(string('When the sharing ends; omitted when it has no end')),
    refreshError: optional(string('Why the location could not be refreshed')),
  },
  { title: 'Location', description: 'Location of the person; omitted when unknown' },
)

export const StateWire = oneOf<ContactLocation['state']>(
  ['not_shared', 'shared_no_fix_yet', 'shared_with_fix'],
  'Whether the person shares a location, and whether it is known',
)

export const PlaceWire = {
  number: string('The person, E.164'),
  state: StateWire,
  location: optional(Entry),
}

/** The events of a location stream. Published clients drop the event's name, so the fields must tell them apart. */
export const WatchWire = Type.Object(
  {
    status: oneOf<'OK' | 'ERROR'>(['OK', 'ERROR'], 'ERROR only in `error`'),
    from_number: string('The line'),
    number: string('The person'),
    state: optional(StateWire),
    location: optional(Entry),
    reason: optional(
      string('Only in `complete`: sharing_ended, authorization_revoked, worker_disconnected or watch_ended'),
    ),
    message: optional(string('Only in `error`: what went wrong')),
  },
  { title: 'LocationNews' },
)

export function placeWire({ number, state, location }: ContactLocation) {
  return { number, state, ...(location ? { location: entryWire(location) } : {}) }
}

function entryWire(fix: NonNullable<ContactLocation['location']>) {
  return {
    latitude: fix.latitude,
    longitude: fix.longitude,
    ...(fix.accuracy === null ? {} : { accuracy: fix.accuracy }),
    ...(fix.altitude === null ? {} : { altitude: fix.altitude }),
    address: fix.address,
    locationType: fix.locationType,
    timestamp: formatTime(fix.at),
    ...(fix.expiresAt === null ? {} : { expiresAt: formatTime(fix.expiresAt) }),
    ...(fix.refreshError === null ? {} : { refreshError: fix.refreshError }),
  }
}

/** The data of one event. */
export function newsWire(
  news: Exclude<WatchNews, { kind: 'heartbeat' }>,
  watch: { fromNumber: string; number: string },
) {
  const head = { from_number: watch.fromNumber, number: watch.number }
  switch (news.kind) {
    case 'ready':
      return { status: 'OK', ...head }
    case 'location':
      return { status: 'OK', ...head, ...placeWire(news.place) }
    case 'complete':
      return { status: 'OK', ...head, state: news.state, reason: news.reason }
    case 'error':
      return { status: 'ERROR', ...head, message: news.message }
  }
}
