import { describe, expect, it } from 'vitest'
import { liveAMonth } from '../../bench/month.js'
import { createTrunkline } from '../../src/testing/trunkline.js'
import type { Json } from '../support/world.js'

const DAY = 86_400_000

describe('thirty days', () => {
  it('with schedules, retries, expiries and daily limits, the same each time for one seed', async () => {
    const first = await liveAMonth(createTrunkline, 'spring')
    const second = await liveAMonth(createTrunkline, 'spring')
    const other = await liveAMonth(createTrunkline, 'autumn')

    expect(second.log).toBe(first.log)
    expect(second.codes).toEqual(first.codes)
    expect(second.webhooks).toEqual(first.webhooks)
    expect(other.log).not.toBe(first.log)
    // Another seed means other ids, and the same life.
    const lifeOf = ({ log }: { log: string }) =>
      eventsOf(log).map(({ type, at, data }) => [type, at, data.status])
    expect(lifeOf(other)).toEqual(lifeOf(first))

    const events = eventsOf(first.log)
    const statuses = (status: string) =>
      events.filter(({ type, data }) => type === 'message.updated' && data.status === status)
    const sentOn = new Map<number, number>()
    for (const { at } of statuses('SENT')) {
      const day = Math.floor(at / DAY)
      sentOn.set(day, (sentOn.get(day) ?? 0) + 1)
    }
    // Schedules spread over the month, and no day has more than the line may send; the two busy ones have as many.
    expect(sentOn.size).toBeGreaterThan(25)
    expect(Math.max(...sentOn.values())).toBe(8)
    // The phone that opted out gets nothing more; all else arrives, after days where a phone was off.
    expect(statuses('ERROR').length).toBeGreaterThan(0)
    expect(statuses('SENT').length + statuses('ERROR').length).toBeGreaterThanOrEqual(200)
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'message.created',
        'message.received',
        'verification.approved',
        'verification.expired',
      ]),
    )
    // Retries of webhooks, tokens that end after an hour, one-time codes that change with the time.
    expect(first.webhooks.failed).toBe(7 + 15 + 27)
    expect(Math.max(...first.webhooks.attempts)).toBeGreaterThan(1)
    expect(first.tokens).toEqual(Array(5).fill({ first: true, later: false }))
    expect(new Set(first.codes).size).toBe(10)
  })
})

function eventsOf(log: string): Json[] {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
