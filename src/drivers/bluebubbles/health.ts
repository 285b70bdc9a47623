import type { Line, LineState } from '../../core/lines/line.js'
import { type Observation, worstOf } from '../../core/lines/observation.js'
import type { DriverHost } from '../host.js'
import { examine } from './examine.js'
import { type Mac, troubleOf } from './mac.js'

export interface Health {
  /** Checks now; true if the helper in Messages answered. */
  check(): Promise<boolean>
  /** Apple may have removed the line's number. The next check confirms it before the line counts as blocked. */
  suspectAlias(): void
  /** The Mac stopped calling the webhook, or calls again. */
  reportSilence(isSilent: boolean): void
  close(): void
}

const SILENT: Observation = {
  ok: false,
  what: 'The Mac stopped calling the webhook, so news arrives only with each poll',
  advice: 'Restart the server on the Mac and check that it can reach Trunkline.',
  state: 'DEGRADED',
}

/** The number counts as removed after so many checks without it. */
const MAX_MISSING = 3

/**
 * Reports the line's state. The server's own status proves nothing, so each check makes the helper in Messages
 * answer. A line that cannot send is OFFLINE, and its messages wait.
 */
export function watchHealth(
  mac: Mac,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'blocked' | 'clock' | 'log'>,
  everyMs: number,
  onReturn: () => void,
): Health {
  let closed = false
  let state: LineState = 'UNKNOWN'
  let detail: string | undefined
  let hadAlias = false
  let missing = 0
  let isSuspect = false
  let isSilent = false
  let checking: Promise<boolean> | undefined
  let cancel = () => {}

  async function look(): Promise<boolean> {
    const { findings, hasAlias } = await examine(mac, line.number)
    if (closed) return false
    const next = worstOf(isSilent ? [...findings, SILENT] : findings)
    const isBack = next.state !== 'OFFLINE' && (state === 'OFFLINE' || state === 'UNKNOWN')
    if (next.state !== state || next.detail !== detail) {
      state = next.state
      detail = next.detail
      host.state(state, detail)
    }
    if (hasAlias === true) {
      hadAlias = true
      missing = 0
      isSuspect = false
    } else if (hasAlias === false) {
      missing++
      if (isSuspect || (hadAlias && missing >= MAX_MISSING))
        host.blocked('Apple removed the number of this line from the Mac')
    }
    if (isBack) onReturn()
    return state !== 'OFFLINE'
  }

  function check(): Promise<boolean> {
    checking ??= look()
      .catch((error) => {
        if (!closed) host.log.warn(troubleOf(error), 'the health check of the Mac failed')
        return false
      })
      .finally(() => {
        checking = undefined
        cancel()
        if (!closed) cancel = host.clock.after(state === 'ONLINE' ? everyMs : everyMs / 3, () => void check())
      })
    return checking
  }

  return {
    check,
    reportSilence(is) {
      isSilent = is
      void check()
    },
    suspectAlias() {
      isSuspect = true
      void check()
    },
    close() {
      closed = true
      cancel()
    },
  }
}
