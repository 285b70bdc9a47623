import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, ENGINES, LINE, type World } from '../world.js'
import { type Bystander, startBystander } from './bystander.js'
import { longestBlock } from './loop.js'
import { markWork, workedSince } from './thread-time.js'

test('a turn that computes shows as a block of the loop, waiting does not', async () => {
  const wait = () => new Promise((resolve) => setTimeout(resolve, 60))
  const compute = () => {
    const mark = markWork()
    while (workedSince(mark) < 120);
  }
  expect((await longestBlock(wait, 50)).ms).toBeLessThan(50)
  expect((await longestBlock(async () => compute(), 50)).ms).toBeGreaterThan(50)
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
