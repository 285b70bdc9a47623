import { fieldsOf, listOf, textOf, wholeOf } from '../../../core/fields.js'
import type { DriverHost } from '../../host.js'
import { dataOf, type Mac, troubleOf } from '../mac.js'

/**
 * Registers the line's webhook on the server, and removes outdated webhooks of this line. Subscribes to all events,
 * because some have no other source. Returns whether the server will call.
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
    await dataOf(mac, 'The webhook could not be registered', { method: 'POST', path: '/webhook', json })
    return true
  } catch (error) {
    host.log.warn(troubleOf(error), 'could not register the webhook on the Mac; polling instead')
    return false
  }
}
