import { createBoundedMap } from '../../../base/bounded-map.js'
import type { CallNews } from '../../../core/calls/carrier-call.js'
import type { Line } from '../../../core/lines/line.js'
import { fromNational } from '../../../core/phone-number.js'
import type { DriverHost } from '../../host.js'
import type { TwilioSettings } from '../settings.js'
import { callerIdFor, callSidOf, outcomeOf, secondsOf } from './fields.js'
import { dial, HANG_UP, REJECT } from './twiml.js'

/** Paths below the line's own URL. */
export const VOICE = '/voice'
const DIALLED = `${VOICE}/dial`
const LEG = `${VOICE}/leg`
export const CALL_STATUS = `${VOICE}/status`

export interface Calls {
  /** Takes a webhook about a call; returns the answer, or undefined if it needs none. */
  take(path: string, params: URLSearchParams): Promise<string | undefined>
  /** Stores how a call ended, from the list. */
  report(news: CallNews): Promise<void>
  /** Whether the end of a call is stored, or the call was rejected. */
  isOver(sid: string): boolean
}

const MOST_REMEMBERED = 5000

/** Calls to the number. `onLost` is called if a call has ended and no webhook has told how. */
export function createCalls(
  settings: Pick<TwilioSettings, 'voice'>,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'call' | 'callbackUrl' | 'clock' | 'log'>,
  onLost: () => void,
): Calls {
  const over = createBoundedMap<string, true>(MOST_REMEMBERED)

  async function ring(params: URLSearchParams): Promise<string> {
    const sid = callSidOf(params.get('CallSid'))
    const from = params.get('From') ?? ''
    if (!sid || params.get('To') !== line.number || settings.voice === false) {
      host.log.warn({}, 'Twilio brought a call that is not for this line')
      return REJECT
    }
    const { forwardTo } = await host.call(newsOf(sid, from, host.clock.now()))
    if (forwardTo === null) {
      over.set(sid, true)
      return REJECT
    }
    return dial({
      number: forwardTo,
      callerId: callerIdFor(from, line.number),
      action: host.callbackUrl() + DIALLED,
      statusCallback: host.callbackUrl() + LEG,
    })
  }

  const newsOf = (providerId: string, from: string, startedAt: number): CallNews => ({
    providerId,
    from: fromNational(from, line.number),
    startedAt,
  })

  /** A status of the phone that the call is forwarded to, with the seconds that it talked. */
  async function tell(call: unknown, params: URLSearchParams, status: string | null, seconds: unknown) {
    const sid = callSidOf(call)
    const outcome = outcomeOf(status)
    const isAnswered = status === 'in-progress'
    if (!sid || !(outcome || isAnswered)) return
    const at = host.clock.now()
    const talked = outcome === 'COMPLETED' ? secondsOf(seconds) : undefined
    await host.call({
      ...newsOf(sid, params.get('From') ?? '', at),
      ...(isAnswered ? { answeredAt: at } : {}),
      ...(talked === undefined ? {} : { answeredAt: at - talked * 1000 }),
      ...(outcome ? { end: { outcome, at } } : {}),
    })
    if (outcome) over.set(sid, true)
  }

  return {
    async take(path, params) {
      const get = (name: string) => params.get(name)
      if (path === DIALLED) {
        await tell(get('CallSid'), params, get('DialCallStatus'), get('DialCallDuration'))
        return HANG_UP
      }
      if (path === LEG) {
        await tell(get('ParentCallSid'), params, get('CallStatus'), get('CallDuration'))
        return undefined
      }
      if (path !== CALL_STATUS) return ring(params)
      // The status of the caller's own call does not tell whether somebody answered.
      const sid = callSidOf(get('CallSid'))
      if (sid && !over.get(sid)) onLost()
      return undefined
    },
    async report(news) {
      await host.call(news)
      over.set(news.providerId, true)
    },
    isOver: (sid) => over.get(sid) === true,
  }
}
