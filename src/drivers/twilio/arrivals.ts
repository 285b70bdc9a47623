import { createBoundedMap } from '../../base/bounded-map.js'
import { fieldsOf, listOf, textOf } from '../../core/fields.js'
import type { Line } from '../../core/lines/line.js'
import { createPatience } from '../../core/lines/patience.js'
import { fromNational } from '../../core/phone-number.js'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { type Api, ask } from './api.js'
import { personIn } from './channels.js'
import { download } from './download.js'
import { countOf, sidOf } from './statuses.js'

/** A message to the line, from a webhook or from the list. */
export interface Arrival {
  sid: string
  from: string
  to: string
  body: string
  at: number
  media: number
  /** Ids of the files, as far as a webhook named them. */
  files: readonly string[]
}

export interface Arrivals {
  /** Resolves once the message is stored. */
  take(arrival: Arrival): Promise<void>
  isKnown(sid: string): boolean
}

const MOST_REMEMBERED = 5000

export function createArrivals(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'receive' | 'media' | 'clock'>,
): Arrivals {
  const known = createBoundedMap<string, true>(MOST_REMEMBERED)
  const isGivenUp = createPatience(host.clock)

  async function filesOf({ sid, media, files }: Arrival): Promise<readonly string[]> {
    if (media === 0 || files.length === media) return files
    const list = await ask(api, `Messages/${sid}/Media.json`).catch((error) => {
      if (isGivenUp(sid)) return undefined
      throw error
    })
    return listOf(fieldsOf(list?.json).media_list).flatMap((one) => fileIdOf(fieldsOf(one).sid) ?? [])
  }

  return {
    isKnown: (sid) => known.get(sid) === true,
    /** A message of ours has one file, so an MMS with several becomes several. */
    async take(arrival) {
      const { sid, body, at } = arrival
      const { number, service } = personIn(arrival.from)
      const files = await filesOf(arrival)
      for (let i = 0; i < Math.max(1, files.length); i++) {
        const file = files[i]
        const message: Inbound = {
          providerId: i === 0 ? sid : `${sid}-${i}`,
          from: fromNational(number, line.number),
          service,
          content: i === 0 ? body : '',
          sentAt: at,
          ...(file
            ? { media: () => download(api, host, `Messages/${sid}/Media/${file}`, () => isGivenUp(sid)) }
            : {}),
        }
        await host.receive(message)
      }
      known.set(sid, true)
    },
  }
}

/** Reads the parameters of an inbound webhook; undefined if they are not those of a message. */
export function arrivalOf(params: URLSearchParams, now: number): Arrival | undefined {
  const sid = sidOf(params.get('MessageSid'))
  const [from, to] = [params.get('From'), params.get('To')]
  if (!sid || !from || !to) return undefined
  const media = Math.min(10, countOf(params.get('NumMedia')))
  const files = Array.from({ length: media }, (_, i) => params.get(`MediaUrl${i}`) ?? '').flatMap(
    (url) => fileIdOf(url.slice(url.lastIndexOf('/') + 1)) ?? [],
  )
  // A reply of a button has the words on the button, or the value behind it.
  const body = params.get('Body') || params.get('ButtonText') || params.get('ButtonPayload') || ''
  return { sid, from, to, body, at: now, media, files }
}

/** Reads a row of the list; undefined if it is no message to us. */
export function arrivedRowOf(json: unknown): Arrival | undefined {
  const row = fieldsOf(json)
  const sid = sidOf(row.sid)
  const [from, to] = [textOf(row.from), textOf(row.to)]
  const at = timeOf(row)
  if (!sid || !from || !to || at === undefined || row.direction !== 'inbound') return undefined
  return { sid, from, to, body: textOf(row.body), at, media: Math.min(10, countOf(row.num_media)), files: [] }
}

/** When Twilio got the message. */
export function timeOf(json: unknown): number | undefined {
  const { date_sent: sent, date_created: created } = fieldsOf(json)
  const at = Date.parse(textOf(sent) || textOf(created))
  return at > 0 ? at : undefined
}

function fileIdOf(value: unknown): string | undefined {
  const text = textOf(value)
  return /^ME[0-9a-fA-F]{32}$/.test(text) ? text : undefined
}
