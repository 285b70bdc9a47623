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
  let unwritten = false
  let stopped = false
  let writing = false
  let written = Promise.resolve()
  let cancelTimer = () => {}

  function write() {
    if (writing) return
    writing = true
    written = writeDown()
  }

  async function writeDown() {
    cancelTimer()
    try {
      while (unwritten && !stopped) {
        unwritten = false
        await recordLineState(ctx, line, lease, state, detail)
      }
    } catch (error) {
      unwritten = true
      ctx.log.warn({ err: error, line: line.id }, "a line's state could not be written; trying again")
      if (!stopped) cancelTimer = ctx.clock.after(1000, write)
    } finally {
      // Here, and not when the promise is settled: what is reported in between would find nobody who writes it.
      writing = false
    }
  }

  return {
    report(next, why) {
      const wasOffline = state === 'OFFLINE'
      state = next
      detail = why ?? null
      unwritten = true
      write()
      if (wasOffline && next !== 'OFFLINE') cameBack()
    },
    isOffline: () => state === 'OFFLINE',
    async stop() {
      stopped = true
      cancelTimer()
      await written
    },
  }
}
