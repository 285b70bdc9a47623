import { type Fields, fieldsOf, textOf } from '../../core/fields.js'
import type { Line } from '../../core/lines/line.js'
import { hasTwin } from '../../core/messages/open-send.js'
import type { Evidence } from '../../core/messages/outcome.js'
import type { AttemptRef } from '../contract.js'
import type { DriverHost } from '../host.js'
import { type Api, dataOf, rowsOf, troubleOf } from './api.js'
import { refIn } from './events.js'
import { idOf, progressIn } from './statuses.js'

/** Tolerated difference between Telnyx's clock and ours. */
const SKEW_MS = 120_000
const DAY_MS = 86_400_000
const LEAST_MS = 15_000
const MOST_MS = 900_000

type Host = Pick<DriverHost, 'knownSends' | 'openSends' | 'clock' | 'log'>

/**
 * Looks for a message whose answer was lost: in the log of webhooks, which contains the ref as soon as Telnyx has tried
 * to report anything, and in the detail records. A message that waits in Telnyx's queue is in neither, so one that is
 * not there counts as never sent only after the line's settle time.
 */
export function createLookup(api: Api, line: Pick<Line, 'number' | 'settleMs'>, host: Host) {
  const agentId = api.settings.rcs_agent_id

  /** The agent sends by RCS, and the number what RCS does not reach. */
  const sendersOf = ({ service, group }: AttemptRef) =>
    service === 'RCS' && !group && agentId !== undefined ? [agentId, line.number] : [line.number]
  return async (attempt: AttemptRef): Promise<Evidence> => {
    const now = host.clock.now()
    const left = attempt.unknownSince + line.settleMs - now
    const pause = Math.min(MOST_MS, Math.max(LEAST_MS, now - attempt.unknownSince))
    const again: Evidence = { found: undefined, againMs: left > 0 ? Math.min(pause, left) : pause }
    try {
      const id =
        (await idInLog(api, attempt.ref)) ?? (await idInRecords(api, sendersOf(attempt), attempt, host))
      if (id === 'unclear') return left > 0 ? again : { found: undefined }
      if (id === undefined) return left > 0 ? again : { found: false }
      const status = progressIn(fieldsOf(await dataOf(api, `/messages/${id}`)))?.status ?? 'ACCEPTED'
      return { found: true, providerId: id, status }
    } catch (error) {
      host.log.warn(troubleOf(error), 'could not ask Telnyx about a send')
      return again
    }
  }
}

async function idInLog(api: Api, ref: string): Promise<string | undefined> {
  const query = new URLSearchParams({ 'filter[webhook][contains]': ref })
  for (const row of await rowsOf(api, '/webhook_deliveries', query)) {
    const payload = fieldsOf(fieldsOf(fieldsOf(row).webhook).payload)
    if (payload.direction === 'outbound' && refIn(payload.webhook_url) === ref) return idOf(payload.id)
  }
  return undefined
}

/**
 * A record names our ref if the send had an address for reports. One that names no ref may be a send of the time
 * without such an address, and is recognised by its text.
 */
async function idInRecords(
  api: Api,
  senders: readonly string[],
  attempt: AttemptRef,
  host: Host,
): Promise<string | 'unclear' | undefined> {
  const records = await recordsOf(api, senders, attempt, host.clock.now())
  const own = records.find((one) => refIn(one.delivery_status_webhook_url) === attempt.ref)
  if (own) return idOf(own.uuid)
  const ids = records.flatMap((one) => (refIn(one.delivery_status_webhook_url) ? [] : (idOf(one.uuid) ?? [])))
  const claimed = new Set(ids.length > 0 ? await host.knownSends(ids) : [])
  const alike: string[] = []
  for (const id of ids) {
    if (claimed.has(id)) continue
    const { text, body } = fieldsOf(await dataOf(api, `/messages/${id}`))
    const { text: byRcs } = fieldsOf(fieldsOf(body).content_message)
    if ((textOf(text) || textOf(byRcs)) === attempt.content) alike.push(id)
  }
  if (alike.length === 0) return undefined
  return alike.length > 1 || attempt.handle === '' || hasTwin(await host.openSends(), attempt, 2 * SKEW_MS)
    ? 'unclear'
    : alike[0]
}

async function recordsOf(
  api: Api,
  senders: readonly string[],
  { to: person, group, wireAt }: AttemptRef,
  now: number,
): Promise<Fields[]> {
  // Telnyx has a record for each recipient of a group.
  const to = group?.members[0] ?? person
  const found = new Map<string, Fields>()
  const days = Math.ceil(Math.max(0, now - wireAt) / DAY_MS) + 1
  // Telnyx does not document whether the last days include today.
  for (const range of ['today', `last_${days}_days`])
    for (const from of senders) {
      const query = new URLSearchParams({
        'filter[record_type]': 'messaging',
        'filter[cld]': to,
        'filter[cli]': from,
        'filter[date_range]': range,
        sort: '-created_at',
      })
      for (const row of (await rowsOf(api, '/detail_records', query)).map(fieldsOf)) {
        const isRecent = Date.parse(textOf(row.created_at)) >= wireAt - SKEW_MS
        if (isRecent && row.direction === 'outbound' && row.cld === to && row.cli === from)
          found.set(textOf(row.uuid), row)
      }
    }
  return [...found.values()]
}
