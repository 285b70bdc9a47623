import type { Line, LineState } from '../../core/lines/line.js'
import type { DriverHost } from '../host.js'
import { examine, type Observation, worstOf } from './examine.js'
import { type Mac, troubleOf } from './mac.js'

export interface Health {
  /** Looks now; whether the helper did something for us just then. */
  check(): Promise<boolean>
  /** Apple may have taken the line's number away: that is looked at, and not believed. */
  suspectAlias(): void
  /** The Mac has stopped to call, or calls again. */
  silent(isSilent: boolean): void
  close(): void
}

const SILENT: Observation = {
  ok: false,
  what: 'The Mac does not call any more when something happens, so it is known only when it is asked',
  advice: 'Restart the server on the Mac, and check that it can reach this server.',
  state: 'DEGRADED',
}

/** How often the number must be missing before it counts as taken away. */
const MISSING_TIMES = 3

/**
 * Says what the line is. A green light of the server proves nothing, so the helper in Messages has to do something.
 * A line that can send nothing is offline: its messages wait.
 */
export function watchHealth(
  mac: Mac,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'blocked' | 'clock' | 'log'>,
  everyMs: number,
  cameBack: () => void,
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
      if (isSuspect || (hadAlias && missing >= MISSING_TIMES))
        host.blocked('Apple has taken the number of the line off this Mac')
    }
    if (isBack) cameBack()
    return state !== 'OFFLINE'
  }

  function check(): Promise<boolean> {
    checking ??= look()
      .catch((error) => {
        if (!closed) host.log.warn(troubleOf(error), 'the Mac could not be examined')
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
    silent(is) {
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
