/** Work of one kind. `begun` shows work that begins and ends between two looks. */
export interface Activity {
  /** Not finished yet. */
  open: number
  /** Ever begun. */
  begun: number
}

/**
 * Waits until nothing has been under way, and nothing has begun, for six turns of the event loop. A look sees one
 * moment of a turn; `begun` catches work that goes from one short write to the next between two looks.
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
