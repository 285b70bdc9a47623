import { fieldsOf, parseJson } from '../../core/fields.js'
import type { CallbackReply, CallbackRequest } from '../contract.js'
import type { DriverHost } from '../host.js'
import type { TakeEvent } from './events.js'
import type { TelnyxSettings } from './settings.js'
import { createSignatureCheck } from './signature.js'

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
    await takeEvent(fieldsOf(parseJson(body)).data)
    return { status: 204 }
  }
}
