import type { CallOutcome } from '../../../core/calls/call.js'
import type { CallNews } from '../../../core/calls/carrier-call.js'
import { type Fields, fieldsOf, textOf } from '../../../core/fields.js'
import type { Line } from '../../../core/lines/line.js'
import { fromNational } from '../../../core/phone-number.js'
import type { DriverHost } from '../../host.js'
import type { Api } from '../api.js'
import { timeOf } from '../statuses.js'
import { createCommands } from './commands.js'
import { callerOutcomeOf, type Leg, legOf, outcomeOf } from './legs.js'

export const CALL_EVENTS = ['call.initiated', 'call.answered', 'call.bridged', 'call.hangup'] as const

export function isCallEvent(event: unknown): boolean {
  return textOf(fieldsOf(event).event_type).startsWith('call.')
}

/**
 * Events of calls to the number. Each resolves once it is stored and Telnyx has taken the command that follows from it,
 * and throws otherwise: Telnyx then repeats the event, or keeps it in its log.
 */
export function createCalls(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'call' | 'clock'>,
): (event: unknown) => Promise<void> {
  const commands = createCommands(api, line.number)
  const newsOf = ({ session, from, startedAt }: Leg): CallNews => ({
    providerId: session,
    from: fromNational(from, line.number),
    startedAt,
  })
  const end = (leg: Leg, outcome: CallOutcome, at: number) =>
    host.call({ ...newsOf(leg), end: { outcome, at } })

  async function ring(leg: Leg): Promise<void> {
    if (api.settings.voice === false) return void (await commands.reject(leg))
    const { forwardTo } = await host.call(newsOf(leg))
    if (forwardTo === null) return void (await commands.reject(leg))
    if (await commands.forward(leg, forwardTo)) return
    // A call that cannot be rejected either is over, and its end is told.
    if (await commands.reject(leg)) await end(leg, 'FAILED', host.clock.now())
  }

  async function hangUp(leg: Leg, payload: Fields, at: number): Promise<void> {
    if (leg.isCaller) {
      const outcome = callerOutcomeOf(leg, payload)
      if (outcome) await end(leg, outcome, at)
      return
    }
    const outcome = outcomeOf(payload.hangup_cause)
    await end(leg, outcome, at)
    if (outcome !== 'COMPLETED') await commands.hangUp(leg.state!.leg)
  }

  return async (event) => {
    const { event_type: type, occurred_at: occurredAt, payload: given } = fieldsOf(event)
    const payload = fieldsOf(given)
    const leg = legOf(payload, line.number, host.clock.now())
    if (!leg) return
    const at = timeOf(occurredAt, host.clock.now())
    if (type === 'call.hangup') return hangUp(leg, payload, at)
    const isPickedUp = type === 'call.bridged' || (type === 'call.answered' && !leg.isCaller)
    if (isPickedUp) return void (await host.call({ ...newsOf(leg), answeredAt: at }))
    if (type === 'call.initiated' && payload.direction === 'incoming' && leg.isCaller) await ring(leg)
  }
}
