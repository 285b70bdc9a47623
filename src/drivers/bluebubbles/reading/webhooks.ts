import type { DriverHost } from '../../host.js'
import { fieldsOf, listOf, textOf, wholeOf } from '../json.js'
import { dataOf, type Mac, troubleOf } from '../mac.js'

/**
 * Has the server call us. It keeps an address it knows as it is, and one of this line that is ours no more is
 * taken away. All events are asked for: some can be had no other way. Answers whether it will call.
 */
export async function registerWebhook(
  mac: Mac,
  host: Pick<DriverHost, 'callbackUrl' | 'log'>,
  lineId: string,
): Promise<boolean> {
  const url = host.callbackUrl()
  if (url === '' || mac.settings.webhooks === false || !mac.abilities.registersWebhooks) return false
  try {
    const known = listOf(await dataOf(mac, 'The webhooks could not be read', { path: '/webhook' })).map(
      fieldsOf,
    )
    for (const one of known) {
      const id = wholeOf(one.id)
      if (id === undefined || one.url === url || !textOf(one.url).includes(`/callbacks/${lineId}/`)) continue
      await mac.call({ method: 'DELETE', path: `/webhook/${id}` })
    }
    if (known.some((one) => one.url === url)) return true
    const json = { url, events: ['*'] }
    await dataOf(mac, 'The webhook was not taken', { method: 'POST', path: '/webhook', json })
    return true
  } catch (error) {
    host.log.warn(troubleOf(error), 'the Mac will not call us; it is asked for news instead')
    return false
  }
}
