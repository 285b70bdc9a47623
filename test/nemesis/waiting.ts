import type { Chance } from '../simulation/chance.js'

/** How long a fault of the network or the disk lasts at most. */
const FAULT_MS = 5000

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export const lasting = (chance: Chance) => pause(500 + chance.below(FAULT_MS))

/** A server that just starts, or is just promoted, refuses statements. */
export async function until(ask: () => Promise<boolean>): Promise<void> {
  let last: unknown
  for (let tries = 0; tries < 600; tries++) {
    try {
      if (await ask()) return
    } catch (error) {
      last = error
    }
    await pause(100)
  }
  throw new Error('The database did not recover', { cause: last })
}
