import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestBlock } from '../support/load/loop.js'
import { createWorld, credentials, ENGINES, type World } from '../support/world.js'
import { catchUp } from './support/catch-up.js'
import { findOwner, insertEvents } from './support/history.js'

/** Processor time for which nothing may keep the event loop from going round; half as much again for the tests. */
const MAX_BLOCK_MS = 75
const EVENTS = 20_000

describe.each(ENGINES)('catching up a long event stream on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    const { db } = world.app.ctx
    await insertEvents(db, await findOwner(db), EVENTS)
  })
  afterAll(() => world.close())

  const read = () => catchUp(world.app.url(), 'live', EVENTS)

  it('leaves the loop a turn after each page, and misses nothing', async () => {
    const { ms, result } = await longestBlock(() => Promise.all([read(), read()]), MAX_BLOCK_MS)
    expect(result).toEqual([EVENTS, EVENTS])
    expect(ms).toBeLessThan(MAX_BLOCK_MS)
  })

  it('reads no further than a reader that has stopped reading', async () => {
    let reads = 0
    const { db } = world.app.ctx
    const { all } = db
    const stalled = get(`${world.app.url()}/api/v2/events?types=all&since=0`, {
      headers: credentials('live'),
    })
    await new Promise<void>((resolve) => stalled.once('response', (answer) => resolve(void answer.pause())))
    db.all = ((...args: Parameters<typeof all>) => {
      if (/from events/.test(args[0])) reads++
      return all(...args)
    }) as typeof all
    try {
      for (let i = 0; i < 2000; i++) await new Promise((resolve) => setImmediate(resolve))
      // A page has 100 events: 200 pages without back-pressure. Buffers of sockets take some.
      expect(reads).toBeLessThan(EVENTS / 100 - 20)
    } finally {
      db.all = all
      stalled.destroy()
    }
  })
})
