import { fieldsOf, listOf, parseJson, textOf } from '../../core/fields.js'
import type { CallbackReply, CallbackRequest } from '../contract.js'
import type { DriverHost } from '../host.js'
import type { Following } from './following.js'
import type { Inbox } from './inbox.js'
import { ask, type Phone, PhoneFault, troubleOf } from './phone.js'

const EVENTS = ['sms:received', 'mms:downloaded', 'sms:sent', 'sms:delivered', 'sms:failed', 'sms:cancelled']

/**
 * Calls of the phone. A call may come twice, late or never, and anybody who knows its URL can make one, so it only
 * makes us ask the phone. It is answered once the news is stored: until then the phone calls again.
 */
export function createHints(inbox: Inbox, following: Following) {
  return async (request: CallbackRequest): Promise<CallbackReply> => {
    const { event, payload } = fieldsOf(parseJson(Buffer.from(request.body, 'base64')))
    if (typeof event !== 'string')
      return { status: 400, body: { message: 'The body is not an event of SMSGate' } }
    if (event.endsWith('received') || event === 'mms:downloaded') await inbox.read()
    else following.hint(textOf(fieldsOf(payload).messageId))
    return { status: 200, body: {} }
  }
}

/** Tells the phone our address, and makes it forget older ones of this line. It takes https, or its own loopback. */
export async function registerWebhooks(
  phone: Phone,
  host: Pick<DriverHost, 'callbackUrl' | 'log'>,
  lineId: string,
): Promise<void> {
  const url = host.callbackUrl()
  if (phone.settings.webhooks === false || !/^https:|^http:\/\/127\.0\.0\.1[:/]/.test(url)) return
  try {
    const known = listOf((await ask(phone, 'GET', '/webhooks')).json).map(fieldsOf)
    for (const one of known)
      if (one.url !== url && textOf(one.url).includes(`/callbacks/${lineId}/`))
        await phone.call('DELETE', `/webhooks/${encodeURIComponent(textOf(one.id))}`)
    for (const event of EVENTS)
      if (!known.some((one) => one.url === url && one.event === event)) await register(phone, { url, event })
  } catch (error) {
    host.log.warn(troubleOf(error), 'could not register webhooks on the phone; asking it instead')
  }
}

async function register(phone: Phone, webhook: { url: string; event: string }): Promise<void> {
  const answer = await phone.call('POST', '/webhooks', webhook)
  // Older versions do not know every event.
  if (answer.status >= 300 && answer.status !== 400) throw new PhoneFault(answer)
}
