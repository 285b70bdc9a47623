import { describe, expect, it } from 'vitest'
import { createClock } from '../../../src/base/clock.js'
import { createGovernor, type Governor } from '../../../src/drivers/smpp/governor.js'
import { ANY_TURN } from '../../../src/drivers/smpp/turn.js'

const RTT_MS = 20
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A carrier with a rate limit, by token bucket or by calendar second. */
function carrier(now: () => number, perSecond: number, counting: 'bucket' | 'calendar') {
  let tokens = counting === 'bucket' ? perSecond / 10 : perSecond
  let at = now()
  return () => {
    if (counting === 'bucket') tokens = Math.min(perSecond / 10, tokens + ((now() - at) * perSecond) / 1000)
    else if (Math.floor(now() / 1000) !== Math.floor(at / 1000)) tokens = perSecond
    at = now()
    if (tokens < 1) return false
    tokens--
    return true
  }
}

describe('the governor', () => {
  async function run(
    parts: number,
    cap: () => boolean,
    governor: Governor,
    clock: ReturnType<typeof createClock>,
  ) {
    let open = parts
    let refusals = 0
    const start = clock.now()
    let doneAt = 0
    const submit = async () => {
      while (await governor.turn()) {
        const isTaken = cap()
        await new Promise<void>((resolve) => clock.after(RTT_MS, resolve))
        if (isTaken) {
          governor.accepted()
          if (--open === 0) doneAt = clock.now()
          return
        }
        refusals++
        governor.throttled()
      }
    }
    // As many concurrent sends as a line has, each in its window.
    let started = 0
    const worker = async () => {
      while (started++ < parts) await submit()
    }
    const workers = Array.from({ length: 100 }, worker)
    for (let i = 0; i < 20_000 && open > 0; i++) await clock.advance(RTT_MS / 2, turn)
    await Promise.all(workers)
    return { took: doneAt - start, refusals }
  }

  it.each(['bucket', 'calendar'] as const)(
    'a carrier capped at 500 a second (%s) takes 3,000 parts within 1.3 times the ideal time',
    async (counting) => {
      const clock = createClock(1_000_000)
      const governor = createGovernor(clock, 0)
      const { took, refusals } = await run(3000, carrier(clock.now, 500, counting), governor, clock)
      expect(took).toBeLessThan(1.3 * 6000)
      // The governor must not probe by repeated refusals.
      expect(refusals).toBeLessThan(600)
    },
  )

  it('stays below the configured rate', async () => {
    const clock = createClock(1_000_000)
    const { took, refusals } = await run(
      1000,
      carrier(clock.now, 200, 'bucket'),
      createGovernor(clock, 200),
      clock,
    )
    expect(refusals).toBe(0)
    expect(took).toBeGreaterThan(4900)
    expect(took).toBeLessThan(1.1 * 5000)
  })

  it('returns to full speed after the carrier stops throttling', async () => {
    const clock = createClock(1_000_000)
    const governor = createGovernor(clock, 0)
    for (let i = 0; i < 10; i++) governor.accepted()
    governor.throttled()
    await clock.advance(60_000, turn)
    const { took, refusals } = await run(3000, () => true, governor, clock)
    expect(refusals).toBe(0)
    // A hundred at a time, 20 ms each.
    expect(took).toBeLessThan(1000)
  })

  it('pauses for a carrier whose queue is full, then sends everything', async () => {
    const clock = createClock(1_000_000)
    const fullUntil = clock.now() + 60_000
    let asked = 0
    const cap = () => {
      asked++
      return clock.now() >= fullUntil
    }
    const { took } = await run(500, cap, createGovernor(clock, 0), clock)
    expect(asked).toBeLessThan(1000)
    expect(took).toBeLessThan(60_000 + 20_000)
  })

  it('lets started texts go first, in order', async () => {
    const clock = createClock(1_000_000)
    const governor = createGovernor(clock, 1)
    const went: string[] = []
    const join = (name: string, isRest: boolean) =>
      void governor.turn({ ...ANY_TURN, isRest }).then((mayGo) => mayGo && went.push(name))
    await governor.turn()
    join('first', false)
    join('rest 1', true)
    join('rest 2', true)
    for (let i = 0; i < 3; i++) await clock.advance(1000, turn)
    expect(went).toEqual(['rest 1', 'rest 2', 'first'])
  })

  it('ends turns at their time limit and when the line closes', async () => {
    const clock = createClock(1_000_000)
    const governor = createGovernor(clock, 1)
    expect(await governor.turn()).toBe(true)
    const late = governor.turn({ ...ANY_TURN, until: clock.now() + 500 })
    const next = governor.turn()
    const waits = governor.turn()
    await clock.advance(500, turn)
    expect(await late).toBe(false)
    await clock.advance(600, turn)
    expect(await next).toBe(true)
    governor.stop()
    expect(await waits).toBe(false)
    expect(await governor.turn()).toBe(false)
  })
})
