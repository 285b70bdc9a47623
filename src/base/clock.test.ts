import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Clock, createClock } from './clock.js'

const START = 1_700_000_000_000
const HOUR = 3_600_000
const nothing = async () => {}

describe('a frozen clock', () => {
  it('stands still until it is moved', async () => {
    const clock = createClock(START)
    let fired = false
    clock.after(0, () => {
      fired = true
    })
    vi.useFakeTimers()
    await vi.advanceTimersByTimeAsync(86_400_000)
    vi.useRealTimers()
    expect(clock.now()).toBe(START)
    expect(fired).toBe(false)
    await clock.advance(0, nothing)
    expect(clock.now()).toBe(START)
    expect(fired).toBe(true)
  })

  it('fires timers in order, each at its own time, and those made on the way', async () => {
    const clock = createClock(START)
    const fired: [string, number][] = []
    const note = (name: string) => () => void fired.push([name, clock.now() - START])
    clock.after(300, note('c'))
    clock.after(100, () => {
      note('a')()
      clock.after(50, note('a+50'))
      clock.after(1000, note('a+1000'))
    })
    clock.after(300, note('d'))
    clock.after(-5, note('at once'))
    clock.after(501, note('too late'))
    await clock.advance(500, nothing)
    expect(fired).toEqual([
      ['at once', 0],
      ['a', 100],
      ['a+50', 150],
      ['c', 300],
      ['d', 300],
    ])
    expect(clock.now()).toBe(START + 500)
    await clock.advance(1, nothing)
    expect(fired.at(-1)).toEqual(['too late', 501])
  })

  it('waits for the consequences of a timer before the next one', async () => {
    const clock = createClock(START)
    const seen: string[] = []
    const note = (name: string) => seen.push(`${name} ${clock.now() - START}`)
    clock.after(10, () => note('one'))
    clock.after(20, () => note('two'))
    await clock.advance(30, async () => {
      await Promise.resolve()
      note('settled')
    })
    expect(seen).toEqual(['settled 0', 'one 10', 'settled 10', 'two 20', 'settled 20'])
  })

  it('does not fire what was cancelled, not even by another timer on the way', async () => {
    const clock = createClock(START)
    const fired: string[] = []
    const cancel = clock.after(10, () => fired.push('cancelled'))
    const later = clock.after(30, () => fired.push('cancelled on the way'))
    clock.after(20, () => later())
    cancel()
    cancel()
    await clock.advance(100, nothing)
    expect(fired).toEqual([])
  })

  it('fires nothing after it was stopped', async () => {
    const clock = createClock(START)
    let fired = false
    clock.after(10, () => {
      fired = true
    })
    clock.stop()
    const cancel = clock.after(10, () => {
      fired = true
    })
    await clock.advance(100, nothing)
    cancel()
    expect(fired).toBe(false)
  })

  it('gives the same order in one step as in many', async () => {
    const delays = fc.array(fc.nat(200), { minLength: 1, maxLength: 30 })
    const steps = fc.array(fc.nat(60), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(delays, steps, async (timers, parts) => {
        const run = async (advances: number[]) => {
          const clock = createClock(START)
          const fired: [number, number][] = []
          for (const [i, delay] of timers.entries())
            clock.after(delay, () => void fired.push([i, clock.now() - START]))
          for (const ms of advances) await clock.advance(ms, nothing)
          return fired
        }
        const expected = timers
          .map((delay, i): [number, number] => [i, delay])
          .sort(([a, x], [b, y]) => x - y || a - b)
        expect(await run([1000])).toEqual(expected)
        expect(await run([...parts, 1000])).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a running clock', () => {
  let clock: Clock
  afterEach(() => {
    clock.stop()
    vi.restoreAllMocks()
  })

  /** The wall clock and the steady one, moved by hand. */
  function twoClocks() {
    const at = { wall: START, steady: 500 }
    vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(at.wall))
    vi.spyOn(performance, 'now').mockImplementation(() => at.steady)
    const pass = (ms: number) => {
      at.wall += ms
      at.steady += ms
    }
    return { at, pass }
  }

  it('rings and goes on while the wall clock, set back by an hour, has not caught up', async () => {
    clock = createClock()
    clock.now()
    const wall = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => wall() - HOUR)
    const before = clock.now()
    const rung = await new Promise<number>((resolve) => clock.after(20, () => resolve(clock.now())))
    expect(rung).toBeGreaterThanOrEqual(before + 20)
  })

  it('never turns back, and comes down to the wall clock by going slower', () => {
    const { at, pass } = twoClocks()
    clock = createClock()
    pass(1000)
    expect(clock.now()).toBe(START + 1000)
    at.wall -= HOUR
    expect(clock.now()).toBe(START + 1000)
    let last = clock.now()
    for (let minute = 0; minute < 9 * 60; minute++) {
      pass(60_000)
      const gone = clock.now() - last
      expect(gone).toBeGreaterThanOrEqual(53_999)
      expect(gone).toBeLessThanOrEqual(60_000)
      last = clock.now()
    }
    expect(clock.now()).toBeGreaterThan(Date.now())
    for (let minute = 0; minute < 2 * 60; minute++) {
      pass(60_000)
      clock.now()
    }
    expect(clock.now()).toBe(Date.now())
  })

  it('goes with a wall clock that is set ahead, or that went on while the machine slept', () => {
    const { at, pass } = twoClocks()
    clock = createClock()
    clock.now()
    at.wall += HOUR
    expect(clock.now()).toBe(START + HOUR)
    pass(10.5)
    expect(clock.now()).toBe(START + HOUR + 10)
  })

  it('can be moved ahead while the wall clock is behind', async () => {
    const { at, pass } = twoClocks()
    clock = createClock()
    clock.now()
    at.wall -= HOUR
    const fired: number[] = []
    clock.after(HOUR, () => fired.push(clock.now()))
    await clock.advance(2 * HOUR, nothing)
    expect(fired).toEqual([START + HOUR])
    expect(clock.now()).toBe(START + 2 * HOUR)
    pass(1000)
    expect(Math.abs(clock.now() - (START + 2 * HOUR + 900))).toBeLessThanOrEqual(1)
  })

  it('is never ahead of a wall clock that goes evenly', () => {
    const { pass } = twoClocks()
    clock = createClock()
    for (let i = 0; i < 5000; i++) {
      pass(0.37)
      expect(clock.now()).toBe(Date.now())
    }
  })

  it('goes with the system and rings by itself', async () => {
    clock = createClock()
    const before = Date.now()
    const rung = await new Promise<number>((resolve) => clock.after(2, () => resolve(clock.now())))
    expect(rung).toBeGreaterThanOrEqual(before + 2)
    expect(rung).toBeLessThanOrEqual(Date.now())
  })

  it('can be moved ahead, and goes on from there', async () => {
    clock = createClock()
    const before = clock.now()
    const fired: string[] = []
    clock.after(3_600_000, () => fired.push('in an hour'))
    clock.after(7_200_000, () => fired.push('in two hours'))
    await clock.advance(3_600_000, nothing)
    expect(fired).toEqual(['in an hour'])
    expect(clock.now()).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(clock.now()).toBeLessThan(before + 3_600_000 + 60_000)
    const rung = await new Promise<number>((resolve) => clock.after(1, () => resolve(clock.now())))
    expect(rung).toBeGreaterThan(before + 3_600_000)
    expect(fired).toEqual(['in an hour'])
  })

  it('rings for the earliest timer, also when it was made last', async () => {
    clock = createClock()
    const order: string[] = []
    await new Promise<void>((resolve) => {
      clock.after(15, () => {
        order.push('later')
        resolve()
      })
      clock.after(1, () => order.push('sooner'))
    })
    expect(order).toEqual(['sooner', 'later'])
  })

  it('stands at whole milliseconds, whatever it was asked for', async () => {
    clock = createClock(1000)
    const at: number[] = []
    clock.after(1.2, () => at.push(clock.now()))
    await clock.advance(10, async () => {})
    expect(at).toEqual([1002])
  })
})
