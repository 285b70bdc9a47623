import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bystander, p99, percentile, startBystander } from '../support/load/bystander.js'
import { longestBlock } from '../support/load/loop.js'
import { createWorld, ENGINES, LINE, type World } from '../support/world.js'

test('a share of sorted figures is the value that this share does not exceed', () => {
  const figures = Array.from({ length: 200 }, (_, i) => i + 1)
  expect([percentile(figures, 0.5), p99(figures), percentile(figures, 1)]).toEqual([100, 198, 200])
})

test('a turn that computes shows as a block of the loop, waiting does not', async () => {
  const wait = () => new Promise((resolve) => setTimeout(resolve, 60))
  const compute = () => {
    const { user } = process.cpuUsage()
    while (process.cpuUsage().user - user < 120_000);
  }
  expect((await longestBlock(wait)).ms).toBeLessThan(50)
  expect((await longestBlock(async () => compute())).ms).toBeGreaterThan(50)
})

describe.each(ENGINES)('a bystander on %s', (engine) => {
  let world: World
  let bystander: Bystander
  beforeAll(async () => {
    world = await createWorld(engine, { realTime: true })
    bystander = await startBystander(world.app.url(), { line: LINE })
  })
  afterAll(async () => {
    await bystander.close()
    await world.close()
  })

  test('measures /livez, its sends and their webhooks, and sees a blocked loop', async () => {
    const block = async () => {
      for (const end = performance.now() + 300; performance.now() < end; );
    }
    const { seen } = await bystander.during(async () => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      await block()
    })
    expect(seen.refused).toEqual([])
    expect(seen).toMatchObject({ untold: 0, unanswered: 0 })
    expect(seen.webhooks).toHaveLength(seen.sends.length)
    expect(seen.sends.length).toBeGreaterThan(1)
    expect(seen.livez.at(-1)).toBeGreaterThan(150)
    expect(seen.livez[0]).toBeLessThan(150)
  })
})
