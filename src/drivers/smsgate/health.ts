import type { Line } from '../../core/lines/line.js'
import { bad, type Observation } from '../../core/lines/observation.js'
import { type Health, watchHealth } from '../../core/lines/watch-health.js'
import type { DriverHost } from '../host.js'
import { examine, NEEDED } from './examine.js'
import { type Phone, troubleOf } from './phone.js'

const BY_HAND = 'In the app, set the order of messages to FIFO, and let webhooks not wait for the internet.'

/** Reports the line's state, and gives the app the settings that a line needs. */
export function createHealth(
  phone: Phone,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'clock' | 'log'>,
  onReturn: () => void,
): Health {
  /** Sets what somebody has changed on the phone; before the next text leaves, because the app's own order is newest first. */
  async function look(): Promise<Observation[]> {
    const found = await examine(phone, line)
    if (!found.some(({ isToSet }) => isToSet)) return found
    await phone.call('PATCH', '/settings', NEEDED)
    const after = await examine(phone, line)
    if (after.some(({ isToSet }) => isToSet))
      after.push(bad('DEGRADED', 'The app does not take the settings that a line needs', BY_HAND))
    return after
  }

  return watchHealth(host, {
    everyMs: 60_000,
    look,
    onReturn,
    complain: (error) => host.log.warn(troubleOf(error), 'could not look at the phone'),
  })
}
