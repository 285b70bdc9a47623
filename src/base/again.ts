/** Work that runs again for as long as somebody asks: one run at a time, and one more for all who ask during it. */
export interface Again {
  /** Starts a run at once; while a run is under way, one more follows it. */
  ask(): void
  /** Like `ask`. Settles as the first run does that begins after this call. Resolves when `stop` prevents that run. */
  run(): Promise<void>
  /** Whether somebody has asked since the run under way began. */
  isAsked(): boolean
  isIdle(): boolean
  /** Resolves when no run is under way. */
  ended(): Promise<void>
  /** No further run begins. Resolves when the run under way has ended. */
  stop(): Promise<void>
}

// biome-ignore lint/suspicious/noConfusingVoidType: most work has nothing to say and returns nothing
type Maybe<T> = T | undefined | void

interface Ticket {
  resolve(): void
  reject(error: unknown): void
}

/**
 * `work` may return the time of the next run, in case nobody asks before. `failed` hears of every run that fails and
 * may return the milliseconds until the next try. Requests that came during the failed run wait for that try, too:
 * work that asks for itself and then fails would otherwise run without a pause.
 */
export function createAgain(
  clock: { now(): number; after(ms: number, fn: () => void): () => void },
  work: () => Promise<Maybe<number>>,
  failed: (error: unknown) => Maybe<number>,
): Again {
  let isAsked = false
  let isRunning = false
  let isStopped = false
  let waiting: Ticket[] = []
  let ended = Promise.resolve()
  let cancelTimer = () => {}

  function ask() {
    if (isStopped) return
    isAsked = true
    if (isRunning) return
    isRunning = true
    cancelTimer()
    ended = loop()
  }

  async function loop() {
    let next: Maybe<number>
    try {
      while (isAsked && !isStopped) {
        isAsked = false
        const covered = waiting
        waiting = []
        try {
          next = await work()
          for (const { resolve } of covered) resolve()
        } catch (error) {
          for (const { reject } of covered) reject(error)
          next = undefined
          const retryMs = failed(error)
          if (typeof retryMs !== 'number') continue
          next = clock.now() + retryMs
          break
        }
      }
    } finally {
      // No await since the last look at `isAsked`: whoever asks from now on starts the next run.
      isRunning = false
      if (isStopped) giveUp()
      else if (typeof next === 'number') cancelTimer = clock.after(next - clock.now(), ask)
    }
  }

  function giveUp() {
    for (const { resolve } of waiting) resolve()
    waiting = []
  }

  return {
    ask,
    run: () =>
      new Promise((resolve, reject) => {
        if (isStopped) return resolve()
        waiting.push({ resolve, reject })
        ask()
      }),
    isAsked: () => isAsked,
    isIdle: () => !isRunning,
    ended: () => ended,
    stop() {
      isStopped = true
      cancelTimer()
      if (!isRunning) giveUp()
      return ended
    },
  }
}
