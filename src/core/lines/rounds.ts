import { createComplaint } from './complaint.js'

export interface Rounds {
  /** Works now, unless a round is going on; resolves when the round is over. */
  run(): Promise<void>
  close(): void
  isClosed(): boolean
}

interface RoundsOptions {
  everyMs: number
  clock: { after(ms: number, fn: () => void): () => void }
  work(): Promise<void>
  /** Called for the first failure of several in a row. */
  tell(error: unknown): void
}

/** Work that begins again some time after it ended, whether it failed or not. */
export function createRounds({ everyMs, clock, work, tell }: RoundsOptions): Rounds {
  let isClosed = false
  let running: Promise<void> | undefined
  let cancel = () => {}
  const complaint = createComplaint(tell)

  function run(): Promise<void> {
    running ??= work()
      .then(complaint.over, (error) => {
        if (!isClosed) complaint.tell(error)
      })
      .finally(() => {
        running = undefined
        cancel()
        if (!isClosed) cancel = clock.after(everyMs, () => void run())
      })
    return running
  }

  return {
    run,
    close() {
      isClosed = true
      cancel()
    },
    isClosed: () => isClosed,
  }
}
