import type { Line } from '../../core/lines/line.js'
import { type Health, watchHealth } from '../../core/lines/watch-health.js'
import type { DriverHost } from '../host.js'
import { type Api, troubleOf } from './api.js'
import { type Examined, examine } from './examine.js'
import { hasOwnCalls, takesCalls, wire } from './number.js'

interface Listener {
  /** Twilio can be reached, for the first time or again. */
  back(): void
  /** Whether calls to the number come to Trunkline. */
  calls(areOurs: boolean): void
}

/** Reports the line's state. With the setting `wire` it also points the number's webhooks at this server. */
export function createHealth(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'clock' | 'log'>,
  callbackUrl: () => string,
  on: Listener,
): Health {
  let seen: Examined = { found: [] }
  /** Whether the webhooks are as this server wants them: it looks before it sets them. */
  let isSettled = false

  function tellCalls(url: string, isWired: boolean) {
    const { number } = seen
    if (!number || url === '') return
    const areOurs = takesCalls(api, number, url) && (isWired || hasOwnCalls(number, url))
    if (areOurs || isSettled) on.calls(areOurs)
  }

  return watchHealth(host, {
    everyMs: 300_000,
    async look() {
      const url = callbackUrl()
      seen = await examine(api, line, url)
      if (!seen.number) isSettled = false
      tellCalls(url, false)
      return seen.found
    },
    async onReturn() {
      const url = callbackUrl()
      const isWired =
        api.settings.wire && seen.number && url
          ? await wire(api, seen.number, url).then(
              () => true,
              (error) => {
                host.log.warn(troubleOf(error), 'could not set the webhooks of the number')
                return false
              },
            )
          : false
      isSettled = true
      tellCalls(url, isWired)
      on.back()
    },
    complain: (error) => host.log.warn(troubleOf(error), 'could not look at the number at Twilio'),
  })
}
