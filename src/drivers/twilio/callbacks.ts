import type { Following } from '../../core/lines/following.js'
import type { Line } from '../../core/lines/line.js'
import { receiptOf } from '../../core/lines/progress.js'
import type { CallbackReply, CallbackRequest } from '../contract.js'
import type { DriverHost } from '../host.js'
import { type Arrivals, arrivalOf } from './arrivals.js'
import { isOwnAddress, personIn } from './channels.js'
import type { TwilioSettings } from './settings.js'
import { isSigned } from './signature.js'
import { progressOf, sidOf } from './statuses.js'
import { type Calls, VOICE } from './voice/calls.js'

/** Path of statuses of messages below the line's own URL; messages come to the URL itself. */
const STATUS = '/status'

/** Where Twilio reports about a send: the ref finds the send even if the answer to it was lost. */
export function statusUrl(base: string, ref: string): string {
  return base && `${base}${STATUS}?ref=${encodeURIComponent(ref)}`
}

type Host = Pick<DriverHost, 'receipt' | 'read' | 'optedOut' | 'callbackUrl' | 'clock' | 'log'>

/** Webhooks of Twilio. Each is answered once it is stored, and only if Twilio signed it. */
export function createCallbacks(
  settings: TwilioSettings,
  line: Pick<Line, 'number'>,
  host: Host,
  arrivals: Arrivals,
  following: Following,
  calls: Calls,
) {
  const tokens = [settings.auth_token, settings.secondary_token].filter((one) => one !== undefined)

  /** The parameters of a call that Twilio signed for this account; undefined for any other call. */
  function trusted({ method, path, headers, body: encoded }: CallbackRequest): URLSearchParams | undefined {
    const body = Buffer.from(encoded, 'base64')
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false
    const params = new URLSearchParams(isForm ? body.toString('utf8') : '')
    const call = { url: host.callbackUrl() + path, params, body }
    if (!isSigned(call, headers['x-twilio-signature'] ?? '', tokens)) return undefined
    const given = method === 'GET' ? queryOf(path) : params
    return given.get('AccountSid') === settings.account_sid ? given : undefined
  }

  async function takeStatus(params: URLSearchParams, ref: string | null): Promise<void> {
    const sid = sidOf(params.get('MessageSid'))
    const status = params.get('MessageStatus') ?? ''
    const progress = progressOf(settings, {
      status,
      errorCode: Number(params.get('ErrorCode')) || undefined,
      from: params.get('From') ?? '',
      to: params.get('To') ?? '',
    })
    if (!sid || !progress) return host.log.warn({}, 'Twilio reported a status that is not known')
    const at = host.clock.now()
    await host.receipt({ ...receiptOf(sid, progress, at), ...(ref ? { ref } : {}) })
    following.told(sid, progress)
    if (status === 'read') await host.read({ providerId: sid, at })
  }

  async function takeMessage(params: URLSearchParams): Promise<void> {
    const arrival = arrivalOf(params, host.clock.now())
    if (!arrival) return host.log.warn({}, 'Twilio brought a message that cannot be read')
    if (!isOwnAddress(settings, line.number, arrival.to))
      return host.log.warn({}, 'Twilio brought a message for another number; its own line reads it')
    await arrivals.take(arrival)
    // Words of the account's own list at Twilio, which are not among ours.
    if (params.get('OptOutType') === 'STOP') await host.optedOut({ number: personIn(arrival.from).number })
  }

  return async (request: CallbackRequest): Promise<CallbackReply> => {
    const params = trusted(request)
    if (!params) return { status: 403, body: { message: 'The signature is not that of the account' } }
    if (request.path.startsWith(STATUS)) {
      await takeStatus(params, queryOf(request.path).get('ref'))
      return { status: 204 }
    }
    const [path = ''] = request.path.split('?')
    if (path === VOICE || path.startsWith(`${VOICE}/`)) {
      const twiml = await calls.take(path, params)
      return twiml === undefined ? { status: 204 } : { status: 200, contentType: 'text/xml', body: twiml }
    }
    await takeMessage(params)
    return { status: 200, contentType: 'text/xml', body: '<Response/>' }
  }
}

function queryOf(path: string): URLSearchParams {
  const at = path.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : path.slice(at + 1))
}
