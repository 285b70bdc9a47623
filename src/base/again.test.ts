import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Again, createAgain, createLoops } from './again.js'
import { createLog } from './log.js'

/** Work whose runs end when the test says so, and a clock whose timers fire when the test says so. */
function byHand() {
  const runs: { end(next?: number): void; fail(error: unknown): void }[] = []
  const timers = new Map<number, () => void>()
  const errors: unknown[] = []
  let retryMs: number | undefined
  const clock = {
    now: () => 0,
    after(ms: number, fn: () => void) {
      timers.set(ms, fn)
      return () => void timers.delete(ms)
    },
  }
  const again = createAgain(
    clock,
    () =>
      new Promise<number | undefined>((resolve, reject) => {
        runs.push({ end: resolve, fail: reject })
      }),
    (error) => {
      errors.push(error)
      return retryMs
    },
  )
  const quiet = () => new Promise(setImmediate)
  return { again, runs, timers, errors, quiet, retryAfter: (ms: number) => (retryMs = ms) }
}

describe('work that runs again', () => {
  it('starts at once', () => {
    const { again, runs } = byHand()
    expect(again.isIdle()).toBe(true)
    again.ask()
    expect(runs).toHaveLength(1)
    expect(again.isIdle()).toBe(false)
  })

  it('runs once more for all who ask during a run', async () => {
    const { again, runs, quiet } = byHand()
    again.ask()
    expect(again.isAsked()).toBe(false)
    for (let n = 0; n < 5; n++) again.ask()
    expect(again.isAsked()).toBe(true)
    expect(runs).toHaveLength(1)
    runs[0]!.end()
    await quiet()
    expect(runs).toHaveLength(2)
    expect(again.isAsked()).toBe(false)
    runs[1]!.end()
    await quiet()
    expect(runs).toHaveLength(2)
    expect(again.isIdle()).toBe(true)
  })

  it('hears whoever asks at the very end of a run', async () => {
    const { again, runs, quiet } = byHand()
    // Asks in each of the microtasks around the end: one of them is where hand-made loops lose the request.
    for (let late = 0; late < 6; late++) {
      const before = runs.length
      again.ask()
      runs.at(-1)!.end()
      for (let n = 0; n < late; n++) await null
      again.ask()
      await quiet()
      expect(runs.length).toBe(before + 2)
      runs.at(-1)!.end()
      await quiet()
      expect(again.isIdle()).toBe(true)
    }
  })

  it('lets a caller wait for the run that covers the request', async () => {
    const { again, runs, quiet } = byHand()
    const done: string[] = []
    void again.run().then(() => done.push('first'))
    void again.run().then(() => done.push('second'))
    runs[0]!.end()
    await quiet()
    expect(done).toEqual(['first'])
    runs[1]!.end()
    await quiet()
    expect(done).toEqual(['first', 'second'])
  })

  it('goes on after an error, and tells it to the handler and to those whom the run was for', async () => {
    const { again, runs, errors, quiet } = byHand()
    const first = again.run()
    const second = again.run()
    const trouble = new Error('no')
    runs[0]!.fail(trouble)
    await expect(first).rejects.toBe(trouble)
    await quiet()
    expect(errors).toEqual([trouble])
    runs[1]!.end()
    await second
    await quiet()
    again.ask()
    expect(runs).toHaveLength(3)
  })

  it('takes an error that is thrown before the first await like any other', async () => {
    const errors: unknown[] = []
    const again = createAgain(
      { now: () => 0, after: () => () => {} },
      () => {
        throw new Error('at once')
      },
      (error) => void errors.push((error as Error).message),
    )
    again.ask()
    await expect(again.run()).rejects.toThrow('at once')
    expect(errors).toEqual(['at once', 'at once'])
    expect(again.isIdle()).toBe(true)
  })

  it('waits before it tries again when the handler says so, for those who asked meanwhile, too', async () => {
    const { again, runs, timers, quiet, retryAfter } = byHand()
    retryAfter(1000)
    again.ask()
    const meanwhile = again.run()
    runs[0]!.fail(new Error('no'))
    await quiet()
    expect(runs).toHaveLength(1)
    expect(again.isIdle()).toBe(true)
    timers.get(1000)!()
    expect(runs).toHaveLength(2)
    runs[1]!.end()
    await meanwhile
  })

  it('does not wait for the pause when somebody asks in it', async () => {
    const { again, runs, timers, quiet, retryAfter } = byHand()
    retryAfter(1000)
    again.ask()
    runs[0]!.fail(new Error('no'))
    await quiet()
    again.ask()
    expect(runs).toHaveLength(2)
    expect(timers.size).toBe(0)
  })

  it('runs when the work said, unless somebody asks before', async () => {
    const { again, runs, timers, quiet } = byHand()
    again.ask()
    runs[0]!.end(500)
    await quiet()
    expect(runs).toHaveLength(1)
    timers.get(500)!()
    runs[1]!.end(700)
    await quiet()
    again.ask()
    expect(timers.size).toBe(0)
    // Somebody asked during the run: what it said of the next one is out of date.
    again.ask()
    runs[2]!.end(900)
    await quiet()
    expect(timers.size).toBe(0)
    expect(runs).toHaveLength(4)
  })

  it('asked by the work itself runs once more', async () => {
    let runs = 0
    const again: Again = createAgain(
      { now: () => 0, after: () => () => {} },
      async () => {
        if (++runs < 3) again.ask()
      },
      () => {},
    )
    await again.run()
    await new Promise(setImmediate)
    expect(runs).toBe(3)
    expect(again.isIdle()).toBe(true)
  })

  it('begins nothing after a stop, ends what is under way and lets nobody wait for ever', async () => {
    const { again, runs, timers, quiet } = byHand()
    again.ask()
    const never = again.run()
    let isStopped = false
    void again.stop().then(() => (isStopped = true))
    await quiet()
    expect(isStopped).toBe(false)
    runs[0]!.end(500)
    await never
    await quiet()
    expect(isStopped).toBe(true)
    again.ask()
    await again.run()
    expect(runs).toHaveLength(1)
    expect(timers.size).toBe(0)
  })

  it('stopped in a pause never runs again', async () => {
    const { again, runs, timers, quiet, retryAfter } = byHand()
    retryAfter(1000)
    again.ask()
    const meanwhile = again.run()
    runs[0]!.fail(new Error('no'))
    await quiet()
    await again.stop()
    await meanwhile
    expect(timers.size).toBe(0)
  })

  it('can be stopped by its own failure', async () => {
    const again: Again = createAgain(
      { now: () => 0, after: () => () => {} },
      () => Promise.reject(new Error('lost')),
      () => void again.stop(),
    )
    const second = again.run().catch(() => again.run())
    await second
    await new Promise(setImmediate)
    expect(again.isIdle()).toBe(true)
  })

  const plan = fc.array(
    fc.record({
      steps: fc.nat(3),
      asks: fc.boolean(),
      fails: fc.boolean(),
      delay: fc.option(fc.nat(10), { nil: undefined }),
    }),
    { maxLength: 12, size: 'max' },
  )
  const acts = fc.array(fc.constantFrom('ask', 'run', 'ask', 'run', 'ask', 'run', 'stop'), {
    minLength: 1,
    maxLength: 14,
    size: 'max',
  })

  it('keeps its promises in whatever order things happen', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plan, acts, async (scheduler, runPlan, callers) => {
        let now = 0
        let open = 0
        let stoppedAt = Number.POSITIVE_INFINITY
        let fired = 0
        const begun: { at: number; endedAt: number; error: unknown }[] = []
        const asked: number[] = []
        const tickets: { askedAt: number; settledAt?: number; error?: unknown }[] = []
        const heard: unknown[] = []

        const again: Again = createAgain(
          {
            now: () => now,
            after(_, fn) {
              let isOver = false
              void scheduler.schedule(Promise.resolve(), 'timer').then(() => {
                if (isOver) return
                fired++
                fn()
              })
              return () => {
                isOver = true
              }
            },
          },
          async () => {
            const run = { at: ++now, endedAt: Number.POSITIVE_INFINITY, error: undefined as unknown }
            const { steps, asks, fails, delay } = runPlan[begun.length] ?? { steps: 1 }
            begun.push(run)
            expect(++open).toBe(1)
            for (let n = 0; n < steps; n++) {
              await scheduler.schedule(Promise.resolve(), 'step')
              if (asks && n === 0) {
                asked.push(++now)
                again.ask()
              }
            }
            open--
            run.endedAt = ++now
            if (!fails) return delay
            run.error = new Error(`run ${begun.length}`)
            throw run.error
          },
          (error) => {
            heard.push(error)
            return runPlan[begun.length - 1]?.delay
          },
        )
        for (const act of callers)
          void scheduler.schedule(Promise.resolve(), act).then(async () => {
            if (act === 'stop') {
              stoppedAt = Math.min(stoppedAt, ++now)
              await again.stop()
              expect(open).toBe(0)
            } else {
              asked.push(++now)
              if (act === 'ask') return again.ask()
              const ticket: (typeof tickets)[number] = { askedAt: now }
              tickets.push(ticket)
              await again.run().catch((error) => (ticket.error = error))
              ticket.settledAt = ++now
            }
          })
        await scheduler.waitIdle()
        await new Promise(setImmediate)

        expect(again.isIdle()).toBe(true)
        expect(begun.every(({ at }) => at < stoppedAt || at === stoppedAt)).toBe(true)
        expect(begun.length).toBeLessThanOrEqual(asked.length + fired)
        expect(heard).toEqual(begun.flatMap(({ error }) => (error ? [error] : [])))
        const isServed = (at: number) => begun.some((run) => run.at > at)
        expect(asked.every((at) => isServed(at) || stoppedAt < Number.POSITIVE_INFINITY)).toBe(true)
        for (const { askedAt, settledAt, error } of tickets) {
          const own = begun.find((run) => run.at > askedAt)
          expect(settledAt).toBeGreaterThan(own?.endedAt ?? 0)
          expect(error).toBe(own?.error)
        }
      }),
      { numRuns: 400 },
    )
  })
})

describe('background loops', () => {
  const clock = { now: () => 0, after: () => () => {} }

  it('are listed while they fail, but not after they were stopped during a run', async () => {
    const loops = createLoops(clock, createLog('silent'), () => {})
    let fail = (_: Error) => {}
    const loop = loops.create('dispatch', () => new Promise((_, reject) => (fail = reject)), {
      isVital: true,
    })
    loop.ask()
    fail(new Error('no database'))
    await new Promise(setImmediate)
    expect(loops.failing()).toEqual([{ name: 'dispatch', loops: 1, failures: 1, isVital: true }])
    loop.ask()
    const stopped = loop.stop()
    fail(new Error('still no database'))
    await stopped
    expect(loops.failing()).toEqual([])
  })
})
