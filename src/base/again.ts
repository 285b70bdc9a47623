import type { Log } from './log.js'

/** Work that runs again while there are requests: one run at a time, and one more for all requests made during it. */
export interface Again {
  /** Starts a run at once; while a run is under way, one more follows it. */
  ask(): void
  /** Like `ask`. Settles with the first run that begins after this call; resolves if `stop` prevents that run. */
  run(): Promise<void>
  /** Whether there was a request since the current run began. */
  isAsked(): boolean
  isIdle(): boolean
  /** Prevents further runs. Resolves when the current run has ended. */
  stop(): Promise<void>
}

// biome-ignore lint/suspicious/noConfusingVoidType: most work returns nothing
type Maybe<T> = T | undefined | void

interface Caller {
  resolve(): void
  reject(error: unknown): void
}

/**
 * `work` may return the time of the next run, which takes place unless a request comes earlier. `failed` receives the
 * error of each failed run and may return the milliseconds until the next try. Requests made during the failed run
 * wait for that try, too: work that asks for another run and then fails would otherwise run without a pause.
 */
export function createAgain(
  clock: { now(): number; after(ms: number, fn: () => void): () => void },
  work: () => Promise<Maybe<number>>,
  failed: (error: unknown) => Maybe<number>,
): Again {
  let isAsked = false
  let isRunning = false
  let isStopped = false
  let waiting: Caller[] = []
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
        const callers = waiting
        waiting = []
        try {
          next = await work()
          for (const { resolve } of callers) resolve()
        } catch (error) {
          for (const { reject } of callers) reject(error)
          const retryMs = failed(error)
          next = typeof retryMs === 'number' ? clock.now() + retryMs : undefined
          if (next !== undefined) break
        }
      }
    } finally {
      // No await since `isAsked` was read: a later request finds `isRunning` false and starts the next run.
      isRunning = false
      if (isStopped) dismiss()
      else if (typeof next === 'number') cancelTimer = clock.after(next - clock.now(), ask)
    }
  }

  function dismiss() {
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
    stop() {
      isStopped = true
      cancelTimer()
      if (!isRunning) dismiss()
      return ended
    },
  }
}

/** Background work that must go on as long as the process lives: a failed run is tried again and can be seen. */
export interface Loops {
  create(
    name: string,
    work: () => ReturnType<Parameters<typeof createAgain>[1]>,
    options?: LoopOptions,
  ): Again
  /** Loops whose last run failed, by name. */
  failing(): FailingLoop[]
}

interface LoopOptions {
  /** The process is of no use without it. */
  isVital?: boolean
  /** Fields of the log line. */
  fields?: object
  /** Milliseconds until the next try, instead of one second at first and four at most. */
  retryMs?: number
  /** Called after a failed run. Returns whether the loop must end. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers return nothing
  failed?(error: unknown): boolean | void
}

export interface FailingLoop {
  name: string
  /** Loops with this name that fail at the moment. */
  loops: number
  /** The most runs in a row that failed. */
  failures: number
  isVital: boolean
}

const FIRST_RETRY_MS = 1000
/** Short enough that work goes on within five seconds after its cause is gone. */
const LONGEST_RETRY_MS = 4000

export function createLoops(
  clock: Parameters<typeof createAgain>[0],
  log: Log,
  countFailure: (name: string) => void,
): Loops {
  const failing = new Set<{ name: string; failures: number; isVital: boolean }>()
  return {
    create(name, work, { isVital = false, fields = {}, retryMs, failed } = {}) {
      const loop = { name, failures: 0, isVital }
      let isStopped = false
      const again = createAgain(
        clock,
        async () => {
          const next = await work()
          loop.failures = 0
          failing.delete(loop)
          return next
        },
        (error) => {
          if (failed?.(error)) return void stop()
          // A run may end after `stop`, and no later run would take the loop from the list.
          if (isStopped) return undefined
          loop.failures++
          failing.add(loop)
          countFailure(name)
          log.error({ err: error, loop: name, ...fields }, `background work failed: ${name}; trying again`)
          return retryMs ?? Math.min(FIRST_RETRY_MS * 2 ** (loop.failures - 1), LONGEST_RETRY_MS)
        },
      )
      const stop = () => {
        isStopped = true
        failing.delete(loop)
        return again.stop()
      }
      return { ...again, stop }
    },
    failing() {
      const byName = new Map<string, FailingLoop>()
      for (const { name, failures, isVital } of failing) {
        const known = byName.get(name) ?? { name, loops: 0, failures: 0, isVital }
        known.loops++
        known.failures = Math.max(known.failures, failures)
        byName.set(name, known)
      }
      return [...byName.values()]
    },
  }
}
