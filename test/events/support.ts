import net from 'node:net'
import { expect } from 'vitest'
import type { NewEvent } from '../../src/core/events/event.js'
import { appendEvents, findLastSeq } from '../../src/storage/events/events.js'
import { type Follower, type Frame, follow } from '../support/web/sse.js'
import { ADA, type Who, type World } from '../support/world.js'

const PATH = '/api/v2/events'

/** A reader on a bare socket that can stop taking anything. It notes the numbers of whole frames. */
export async function connect(world: World, as: { id: string; secret: string }, lastEventId: string) {
  const socket = net.connect(Number(new URL(world.app.url()).port), '127.0.0.1')
  const numbers: number[] = []
  let text = ''
  let isOpen = false
  let closed = false
  let changed = () => {}
  const change = () =>
    new Promise<void>((resolve) => {
      changed = resolve
    })
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    isOpen = true
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const id = /^id: (\d+)\nevent: /m.exec(text.slice(0, end))?.[1]
      if (id) numbers.push(Number(id))
      text = text.slice(end + 2)
    }
    changed()
  })
  socket.on('close', () => {
    closed = true
    changed()
  })
  socket.on('error', () => {})
  socket.write(
    `GET ${PATH} HTTP/1.1\r\nhost: x\r\nsb-api-key-id: ${as.id}\r\nsb-api-secret-key: ${as.secret}\r\nlast-event-id: ${lastEventId}\r\n\r\n`,
  )
  while (!isOpen && !closed) await change()
  return {
    pause: () => socket.pause(),
    destroy: () => socket.destroy(),
    /** Everything that still comes until the connection ends. */
    async rest() {
      socket.resume()
      while (!closed) await change()
      return numbers
    },
    async until(n: number) {
      while (numbers.length < n && !closed) await change()
      return numbers
    },
  }
}

export const accountOf = async (world: World) =>
  (await world.app.ctx.directory.key('dev-live-key'))!.key.accountId!

/** The log of an account and who reads it. Both are asked for late: they are made when the tests begin. */
export function streamsIn(world: () => World, accountId: () => string) {
  return {
    last: (id = accountId()) => findLastSeq(world().app.ctx.db, id),
    /** Opens a stream and reads the comment it begins with. */
    open: async (query = '', as?: Who, headers?: Record<string, string>) => {
      const follower = await follow(world(), PATH + query, as, headers)
      expect(follower.status).toBe(200)
      const first = await follower.next()
      expect(first).toMatchObject({ event: '', data: 'open' })
      return { follower, at: Number(first!.id) }
    },
    refused: async (query: string, headers: Record<string, string> = {}, as: Who = 'live') => {
      const { status, body } = await world().call('GET', PATH + query, { as, headers })
      return [status, body.message]
    },
    append: (...events: Partial<NewEvent>[]) =>
      world().app.ctx.db.tx((sql) =>
        appendEvents(
          sql,
          events.map((event) => ({
            accountId: accountId(),
            type: 'contact.created',
            subject: 'c1',
            at: world().app.ctx.clock.now(),
            data: { phone: ADA, firstName: '', lastName: '' },
            ...event,
          })) as NewEvent[],
        ),
      ),
  }
}

export async function take(follower: Follower, n: number) {
  const frames: Frame[] = []
  while (frames.length < n) frames.push((await follower.next())!)
  return frames
}

/** No stream has had trouble, whatever the tests did to it. */
export function expectQuietLog(world: World) {
  expect(world.logs.filter((line) => /"level":"error"|event log|catch up/.test(line))).toEqual([])
}
