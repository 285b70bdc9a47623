import { createAgain } from '../../base/again.js'
import type { Line } from '../../core/lines/line.js'
import type { DriverHost } from '../host.js'

/** The calls of the simulated network. */
export interface CallNetwork {
  /** Ends the calls that are due and returns when the next call is due. */
  giveUpCalls(line: Line): Promise<number | undefined>
  onCalls(line: Line, handler: () => void): () => void
}

/**
 * Ends unanswered calls. The network stores when each call times out, so a restart loses nothing: the next holder
 * of the line reads those times first. Returns a function that stops it.
 */
export function watchCalls(network: CallNetwork, line: Line, host: DriverHost): () => void {
  const ending = createAgain(
    host.clock,
    () => network.giveUpCalls(line),
    (error) => {
      host.log.warn({ err: error }, 'the simulated network failed to end calls; trying again')
      return 1000
    },
  )
  const unsubscribe = network.onCalls(line, ending.ask)
  ending.ask()
  return () => {
    void ending.stop()
    unsubscribe()
  }
}
