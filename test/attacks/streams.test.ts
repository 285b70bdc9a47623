import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendEvents } from '../../src/storage/events/events.js'
import { longestBlock } from '../support/load/loop.js'
import { createWorld, credentials, ENGINES, LINE, START, type World } from '../support/world.js'

/** Processor time for which nothing may keep the event loop from going round; half as much again for the tests. */
const MAX_BLOCK_MS = 75
const EVENTS = 20_000

describe.each(ENGINES)('catching up a long event stream on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    const { db } = world.app.ctx
    const line = (await db.one<{ id: string; account_id: string }>(
      "select id, account_id from lines where number = $1 and network = 'live'",
      [LINE],
    ))!
    for (let i = 0; i < EVENTS; i += 1000) {
      const events = Array.from({ length: 1000 }, (_, k) => ({
        accountId: line.account_id,
        type: 'line.status.changed',
        subject: line.id,
        at: START,
        data: { number: LINE, status: 'online', statusChangedAt: START, detail: `${i + k}` },
      }))
      await db.write((sql) => appendEvents(sql, events as never))
    }
  }, 120_000)
  afterAll(() => world.close())

  it('leaves the loop a turn after each page, and misses nothing', async () => {
    const { ms, result } = await longestBlock(() => Promise.all([read(world), read(world)]))
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

/** Reads until the last event; returns how many came. */
function read(world: World): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(
      `${world.app.url()}/api/v2/events?types=line.status.changed&since=0`,
      { headers: credentials('live') },
      (answer) => {
        let text = ''
        let seen = 0
        answer.once('end', () => reject(new Error(`The stream ended after ${seen} events`)))
        answer.setEncoding('utf8').on('data', (piece) => {
          text += piece
          const frames = text.split('\n\n')
          text = frames.pop()!
          seen += frames.filter((frame) => frame.includes('"detail"')).length
          if (seen < EVENTS) return
          request.destroy()
          resolve(seen)
        })
      },
    ).on('error', reject)
  })
}
