import { createKeyedTurns } from '../../base/turns.js'
import type { DriverClock } from '../host.js'
import { pause } from './mac.js'

export interface Lanes {
  /** Runs the work of one chat in sequence: the server may mix up two concurrent sends in a chat. */
  inTurn<T>(chat: string, work: () => Promise<T>): Promise<T>
  /** Waits for a free slot at the rate that the Mac can sustain. */
  takeSlot(): Promise<void>
}

/** The helper in Messages sustains this many actions a second. More would queue up until it stops answering. */
const SLOTS_PER_WINDOW = 5
const WINDOW_MS = 1000

export function createLanes(clock: DriverClock): Lanes {
  /** Start times of the latest slots, oldest first. */
  const slots: number[] = []
  return {
    inTurn: createKeyedTurns().inTurn,
    async takeSlot() {
      const now = clock.now()
      const at = Math.max(now, slots.length < SLOTS_PER_WINDOW ? 0 : slots.shift()! + WINDOW_MS)
      slots.push(at)
      if (at > now) await pause(clock, at - now)
    },
  }
}
