import { createComplaint } from '../../core/lines/complaint.js'
import type { Line } from '../../core/lines/line.js'
import type { DriverHost } from '../host.js'
import { bad, examine, NEEDED, type Observation, worstOf } from './examine.js'
import { type Phone, troubleOf } from './phone.js'
import type { PhoneState } from './states.js'

export interface Health {
  check(): Promise<void>
  /** A text failed for a reason of the phone; undefined: one has left. */
  trouble(state: PhoneState | undefined): void
  close(): void
}

const CHECK_MS = 60_000
const AWAY_MS = 15_000
const BY_HAND = 'In the app, set the order of messages to FIFO, and let webhooks not wait for the internet.'

/** Reports the line's state, and gives the app the settings that a line needs. */
export function watchHealth(
  phone: Phone,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'clock' | 'log'>,
  onReturn: () => void,
): Health {
  let isClosed = false
  let isAway = true
  let said = ''
  let failure: PhoneState | undefined
  let checking: Promise<void> | undefined
  let cancel = () => {}
  const complaint = createComplaint((error) => host.log.warn(troubleOf(error), 'could not look at the phone'))

  /** Sets what somebody has changed on the phone; before the next text leaves, because the app's own order is newest first. */
  async function setUp(): Promise<Observation[]> {
    const found = await examine(phone, line)
    if (!found.some(({ isToSet }) => isToSet)) return found
    await phone.call('PATCH', '/settings', NEEDED)
    const after = await examine(phone, line)
    if (after.some(({ isToSet }) => isToSet))
      after.push(bad('DEGRADED', 'The app does not take the settings that a line needs', BY_HAND))
    return after
  }

  async function look() {
    const found = await setUp()
    if (failure) found.push({ ok: false, what: failure.detail ?? '', state: 'DEGRADED' })
    const { state, detail } = worstOf(found)
    if (isClosed) return
    if (state !== 'OFFLINE' && isAway) onReturn()
    isAway = state === 'OFFLINE'
    if (`${state} ${detail}` !== said) host.state(state, detail)
    said = `${state} ${detail}`
    complaint.over()
  }

  function check(): Promise<void> {
    checking ??= look()
      .catch((error) => {
        isAway = true
        if (!isClosed) complaint.tell(error)
      })
      .finally(() => {
        checking = undefined
        cancel()
        if (!isClosed) cancel = host.clock.after(isAway ? AWAY_MS : CHECK_MS, () => void check())
      })
    return checking
  }

  return {
    check,
    trouble(state) {
      if (state?.code === failure?.code) return
      failure = state
      void check()
    },
    close() {
      isClosed = true
      cancel()
    },
  }
}
