import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Line, PaceUnit } from './line.js'
import {
  createDailyLimit,
  createPace,
  type DailyLimit,
  dayOf,
  lookBackOf,
  paceInWords,
  perMillisecond,
} from './pacing.js'

const START = 1_700_000_000_000
const SECOND_MS = 1000

type Rate = Pick<Line, 'pace' | 'paceUnit'>

const each = (paceUnit: PaceUnit, pace: number) => ({ pace, paceUnit })

/** Sends everything as early as the pace allows, after each arrival; the times of the sends. */
function run(rate: number | Rate, gaps: readonly number[], recent: readonly number[] = []): number[] {
  const pace = createPace(typeof rate === 'number' ? each('second', rate) : rate, [...recent])
  const sent: number[] = []
  let now = START
  for (const gap of gaps) {
    now = Math.max(now, (sent.at(-1) ?? now) + gap)
    now = pace.nextAt(now)
    expect(pace.room(now)).toBeGreaterThan(0)
    pace.take(now)
    sent.push(now)
  }
  return sent
}

/** The most sends that fall into one window, wherever it begins. */
function busiest(times: readonly number[]): number {
  return Math.max(
    0,
    ...times.map((from) => times.filter((time) => time >= from && time < from + SECOND_MS).length),
  )
}

const paces = fc.integer({ min: 1, max: 12 })
const gaps = fc.array(
  fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 2500 })),
  {
    minLength: 1,
    maxLength: 80,
  },
)
/** Times of earlier sends, in no order, that kept to the pace themselves. */
const history = (perSecond: number) =>
  gaps
    .map((some) => run(perSecond, some))
    .map((times) => times.map((time) => time - times.at(-1)! + START - 1))

describe('a pace', () => {
  it('lets no more than N through in any second', () => {
    fc.assert(
      fc.property(paces, gaps, (perSecond, arrivals) => {
        expect(busiest(run(perSecond, arrivals))).toBeLessThanOrEqual(perSecond)
      }),
      { numRuns: 500 },
    )
  })

  it('counts what was sent before it was made, in whatever order it is told', () => {
    const cases = paces.chain((perSecond) =>
      history(perSecond).chain((earlier) =>
        fc.record({
          perSecond: fc.constant(perSecond),
          earlier: fc.constant(earlier),
          told: fc.shuffledSubarray(earlier, { minLength: earlier.length }),
          arrivals: gaps,
        }),
      ),
    )
    fc.assert(
      fc.property(cases, ({ perSecond, earlier, told, arrivals }) => {
        expect(busiest([...earlier, ...run(perSecond, arrivals, told)])).toBeLessThanOrEqual(perSecond)
      }),
      { numRuns: 300 },
    )
  })

  it('waits no longer than it must: a full second passes exactly N', () => {
    fc.assert(
      fc.property(paces, fc.integer({ min: 1, max: 5 }), (perSecond, seconds) => {
        const times = run(perSecond, new Array(perSecond * seconds).fill(0))
        expect(times.at(-1)).toBe(START + (seconds - 1) * SECOND_MS)
      }),
    )
  })

  it('says how many may go and when the next one may', () => {
    const pace = createPace(each('second', 3), [START - 400, START - 1000, START - 900])
    expect(pace.room(START)).toBe(1)
    pace.take(START)
    expect(pace.room(START)).toBe(0)
    expect(pace.nextAt(START)).toBe(START + 100)
    expect(pace.room(START + 99)).toBe(0)
    expect(pace.room(START + 100)).toBe(1)
    expect(pace.room(START + 600)).toBe(2)
    expect(pace.room(START + 1000)).toBe(3)
    expect(pace.nextAt(START + 5000)).toBe(START + 5000)
  })

  it('spreads the messages of an hour evenly', () => {
    const rate = each('hour', 100)
    expect(run(rate, [0, 0, 0])).toEqual([START, START + 36_000, START + 72_000])
    expect(createPace(rate, [START - 6000]).nextAt(START)).toBe(START + 30_000)
    expect(run(each('minute', 7), [0, 0])).toEqual([START, START + 8572])
    expect([lookBackOf(rate), lookBackOf(each('hour', 1)), perMillisecond(each('minute', 6))]).toEqual([
      36_000, 60_000, 0.0001,
    ])
  })

  it('has words', () => {
    expect([each('hour', 100), each('second', 1), each('minute', 2)].map(paceInWords)).toEqual([
      '100 messages an hour',
      '1 message a second',
      '2 messages a minute',
    ])
  })

  it('is no limit at 0', () => {
    const pace = createPace(each('second', 0))
    for (let i = 0; i < 1000; i++) pace.take(START)
    expect(pace.room(START)).toBe(Number.POSITIVE_INFINITY)
    expect(pace.nextAt(START)).toBe(START)
  })
})

describe('a daily limit', () => {
  const noon = Date.parse('2026-03-01T12:00:00.000Z')
  const midnight = Date.parse('2026-03-02T00:00:00.000Z')
  const of = (n: number, accountId = 'a') => new Map([[accountId, n]])
  const messages = (n: number, accountId = 'a') => Array.from({ length: n }, () => ({ accountId }))
  /** How many more messages of an account may go. */
  const room = (limit: DailyLimit, now: number, accountId = 'a') => {
    let n = 0
    while (n < 99 && limit.hasRoom(now, accountId, messages(n, accountId))) n++
    return n
  }

  it('lets so many go until midnight UTC, and then as many again', () => {
    const limit = createDailyLimit(3, noon, of(1))
    expect(room(limit, noon)).toBe(2)
    limit.count(noon, of(2))
    expect(room(limit, midnight - 1)).toBe(0)
    expect(limit.nextAt(noon)).toBe(midnight)
    expect(room(limit, midnight)).toBe(3)
    limit.count(midnight, of(3))
    expect(room(limit, midnight)).toBe(0)
    expect(limit.nextAt(midnight)).toBe(midnight + 86_400_000)
  })

  it('takes back what did not go, never more than there was', () => {
    const limit = createDailyLimit(3, noon, of(3))
    limit.count(noon, of(-1))
    expect(room(limit, noon)).toBe(1)
    limit.count(noon, of(-9))
    expect(room(limit, noon)).toBe(3)
  })

  it('is none the less for a limit that was lowered below what went already', () => {
    expect(room(createDailyLimit(2, noon, of(5)), noon)).toBe(0)
    expect(dayOf(midnight) - dayOf(noon)).toBe(1)
  })

  it('is divided among the accounts of a line; what exceeds the limit together waits', () => {
    const limit = createDailyLimit(5, noon, of(1))
    limit.divide(2)
    expect([room(limit, noon), room(limit, noon, 'b')]).toEqual([1, 2])
    expect(limit.hasRoom(noon, 'b', messages(1))).toBe(true)
    limit.divide(9)
    expect([room(limit, noon), room(limit, noon, 'b')]).toEqual([0, 1])
    limit.count(noon, new Map(['c', 'd', 'e', 'f'].map((id) => [id, 1])))
    expect(room(limit, noon, 'b')).toBe(0)
  })
})
