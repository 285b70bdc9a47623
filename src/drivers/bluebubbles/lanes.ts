import type { DriverClock } from '../host.js'
import { pause } from './mac.js'

export interface Lanes {
  /** Runs work of one chat after the other: the server may mix up two sends that it does at once. */
  inTurn<T>(chat: string, work: () => Promise<T>): Promise<T>
  /** Waits for a place in the order that the Mac can keep up with. */
  place(): Promise<void>
}

/** The helper in Messages does so many things in a second; more would only pile up in it until it gives up. */
const AT_ONCE = 5
const WINDOW_MS = 1000

export function createLanes(clock: DriverClock): Lanes {
  const lanes = new Map<string, Promise<unknown>>()
  /** When the latest of them were let go, oldest first. */
  const places: number[] = []
  return {
    inTurn(chat, work) {
      const done = (lanes.get(chat) ?? Promise.resolve()).then(work)
      const settled = done.then(
        () => {},
        () => {},
      )
      lanes.set(chat, settled)
      void settled.then(() => {
        if (lanes.get(chat) === settled) lanes.delete(chat)
      })
      return done
    },
    async place() {
      const now = clock.now()
      const at = Math.max(now, places.length < AT_ONCE ? 0 : places.shift()! + WINDOW_MS)
      places.push(at)
      if (at > now) await pause(clock, at - now)
    },
  }
}
