import type { Activity } from '../storage/engine/db.js'

/**
 * Quiet for a few turns of the event loop: nothing under way, and nothing begun since the last turn. A look sees
 * one moment of a turn; work that goes from one short write to the next could always be between two of them then.
 */
export async function settled(look: () => Activity[]): Promise<void> {
  let before = -1
  for (let quiet = 0; quiet < 6; ) {
    await new Promise((resolve) => setImmediate(resolve))
    let [open, begun] = [0, 0]
    for (const activity of look()) {
      open += activity.open
      begun += activity.begun
    }
    quiet = open === 0 && begun === before ? quiet + 1 : 0
    before = begun
  }
}
