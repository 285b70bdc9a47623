import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestBlock } from '../support/load/loop.js'
import { createWorld, ENGINES, type World } from '../support/world.js'

/** Processor time for which nothing may keep the event loop from going round; half as much again for the tests. */
const MAX_BLOCK_MS = 75
const PHONE = '+12025553000'
const LONGEST = 18_995

describe.each(ENGINES)('hostile texts and patterns on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    const texts = [
      `https://a${'.'.repeat(LONGEST - 20)}x`,
      `https://a${').'.repeat(LONGEST / 2 - 20)}x`,
      'code 1234 '.repeat(LONGEST / 10),
      '12 34 '.repeat(LONGEST / 6),
    ].map((text) => text.slice(0, LONGEST))
    for (let i = 0; i < 200; i++) await world.send({ number: PHONE, content: texts[i % texts.length] })
    await world.advance(60_000)
    // The first search starts the thread.
    await inbox({ match: 'x', extract: 'otp' })
  })
  afterAll(() => world.close())

  const inbox = (query: Record<string, string>) =>
    world.get(
      `/sim/phones/${encodeURIComponent(PHONE)}/inbox?${new URLSearchParams({ limit: '1', ...query })}`,
    )

  it.each(['link', 'otp'])('extracting a %s from 200 crafted texts blocks nobody', async (extract) => {
    const { ms, result } = await longestBlock(() => inbox({ extract, match: '.' }), MAX_BLOCK_MS)
    expect(result.status).toBe(200)
    expect(ms).toBeLessThan(MAX_BLOCK_MS)
    const many = await longestBlock(
      () => Promise.all(Array.from({ length: 10 }, () => inbox({ extract }))),
      MAX_BLOCK_MS,
    )
    expect(many.ms).toBeLessThan(MAX_BLOCK_MS)
  })

  it('a pattern of exponential time blocks nobody, and ends', async () => {
    const began = process.cpuUsage().user
    let turns = 0
    const counting = setInterval(() => turns++, 1)
    const { status, body } = await inbox({ match: '(a|.)*(.|b)*\\u0001$' })
    clearInterval(counting)
    expect([status, body.error?.message]).toEqual([400, 'match: takes too long; use a simpler pattern'])
    // The loop went round all the time that the pattern took: a second of real time, on any machine.
    expect(turns).toBeGreaterThan(20)
    expect(process.cpuUsage().user - began).toBeLessThan(2_000_000)
  })

  it('the patterns of one account do not queue before those of another', async () => {
    const other = await world.addAccount('other@example.com', '+12025550177')
    await world.send({ number: PHONE, from_number: '+12025550177', content: 'Your code is 4711' }, other.live)
    await world.advance(60_000)
    const order: string[] = []
    const hostile = Array.from({ length: 8 }, () =>
      inbox({ match: '(a|.)*(.|b)*\\u0001$' }).then(() => order.push('hostile')),
    )
    await new Promise((resolve) => setImmediate(resolve))
    const path = `/sim/phones/${encodeURIComponent(PHONE)}/inbox?match=code&extract=otp`
    const { body } = await world.get(path, other.live)
    order.push('neighbour')
    await Promise.all(hostile)
    expect(body.extracted).toBe('4711')
    // In one queue the neighbour would come after all eight.
    expect(order.indexOf('neighbour')).toBeLessThan(7)
  })
})
