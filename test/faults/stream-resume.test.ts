import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import type { NewEvent } from '../../src/core/events/event.js'
import { appendEvents, findLastSeq } from '../../src/storage/events/events.js'
import { turns } from '../support/turns.js'
import { follow } from '../support/web/sse.js'
import { createWorld, credentials, ENGINES, type Json, type World } from '../support/world.js'

const EVENTS = 5000
const KILLS = 50

/** Numbers that look random and are the same in every run. */
function createRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** The notes that a consumer keeps over its deaths: the last id, and the events it has finished with. */
interface Kept {
  lastId: string
  ids: string[]
  numbers: number[]
}

/**
 * A consumer on a bare socket, which dies after so many bytes, in the middle of whatever is coming. What it has
 * read of a frame that is not complete dies with it.
 */
function consume(port: number, kept: Kept, diesAfter: number, until: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1')
    let bytes = 0
    let text = ''
    let inHead = true
    const frames = createUnchunker((part) => {
      text += part
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        note(text.slice(0, end), kept)
        text = text.slice(end + 2)
      }
    })
    socket.on('connect', () =>
      socket.write(
        `GET /api/v2/events?types=all HTTP/1.1\r\nhost: x\r\nsb-api-key-id: dev-live-key\r\nsb-api-secret-key: dev-live-secret\r\nlast-event-id: ${kept.lastId}\r\n\r\n`,
      ),
    )
    let head = ''
    socket.on('data', (chunk: Buffer) => {
      let data = chunk.toString('latin1').slice(0, Math.max(0, diesAfter - bytes))
      bytes += chunk.length
      if (inHead) {
        head += data
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) {
          // A short life ends before the head does.
          if (bytes >= diesAfter) socket.destroy()
          return
        }
        if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head))
        inHead = false
        data = head.slice(end + 4)
      }
      frames(data)
      if (bytes >= diesAfter || until()) socket.destroy()
    })
    socket.on('close', () => resolve())
    socket.on('error', () => {})
  })
}

/** Takes the chunks of HTTP apart, wherever they are cut. */
function createUnchunker(give: (part: string) => void) {
  let waiting = ''
  return (data: string) => {
    waiting += data
    for (;;) {
      const line = waiting.indexOf('\r\n')
      if (line < 0) return
      const size = Number.parseInt(waiting.slice(0, line), 16)
      if (waiting.length < line + 2 + size + 2) return
      give(waiting.slice(line + 2, line + 2 + size))
      waiting = waiting.slice(line + 2 + size + 2)
    }
  }
}

function note(frame: string, kept: Kept): void {
  const id = /^id: (\d+)$/m.exec(frame)?.[1]
  const data = /^data: (.*)$/m.exec(frame)?.[1]
  if (data) {
    kept.ids.push((JSON.parse(data) as Json).id)
    kept.numbers.push(Number(id))
  }
  if (id) kept.lastId = id
}

describe.each(ENGINES)('a consumer of the stream that dies again and again on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  it(`has each of ${EVENTS} events exactly once by id and in order after ${KILLS} deaths`, async () => {
    const { db, directory, clock } = world.app.ctx
    const accountId = (await directory.key('dev-live-key'))!.key.accountId!
    const random = createRandom(20260301)
    const begins = await findLastSeq(db, accountId)
    const ends = begins + EVENTS
    const kept: Kept = { lastId: String(begins), ids: [], numbers: [] }
    const port = Number(new URL(world.app.url()).port)

    let n = 0
    let written = 0
    const write = async () => {
      // Bursts and pauses: consumers die while they catch up, while they follow, and while nothing happens.
      while (n < EVENTS) {
        // Never far ahead: else all would be read from the log, and none as it is written.
        while (n - kept.numbers.length > 300) await turns()
        const burst = Math.min(1 + random(160), EVENTS - n)
        const events = Array.from({ length: burst }, (): NewEvent => {
          const entry = { accountId, subject: `c${n++}`, at: clock.now() }
          if (random(4) === 0) {
            const data = { contact: '+12025550101', lineId: 'L', lineNumber: '+12025550100', isTyping: true }
            return { ...entry, type: 'typing.changed', data }
          }
          const data = { phone: '+12025550101', firstName: 'ü'.repeat(random(30)), lastName: '' }
          return { ...entry, type: 'contact.created', data }
        })
        await db.tx((sql) => appendEvents(sql, events))
        written = n
        await turns(random(50))
      }
    }
    const writing = write()
    let deaths = 0
    const hasAll = () => kept.lastId === String(ends)
    while (!hasAll()) {
      // The last life is as long as it takes. The others are so long that the deaths fall all over the events.
      const share = Math.round((2 * EVENTS * 260) / KILLS)
      const lifetime = deaths < KILLS ? 200 + random(share) : Number.POSITIVE_INFINITY
      const before = kept.numbers.length
      await consume(port, kept, lifetime, hasAll)
      if (!hasAll()) deaths++
      if (deaths > KILLS * 4) throw new Error(`stuck at ${kept.lastId} of ${ends}, ${before}`)
    }
    await writing
    expect(written).toBe(EVENTS)
    expect(deaths).toBeGreaterThanOrEqual(KILLS)
    expect(kept.numbers).toEqual(Array.from({ length: EVENTS }, (_, i) => begins + 1 + i))
    expect(new Set(kept.ids).size).toBe(EVENTS)
  })
})

it.runIf(ENGINES.includes('postgres'))(
  'a stream tells what another process writes, with and without its hint, and ends when that one revokes',
  async () => {
    const world = await createWorld('postgres')
    const other = await createApp(world.config, {
      clock: createClock(world.app.ctx.clock.now()),
      log: world.app.ctx.log,
    })
    await other.start()
    try {
      const accountId = (await other.ctx.directory.key('dev-live-key'))!.key.accountId!
      const token = (await world.post('/v3/auth/tokens', {})).body
      const follower = await follow(world, '/api/v2/events?types=contact.created', token)
      await follower.next()
      const event = (subject: string): NewEvent => ({
        accountId,
        type: 'contact.created',
        subject,
        at: other.ctx.clock.now(),
        data: { phone: '+12025550101', firstName: '', lastName: '' },
      })
      await other.ctx.db.tx((sql) => appendEvents(sql, [event('hinted')]))
      expect((await follower.next())!.data.data.contact_id).toBe('hinted')
      await other.ctx.db.tx((sql) => appendEvents({ ...sql, announce: () => {} }, [event('not hinted')]))
      expect((await follower.next())!.data.data.contact_id).toBe('not hinted')
      await other.server.inject({
        method: 'DELETE',
        url: `/v3/auth/tokens/${token.token_id}`,
        headers: credentials('live'),
      })
      expect(await follower.next()).toMatchObject({ event: '', data: 'no longer authorized' })
      expect(await follower.next()).toBeUndefined()
    } finally {
      await other.stop()
      await world.close()
    }
  },
)
