import { fieldsOf, parseJson } from '../../core/fields.js'
import type { CallbackReply, CallbackRequest } from '../contract.js'
import type { DriverClock, DriverHost } from '../host.js'
import type { TakeEvent } from './events.js'
import type { TelnyxSettings } from './settings.js'
import { createSignatureCheck } from './signature.js'
import { isCallEvent } from './voice/calls.js'

/**
 * Telnyx waits two seconds for an answer. A command about a call may take longer: Telnyx then repeats the event, which
 * repeats the command under the same id.
 */
const ANSWER_MS = 1500

/**
 * Webhooks of Telnyx. Each is answered once it is stored, and only if the account signed it. Telnyx keeps a webhook
 * that is refused in its log, from which it is read.
 */
export function createCallbacks(
  { public_key: publicKey }: TelnyxSettings,
  host: Pick<DriverHost, 'clock'>,
  takeEvent: TakeEvent,
) {
  const isSigned = publicKey === undefined ? () => false : createSignatureCheck(publicKey)
  return async ({ headers, body: encoded }: CallbackRequest): Promise<CallbackReply> => {
    const body = Buffer.from(encoded, 'base64')
    if (!isSigned(headers, body, host.clock.now()))
      return { status: 403, body: { message: 'The signature is not that of the account' } }
    const event = fieldsOf(parseJson(body)).data
    const work = takeEvent(event)
    if (isCallEvent(event) && !(await isOverWithin(ANSWER_MS, work, host.clock))) return { status: 503 }
    await work
    return { status: 204 }
  }
}

/** Whether work succeeds or fails within a time; work that takes longer goes on. */
function isOverWithin(ms: number, work: Promise<void>, clock: DriverClock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(false))
    const end = () => {
      cancel()
      resolve(true)
    }
    work.then(end, end)
  })
}
