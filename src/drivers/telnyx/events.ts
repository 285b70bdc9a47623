import { parseUrl } from '../../base/parse-url.js'
import { fieldsOf, textOf } from '../../core/fields.js'
import type { Following } from '../../core/lines/following.js'
import type { Line } from '../../core/lines/line.js'
import { receiptOf } from '../../core/lines/progress.js'
import type { Outbound } from '../contract.js'
import type { DriverHost } from '../host.js'
import { type Arrivals, arrivalOf } from './arrivals.js'
import type { TelnyxSettings } from './settings.js'
import { idOf, phoneOf, progressIn, timeOf } from './statuses.js'
import { isCallEvent } from './voice/calls.js'

/** Handles one event of Telnyx, which came by webhook or from the log; resolves once it is stored. */
export type TakeEvent = (event: unknown) => Promise<void>

const REF = 'ref'
/** Names a typing indicator or read mark, of which no report is of use. */
const MARK = 'mark'
const RECIPIENTS = 'recipients'

/** Where Telnyx reports about a send: the ref finds the send even if the answer to it was lost. */
export function reportUrl(base: string, { ref, group }: Pick<Outbound, 'ref' | 'group'>): string {
  const query = new URLSearchParams({ [REF]: ref })
  if (group) query.set(RECIPIENTS, String(group.members.length))
  return base && `${base}?${query}`
}

export function markUrl(base: string): string {
  return base && `${base}?${MARK}=1`
}

function isMark(webhookUrl: unknown): boolean {
  return parseUrl(textOf(webhookUrl))?.searchParams.has(MARK) ?? false
}

export function refIn(webhookUrl: unknown): string | undefined {
  return parseUrl(textOf(webhookUrl))?.searchParams.get(REF) || undefined
}

function recipientsIn(webhookUrl: unknown): number {
  return Number(parseUrl(textOf(webhookUrl))?.searchParams.get(RECIPIENTS)) || 1
}

type Host = Pick<DriverHost, 'receipt' | 'read' | 'clock' | 'log'>

/**
 * Events come late, twice and in any order. What they say is in the payload: Telnyx's own pages disagree about the
 * names, and an event that is not known is not an error.
 */
export function createEvents(
  line: Pick<Line, 'number' | 'config'>,
  host: Host,
  arrivals: Arrivals,
  following: Following,
  takeCall: TakeEvent,
): TakeEvent {
  const { rcs_agent_id: agentId } = line.config as Partial<TelnyxSettings>
  /** The number of a sender or recipient; that of the line for its RCS agent. */
  const addressOf = (value: unknown) => {
    const isAgent = agentId !== undefined && fieldsOf(value).agent_id === agentId
    return isAgent ? line.number : phoneOf(value)
  }

  async function takeStatus(event: unknown): Promise<void> {
    const { event_type: type, occurred_at: occurredAt, payload: given } = fieldsOf(event)
    const payload = fieldsOf(given)
    const id = idOf(payload.id)
    const recipients = recipientsIn(payload.webhook_url)
    const progress = progressIn(payload, recipients)
    if (!id || !progress || addressOf(payload.from) !== line.number || isMark(payload.webhook_url)) return
    const at = timeOf(occurredAt, host.clock.now())
    const ref = refIn(payload.webhook_url)
    const { providerId, ...rest } = receiptOf(id, progress, at)
    // Each recipient of a group may have an id of its own, so that only the ref names the send.
    await host.receipt({
      ...rest,
      ...(ref && recipients > 1 ? {} : { providerId: id }),
      ...(ref ? { ref } : {}),
    })
    if (type === 'message.read') await host.read({ providerId: id, at })
    following.told(id, progress)
  }

  return async (event) => {
    if (isCallEvent(event)) return takeCall(event)
    const { event_type: type, payload } = fieldsOf(event)
    const { direction } = fieldsOf(payload)
    if (direction === 'outbound') return takeStatus(event)
    if (direction !== 'inbound' && type !== 'message.received') return
    const arrival = arrivalOf(fieldsOf(payload), host.clock.now(), addressOf)
    if (!arrival) return host.log.warn({}, 'Telnyx brought a message that cannot be read')
    await arrivals.take(arrival)
  }
}
