import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestBlock } from '../support/load/loop.js'
import { eventually } from '../support/server.js'
import { createWorld, ENGINES, type World } from '../support/world.js'
import { catchUp } from './support/catch-up.js'
import { findOwner, insertEvents } from './support/history.js'

/** Processor time for which nothing may keep the event loop from going round; half as much again for the tests. */
const MAX_BLOCK_MS = 75
const EVENTS = 20_000
const STALLED_LINE = '+12025550163'
/** 40 MB: more than the buffers of two sockets. */
const LONG_EVENTS = 5000
const LONG_BYTES = 8000
/** With the other fields of the event. */
const FRAME_BYTES = LONG_BYTES + 300
const MB = 1_000_000

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

  it('waits for a reader that has stopped reading, holds little for it, and sends it the rest later', async () => {
    const { db } = world.app.ctx
    const hostile = await world.addAccount('stalled@example.com', STALLED_LINE)
    await insertEvents(db, await findOwner(db, STALLED_LINE), LONG_EVENTS, 'x'.repeat(LONG_BYTES))
    let rows = 0
    const { all } = db
    db.all = (async (...args: Parameters<typeof all>) => {
      const found = await all(...args)
      if (/from events/.test(args[0])) rows += found.length
      return found
    }) as typeof all
    const connected = once(world.app.server.server, 'connection') as Promise<[Socket]>
    let answer: IncomingMessage | undefined
    const reading = catchUp(world.app.url(), hostile.live, LONG_EVENTS, (begun) => {
      answer = begun.pause()
    })
    try {
      const [socket] = await connected
      /** Bytes of events that the server has read from its log and the system has not taken from it. */
      const held = () => rows * FRAME_BYTES - (socket.bytesWritten - socket.writableLength)
      await eventually(async () => socket.writableNeedDrain || socket.destroyed, Boolean)
      expect(socket.destroyed).toBe(false)
      let most = 0
      for (let i = 0; i < 300; i++) {
        await (await fetch(`${world.app.url()}/livez`)).text()
        most = Math.max(most, held())
      }
      expect(most / MB).toBeLessThan(1)
      answer!.resume()
      expect(await reading).toBe(LONG_EVENTS)
    } finally {
      db.all = all
      answer?.destroy()
    }
  })
})
