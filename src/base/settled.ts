/** Counts of one kind of work. `begun` reveals work that begins and ends between two checks. */
export interface Activity {
  /** Not finished yet. */
  open: number
  /** Ever begun. */
  begun: number
}

/**
 * Waits until no work was open and none began for six turns of the event loop. A check sees one moment of a turn;
 * `begun` reveals work that goes from one short write to the next between two checks.
 */
export async function untilSettled(look: () => Activity[]): Promise<void> {
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
