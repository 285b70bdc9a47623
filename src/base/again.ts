import type { Log } from './log.js'

/** Work that runs again while there are requests: one run at a time, and one more for all requests made during it. */
export interface Again {
  /** Starts a run at once; while a run is under way, one more follows it. May be passed on as a handler. */
  readonly ask: () => void
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

type Work = () => Promise<Maybe<number>>
type Failed = (error: unknown) => Maybe<number>
interface AgainClock {
  now(): number
  after(ms: number, fn: () => void): () => void
}

interface Caller {
  resolve(): void
  reject(error: unknown): void
}

/**
 * `work` may return the time of the next run, which takes place unless a request comes earlier. `failed` receives the
 * error of each failed run and may return the milliseconds until the next try. Requests made during the failed run
 * wait for that try, too: work that asks for another run and then fails would otherwise run without a pause.
 */
export function createAgain(clock: AgainClock, work: Work, failed: Failed): Again {
  return new Runs(clock, work, failed)
}

/** A class, because each of ten thousand lines has six of them: closures take a kilobyte more. */
class Runs implements Again {
  private hasRequest = false
  private isRunning = false
  protected isStopped = false
  private waiting: Caller[] | undefined
  private ended: Promise<void> | undefined
  private cancelTimer: (() => void) | undefined

  constructor(
    private readonly clock: AgainClock,
    private readonly work: Work,
    private readonly failed: Failed,
  ) {}

  readonly ask = () => {
    if (this.isStopped) return
    this.hasRequest = true
    if (this.isRunning) return
    this.isRunning = true
    this.cancelTimer?.()
    this.ended = this.loop()
  }

  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.isStopped) return resolve()
      this.waiting ??= []
      this.waiting.push({ resolve, reject })
      this.ask()
    })
  }

  isAsked(): boolean {
    return this.hasRequest
  }

  isIdle(): boolean {
    return !this.isRunning
  }

  async stop(): Promise<void> {
    this.isStopped = true
    this.cancelTimer?.()
    if (!this.isRunning) this.dismiss()
    await this.ended
  }

  private async loop() {
    let next: Maybe<number>
    try {
      while (this.hasRequest && !this.isStopped) {
        this.hasRequest = false
        const callers = this.waiting ?? []
        this.waiting = undefined
        try {
          next = await this.work()
          for (const { resolve } of callers) resolve()
        } catch (error) {
          for (const { reject } of callers) reject(error)
          const retryMs = this.failed(error)
          next = typeof retryMs === 'number' ? this.clock.now() + retryMs : undefined
          if (next !== undefined) break
        }
      }
    } finally {
      // No await since `hasRequest` was read: a later request finds `isRunning` false and starts the next run.
      this.isRunning = false
      this.cancelTimer = undefined
      this.ended = undefined
      if (this.isStopped) this.dismiss()
      else if (typeof next === 'number')
        this.cancelTimer = this.clock.after(next - this.clock.now(), this.ask)
    }
  }

  private dismiss() {
    for (const { resolve } of this.waiting ?? []) resolve()
    this.waiting = undefined
  }
}

/** Background work that must go on as long as the process lives: a failed run is tried again and can be seen. */
export interface Loops {
  create(name: string, work: Work, options?: LoopOptions): Again
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

const NONE: LoopOptions = {}
const FIRST_RETRY_MS = 1000
/** Short enough that work goes on within five seconds after its cause is gone. */
const LONGEST_RETRY_MS = 4000

export function createLoops(clock: AgainClock, log: Log, countFailure: (name: string) => void): Loops {
  const failing = new Set<Loop>()

  class Loop extends Runs {
    failures = 0

    constructor(
      readonly name: string,
      work: Work,
      readonly options: LoopOptions,
    ) {
      super(
        clock,
        async () => {
          const next = await work()
          this.failures = 0
          failing.delete(this)
          return next
        },
        (error) => this.note(error),
      )
    }

    /** Returns the milliseconds until the next try. */
    private note(error: unknown): number | undefined {
      const { fields, retryMs, failed } = this.options
      if (failed?.(error)) void this.stop()
      // A run may end after `stop`, and no later run would take the loop from the list.
      if (this.isStopped) return undefined
      this.failures++
      failing.add(this)
      countFailure(this.name)
      log.error(
        { err: error, loop: this.name, ...fields },
        `background work failed: ${this.name}; trying again`,
      )
      return retryMs ?? Math.min(FIRST_RETRY_MS * 2 ** (this.failures - 1), LONGEST_RETRY_MS)
    }

    override stop(): Promise<void> {
      failing.delete(this)
      return super.stop()
    }
  }

  return {
    create: (name, work, options = NONE) => new Loop(name, work, options),
    failing() {
      const byName = new Map<string, FailingLoop>()
      for (const { name, failures, options } of failing) {
        const { isVital = false } = options
        const known = byName.get(name) ?? { name, loops: 0, failures: 0, isVital }
        known.loops++
        known.failures = Math.max(known.failures, failures)
        byName.set(name, known)
      }
      return [...byName.values()]
    },
  }
}
