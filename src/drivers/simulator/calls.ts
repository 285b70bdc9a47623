import type { Line } from '../../core/lines/line.js'
import type { DriverHost } from '../host.js'

/** The calls of the simulated network. */
export interface CallNetwork {
  giveUpCalls(line: Line): Promise<number | undefined>
  onCalls(line: Line, handler: () => void): () => void
}

/**
 * Ends unanswered calls. The network stores when each call times out, so a restart loses nothing: the next holder
 * of the line reads those times first. Returns a function that stops it.
 */
export function watchCalls(network: CallNetwork, line: Line, host: DriverHost): () => void {
  let stopped = false
  let looking = false
  let again = false
  let cancelTimer = () => {}

  async function look() {
    again = true
    if (looking) return
    looking = true
    try {
      while (again && !stopped) {
        again = false
        cancelTimer()
        const next = await network.giveUpCalls(line)
        if (next !== undefined && !stopped)
          cancelTimer = host.clock.after(next - host.clock.now(), () => void look())
      }
    } catch (error) {
      host.log.warn({ err: error }, 'the simulated network failed to end calls; trying again')
      if (!stopped) cancelTimer = host.clock.after(1000, () => void look())
    } finally {
      looking = false
    }
  }

  const unsubscribe = network.onCalls(line, () => void look())
  void look()
  return () => {
    stopped = true
    cancelTimer()
    unsubscribe()
  }
}
