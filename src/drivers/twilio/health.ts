import type { Line } from '../../core/lines/line.js'
import { type Health, watchHealth } from '../../core/lines/watch-health.js'
import type { DriverHost } from '../host.js'
import { type Api, troubleOf } from './api.js'
import { type Examined, examine } from './examine.js'
import { wire } from './number.js'

/** Reports the line's state. With the setting `wire` it also points the number's webhook at this server. */
export function createHealth(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'clock' | 'log'>,
  callbackUrl: () => string,
  onReturn: () => void,
): Health {
  let seen: Examined = { found: [] }
  return watchHealth(host, {
    everyMs: 300_000,
    async look() {
      seen = await examine(api, line, callbackUrl())
      return seen.found
    },
    async onReturn() {
      const url = callbackUrl()
      if (api.settings.wire && seen.number && url)
        await wire(api, seen.number, url).catch((error) =>
          host.log.warn(troubleOf(error), 'could not set the webhook of the number'),
        )
      onReturn()
    },
    complain: (error) => host.log.warn(troubleOf(error), 'could not look at the number at Twilio'),
  })
}
