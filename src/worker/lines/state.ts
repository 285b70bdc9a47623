import type { Line, LineState } from '../../core/lines/line.js'
import type { Ctx } from '../../services/ctx.js'
import { recordLineState } from '../../services/lines/states.js'
import type { Lease } from '../../storage/lines/leases.js'

interface StateKeeper {
  report(state: LineState, detail?: string): void
  isOffline(): boolean
  /** Writes nothing more. Resolves when the current write has ended. */
  stop(): Promise<void>
}

/** Stores the states that a line's driver reports, in order, so that every process can read them. */
export function createStateKeeper(ctx: Ctx, line: Line, lease: Lease, cameBack: () => void): StateKeeper {
  let state: LineState = 'UNKNOWN'
  let detail: string | null = null
  const writing = ctx.loops.create('line state', () => recordLineState(ctx, line, lease, state, detail), {
    fields: { line: line.id },
  })

  return {
    report(next, why) {
      const wasOffline = state === 'OFFLINE'
      state = next
      detail = why ?? null
      writing.ask()
      if (wasOffline && next !== 'OFFLINE') cameBack()
    },
    isOffline: () => state === 'OFFLINE',
    stop: () => writing.stop(),
  }
}
