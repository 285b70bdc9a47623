/** Counts of one kind of work. `begun` reveals work that begins and ends between two checks. */
export interface Activity {
  /** Not finished yet. */
  open: number
  /** Ever begun. */
  begun: number
  /** Resolves when a piece of open work ends. */
  nextEnd?: () => Promise<void>
}

/**
 * Waits until no work was open and none began for six turns of the event loop. A check sees one moment of a turn;
 * `begun` reveals work that goes from one short write to the next between two checks. Checks in every turn take the
 * processor from a database on the same machine, so `nextEnd` waits for its answer instead.
 */
export async function untilSettled(look: () => Activity[]): Promise<void> {
  let before = -1
  let ending: Activity['nextEnd']
  for (let quiet = 0; quiet < 6; ) {
    await (ending?.() ?? new Promise((resolve) => setImmediate(resolve)))
    let [open, begun] = [0, 0]
    ending = undefined
    for (const activity of look()) {
      if (activity.open > 0) ending ??= activity.nextEnd
      open += activity.open
      begun += activity.begun
    }
    quiet = open === 0 && begun === before ? quiet + 1 : 0
    before = begun
  }
}
