import type { Line } from '../../core/lines/line.js'
import type { DriverHost } from '../host.js'
import { examine, NEEDED, worstOf } from './examine.js'
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

  async function look() {
    const found = await examine(phone, line)
    if (failure) found.push({ ok: false, what: failure.detail ?? '', state: 'DEGRADED' })
    const { state, detail } = worstOf(found)
    if (isClosed) return
    if (state !== 'OFFLINE' && isAway) {
      // Harmless to repeat; before the first text leaves, because the app's own order is newest first.
      const { status } = await phone.call('PATCH', '/settings', NEEDED)
      if (status >= 300) host.log.warn({ status }, 'the phone did not take the settings that a line needs')
      onReturn()
    }
    isAway = state === 'OFFLINE'
    if (`${state} ${detail}` !== said) host.state(state, detail)
    said = `${state} ${detail}`
  }

  function check(): Promise<void> {
    checking ??= look()
      .catch((error) => {
        isAway = true
        if (!isClosed) host.log.warn(troubleOf(error), 'could not look at the phone')
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
