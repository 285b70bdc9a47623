import { createComplaint } from './complaint.js'
import type { LineState } from './line.js'
import { bad, type Observation, worstOf } from './observation.js'

export interface Health {
  check(): Promise<void>
  /** A message failed for a reason that concerns the whole line; undefined: one has left. */
  trouble(detail: string | undefined): void
  close(): void
}

interface Watched {
  everyMs: number
  /** Looks at the carrier; throws if it could not look. */
  look(): Promise<Observation[]>
  /** The carrier can be reached, for the first time or again. */
  onReturn(): unknown
  /** A look failed; told once, until one succeeds. */
  complain(error: unknown): void
}

interface Host {
  state(state: LineState, detail?: string): void
  clock: { after(ms: number, fn: () => void): () => void }
}

const AWAY_MS = 15_000

/** Looks at a carrier from time to time, more often while it is away, and reports the line's state. */
export function watchHealth(host: Host, { everyMs, look, onReturn, complain }: Watched): Health {
  let isClosed = false
  let isAway = true
  let said = ''
  let failure: string | undefined
  let checking: Promise<void> | undefined
  let cancel = () => {}
  const complaint = createComplaint(complain)

  async function report() {
    const found = await look()
    if (failure !== undefined) found.push(bad('DEGRADED', failure))
    const { state, detail } = worstOf(found)
    if (isClosed) return
    if (state !== 'OFFLINE' && isAway) await onReturn()
    isAway = state === 'OFFLINE'
    if (`${state} ${detail}` !== said) host.state(state, detail)
    said = `${state} ${detail}`
    complaint.over()
  }

  function check(): Promise<void> {
    checking ??= report()
      .catch((error) => {
        isAway = true
        if (!isClosed) complaint.tell(error)
      })
      .finally(() => {
        checking = undefined
        cancel()
        if (!isClosed) cancel = host.clock.after(isAway ? AWAY_MS : everyMs, () => void check())
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
