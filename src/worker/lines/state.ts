import { createAgain } from '../../base/again.js'
import type { Line, LineState } from '../../core/lines/line.js'
import type { Ctx } from '../../services/ctx.js'
import { recordLineState } from '../../services/lines/states.js'
import type { Lease } from '../../storage/lines/leases.js'

export interface StateKeeper {
  report(state: LineState, detail?: string): void
  isOffline(): boolean
  /** Nothing more is written; what is being written is. */
  stop(): Promise<void>
}

/** What a line's driver says of its connection, written down in its order so that every process can tell. */
export function createStateKeeper(ctx: Ctx, line: Line, lease: Lease, cameBack: () => void): StateKeeper {
  let state: LineState = 'UNKNOWN'
  let detail: string | null = null
  const writing = createAgain(
    ctx.clock,
    () => recordLineState(ctx, line, lease, state, detail),
    (error) => {
      ctx.log.warn({ err: error, line: line.id }, "a line's state could not be written; trying again")
      return 1000
    },
  )

  return {
    report(next, why) {
      const wasOffline = state === 'OFFLINE'
      state = next
      detail = why ?? null
      writing.ask()
      if (wasOffline && next !== 'OFFLINE') cameBack()
    },
    isOffline: () => state === 'OFFLINE',
    stop: writing.stop,
  }
}
