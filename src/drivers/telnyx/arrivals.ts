import { createBoundedMap } from '../../base/bounded-map.js'
import { type Fields, fieldsOf, listOf, textOf } from '../../core/fields.js'
import type { Line } from '../../core/lines/line.js'
import { createPatience, openPatiently } from '../../core/lines/patience.js'
import type { LocationFix } from '../../core/messages/extra.js'
import type { Service } from '../../core/messages/message.js'
import { fromNational } from '../../core/phone-number.js'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { groupNewsOf } from './groups.js'
import { rcsBodyOf } from './rcs/inbound.js'
import { idOf, phoneOf, serviceIn, timeOf } from './statuses.js'

/** A message to one of the account's numbers. */
export interface Arrival {
  id: string
  from: string
  /** Everybody who got the message, the line included. */
  to: readonly string[]
  text: string
  at: number
  /** Addresses of the files, which Telnyx keeps for 30 days. */
  files: readonly string[]
  service: Service
  location: LocationFix | undefined
}

export interface Arrivals {
  /** Resolves once the message is stored. */
  take(arrival: Arrival): Promise<void>
}

const MOST_REMEMBERED = 5000
const MOST_FILES = 10

export function createArrivals(
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'receive' | 'media' | 'clock'>,
): Arrivals {
  const known = createBoundedMap<string, true>(MOST_REMEMBERED)
  /** Telnyx repeats a webhook after two seconds, while the files of the first are still being fetched. */
  const running = new Map<string, Promise<void>>()
  const isGivenUp = createPatience(host.clock)

  /** A message of ours has one file, so an MMS with several becomes several. */
  async function store({ id, from, to, text, at, files, service, location }: Arrival): Promise<void> {
    const sender = fromNational(from, line.number)
    const others = [...new Set([sender, ...to])].filter((one) => one !== line.number)
    for (let i = 0; i < Math.max(1, files.length); i++) {
      const url = files[i]
      const message: Inbound = {
        providerId: i === 0 ? id : `${id}-${i}`,
        from: sender,
        service,
        content: i === 0 ? text : '',
        sentAt: at,
        ...(location && i === 0 ? { extra: { location } } : {}),
        ...(others.length > 1 ? { group: groupNewsOf(others) } : {}),
        ...(url
          ? {
              mediaUrl: url,
              media: () =>
                openPatiently(
                  () => host.media(url),
                  () => isGivenUp(id),
                ),
            }
          : {}),
      }
      await host.receive(message)
    }
    known.set(id, true)
  }

  return {
    async take(arrival) {
      const { id } = arrival
      if (known.get(id) || !arrival.to.includes(line.number)) return
      const work = running.get(id) ?? store(arrival).finally(() => running.delete(id))
      running.set(id, work)
      await work
    },
  }
}

/** Reads the payload of an inbound webhook; undefined if it is not that of a message. `addressOf` reads a recipient. */
export function arrivalOf(
  payload: Fields,
  now: number,
  addressOf: (recipient: unknown) => string,
): Arrival | undefined {
  const id = idOf(payload.id)
  const from = phoneOf(payload.from)
  const to = [...listOf(payload.to), ...listOf(payload.cc)].map(addressOf).filter((one) => one !== '')
  if (!id || from === '' || to.length === 0) return undefined
  const files = listOf(payload.media).flatMap((one) => textOf(fieldsOf(one).url) || [])
  const rcs = rcsBodyOf(payload.body)
  return {
    id,
    from,
    to,
    text: textOf(payload.text) || rcs.text,
    at: timeOf(payload.received_at, now),
    files: [...files, ...rcs.files].slice(0, MOST_FILES),
    service: serviceIn(payload) ?? 'SMS',
    location: rcs.location,
  }
}
