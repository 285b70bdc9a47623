import { createComplaint } from '../../core/lines/complaint.js'
import type { Line } from '../../core/lines/line.js'
import type { DriverHost } from '../host.js'
import { type Api, troubleOf } from './api.js'
import { examine, worstOf } from './examine.js'
import { wire } from './number.js'

export interface Health {
  check(): Promise<void>
  /** A message failed for a reason that concerns the whole line; undefined: one has been sent. */
  trouble(detail: string | undefined): void
  close(): void
}

const CHECK_MS = 300_000
const AWAY_MS = 15_000

/** Reports the line's state. With the setting `wire` it also points the number's webhook at this server. */
export function watchHealth(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'clock' | 'log'>,
  callbackUrl: () => string,
  onReturn: () => void,
): Health {
  let isClosed = false
  let isAway = true
  let said = ''
  let failure: string | undefined
  let checking: Promise<void> | undefined
  let cancel = () => {}
  const complaint = createComplaint((error) =>
    host.log.warn(troubleOf(error), 'could not look at the number at Twilio'),
  )

  async function look() {
    const url = callbackUrl()
    const { found, number } = await examine(api, line, url)
    if (failure) found.push({ ok: false, what: failure, state: 'DEGRADED' })
    const { state, detail } = worstOf(found)
    if (isClosed) return
    if (state !== 'OFFLINE' && isAway) {
      if (api.settings.wire && number && url)
        await wire(api, number, url).catch((error) =>
          host.log.warn(troubleOf(error), 'could not set the webhook of the number'),
        )
      onReturn()
    }
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
    trouble(detail) {
      if (detail === failure) return
      failure = detail
      void check()
    },
    close() {
      isClosed = true
      cancel()
    },
  }
}
