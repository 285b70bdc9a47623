import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewEvent } from '../src/core/event.js'
import { dropOldEvents } from '../src/services/event-retention.js'
import { appendEvents, findLastSeq } from '../src/storage/events.js'
import { type Follower, type Frame, follow } from './support/sse.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type Who, type World } from './support/world.js'

const PATH = '/api/v2/events'
const DAY = 24 * 3_600_000

/** A reader on a bare socket that can stop taking anything. It notes the numbers of whole frames. */
async function connect(world: World, as: { id: string; secret: string }, lastEventId: string) {
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
    `GET /api/v2/events HTTP/1.1\r\nhost: x\r\nsb-api-key-id: ${as.id}\r\nsb-api-secret-key: ${as.secret}\r\nlast-event-id: ${lastEventId}\r\n\r\n`,
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

describe.each(ENGINES)('the stream of events on %s', (engine) => {
  let world: World
  let accountId: string
  beforeAll(async () => {
    world = await createWorld(engine)
    accountId = (await world.app.ctx.directory.key('dev-live-key'))!.key.accountId!
  })
  afterAll(() => world.close())

  const last = (id = accountId) => findLastSeq(world.app.ctx.db, id)
  /** Opens a stream and reads the comment it begins with. */
  const open = async (query = '', as?: Who, headers?: Record<string, string>) => {
    const follower = await follow(world, PATH + query, as, headers)
    expect(follower.status).toBe(200)
    const first = await follower.next()
    expect(first).toMatchObject({ event: '', data: 'open' })
    return { follower, at: Number(first!.id) }
  }
  const take = async (follower: Follower, n: number) => {
    const frames: Frame[] = []
    while (frames.length < n) frames.push((await follower.next())!)
    return frames
  }
  const refused = async (query: string, headers: Record<string, string> = {}, as: Who = 'live') => {
    const { status, body } = await world.call('GET', PATH + query, { as, headers })
    return [status, body.message]
  }
  const append = (...events: Partial<NewEvent>[]) =>
    world.app.ctx.db.tx((sql) =>
      appendEvents(
        sql,
        events.map((event) => ({
          accountId,
          type: 'contact.created',
          subject: 'c1',
          at: world.app.ctx.clock.now(),
          data: { phone: ADA, firstName: '', lastName: '' },
          ...event,
        })),
      ),
    )

  it('begins now: what came before is not sent, what comes after is', async () => {
    await world.send({ content: 'before' })
    await world.advance(1000)
    const { follower, at } = await open()
    expect(at).toBe(await last())
    expect(follower.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const sent = await world.send({ content: 'after' })
    const [created] = await take(follower, 1)
    expect(created).toMatchObject({ event: 'message.created', id: String(at + 1) })
    expect(created!.data).toMatchObject({
      version: 1,
      id: `message:${sent.message_handle}:created`,
      type: 'message.created',
      occurred_at: sent.date_created,
      data: {
        message_id: sent.message_handle,
        message_handle: sent.message_handle,
        is_outbound: true,
        status: 'QUEUED',
        updated_at: sent.date_updated,
        number: ADA,
        sendblue_number: LINE,
        content: 'after',
        error_code: null,
        error_message: null,
      },
    })
    await world.advance(1000)
    const updates = await take(follower, 2)
    expect(updates.map(({ event, data }) => [event, data.data.status])).toEqual([
      ['message.updated', 'SENT'],
      ['message.updated', 'DELIVERED'],
    ])
    const record = await world.record(sent.message_handle)
    expect(updates[1]!.data.id).toBe(`message:${sent.message_handle}:updated:${record.date_updated}`)
    expect(updates[1]!.data.data).toEqual({
      ...record,
      message_id: sent.message_handle,
      updated_at: record.date_updated,
    })
    follower.close()
  })

  it('begins now also for who comes before the others have been told', async () => {
    const b = await world.addAccount(`now-${engine}@example.com`, '+12025550167')
    const { follower: first } = await open('', b.live)
    await append({ accountId: b.id, subject: 'told at once' })
    await take(first, 1)
    for (let i = 0; i < 5; i++) {
      // In the pause after a look at the log: this one waits for the next.
      await append({ accountId: b.id, subject: `before ${i}` })
      const { follower: late, at } = await open('', b.live)
      expect(at).toBe(await last(b.id))
      await append({ accountId: b.id, subject: `after ${i}` })
      expect((await take(late, 1))[0]!.data.data.contact_id).toBe(`after ${i}`)
      expect((await take(first, 2)).map(({ data }) => data.data.contact_id)).toEqual([
        `before ${i}`,
        `after ${i}`,
      ])
      late.close()
    }
    first.close()
  })

  it('resumes after the last event, by header or by number, with nothing lost and nothing twice', async () => {
    const { follower, at } = await open()
    for (const content of ['one', 'two', 'three']) await world.send({ content, number: BOB })
    await world.advance(5000)
    const all = await take(follower, (await last()) - at)
    expect(all.map(({ id }) => Number(id))).toEqual(all.map((_, i) => at + 1 + i))
    follower.close()
    const third = all[2]!.id!
    for (const [query, headers] of [
      ['', { 'last-event-id': third }],
      [`?since=${third}`, {}],
      // The address stays the same when a client comes back; the header is newer.
      ['?since=0', { 'last-event-id': third }],
    ] as const) {
      const { follower: again, at: from } = await open(query, 'live', headers)
      expect(from).toBe(Number(third))
      expect(await take(again, all.length - 3)).toEqual(all.slice(3))
      await world.send({ content: 'live' })
      expect((await take(again, 1))[0]!.data.data.content).toBe('live')
      again.close()
    }
  })

  it('resumes from a time', async () => {
    await world.advance(120_000)
    const from = await last()
    const time = new Date(world.app.ctx.clock.now()).toISOString()
    await append({ subject: 'now' }, { subject: 'now, too' })
    await world.advance(120_000)
    await append({ subject: 'later' })
    const { follower, at } = await open(`?since=${time}`)
    expect(at).toBe(from)
    expect((await take(follower, 3)).map(({ data }) => data.data.contact_id)).toEqual([
      'now',
      'now, too',
      'later',
    ])
    follower.close()
    const offset = encodeURIComponent(time.replace('Z', '+00:00'))
    const ends = await open(`?since=${offset}`)
    expect(ends.at).toBe(from)
    ends.follower.close()
    // What has not come yet is what comes from now on.
    const { follower: future, at: end } = await open('?since=2090-01-01')
    expect(end).toBe(await last())
    future.close()
    const { follower: past, at: beginning } = await open('?since=1990-01-01')
    expect(beginning).toBe(0)
    past.close()
  })

  it('the start by time is exact, wherever it lies and in whatever order transactions ended', async () => {
    const b = await world.addAccount(`time-${engine}@example.com`, '+12025550161')
    await world.advance(1000)
    const base = await last(b.id)
    const now = world.app.ctx.clock.now()
    const times = [0, 1000, 40_000, 39_000, 100_000, 99_000, 300_000, 300_000, 290_000, 600_000].map(
      (ms) => now + ms,
    )
    for (const at of times) await append({ accountId: b.id, at })
    for (const at of [...times, now - 1, now + 250_000, now + 600_001]) {
      const first = times.findIndex((time) => time >= at)
      const { follower, at: from } = await open(`?since=${new Date(at).toISOString()}`, b.live)
      expect([at - now, from]).toEqual([at - now, base + (first === -1 ? times.length : first)])
      follower.close()
    }
  })

  it('sends the types that clients know, the named ones, or all; and refuses unknown ones by name', async () => {
    const { follower: plain, at } = await open()
    const { follower: named } = await open('?types=message.deleted,%20contact.created,')
    const { follower: all } = await open('?types=all')
    const { message_handle } = await world.send({ content: 'to be read' })
    await world.advance(1000)
    await world.post(`/sim/phones/${ADA}/read`, undefined)
    await world.settle()
    await world.call('DELETE', `/api/message/${message_handle}`)
    await world.post('/api/v2/contacts', { number: '+12025550777', first_name: 'Zoë' })
    const everything = await take(all, (await last()) - at)
    expect(everything.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['message.created', 'message.updated', 'message.read', 'message.deleted']),
    )
    const known = everything.filter(({ event }) => !['message.read', 'message.deleted'].includes(event))
    expect((await take(plain, known.length)).map(({ id }) => id)).toEqual(known.map(({ id }) => id))
    const two = await take(named, 2)
    expect(two.map(({ event }) => event)).toEqual(['message.deleted', 'contact.created'])
    expect(two[1]!.data.data).toMatchObject({ phone: '+12025550777', first_name: 'Zoë', last_name: '' })
    for (const follower of [plain, named, all]) follower.close()
    const [status, message] = await refused('?types=message.created,message.nonsense,x')
    expect([status, message]).toEqual([400, expect.stringContaining('message.nonsense, x')])
    expect((await refused('?types=message.created&types=all'))[0]).toBe(400)
  })

  it('a deleted message leaves nothing of itself in the stream', async () => {
    const from = await last()
    const { message_handle } = await world.send({ content: 'secret-canary', number: BOB })
    await world.advance(1000)
    await world.call('DELETE', `/api/message/${message_handle}`)
    const { follower } = await open(`?types=all&since=${from}`)
    const frames = await take(follower, (await last()) - from)
    expect(frames.length).toBeGreaterThan(2)
    expect(JSON.stringify(frames)).not.toMatch(/secret-canary|2025550102/)
    expect(frames[0]!.data).toMatchObject({
      id: `message:${message_handle}:created`,
      data: { message_id: message_handle, status: 'QUEUED', deleted: true },
    })
    follower.close()
  })

  it('a bookmark that is none, or has not been reached, is refused', async () => {
    const end = await last()
    for (const [text, words] of [
      ['-1', 'a whole number'],
      ['abc', 'a whole number'],
      ['1.5', 'a whole number'],
      ['1e3', 'a whole number'],
      ['0x10', 'a whole number'],
      ['99999999999999999999', 'a whole number'],
      [`message:x:created`, 'a whole number'],
      [String(end + 1), `its last one is ${end}`],
      ['999999999999999', `its last one is ${end}`],
    ] as const) {
      const [status, message] = await refused('', { 'last-event-id': text })
      expect([text, status, message]).toEqual([text, 400, expect.stringContaining(words)])
      expect(message).toMatch(/^Last-Event-ID: /)
    }
    for (const text of ['-1', 'yesterday', '1.5', String(end + 1), '2026-02-30', '12:00', '9'.repeat(400)])
      expect([text, await refused(`?since=${text}`)]).toEqual([
        text,
        [400, expect.stringMatching(/^since: /)],
      ])
    expect((await refused('?since=1&since=2'))[0]).toBe(400)
    // An empty header is none, and what the client wants to get is not looked at.
    const { follower, at } = await open('', 'live', { 'last-event-id': '', accept: 'application/json' })
    expect(at).toBe(end)
    follower.close()
  })

  it('shows an account and a test world their own only, whatever bookmark they bring', async () => {
    const b = await world.addAccount(`b-${engine}@example.com`, '+12025550150')
    await world.send({ content: 'alpha-canary' })
    await world.send({ content: 'test-canary' }, 'test')
    await world.advance(1000)
    const shown = async (as: Who) => {
      const { follower } = await open('?types=all&since=0', as)
      await world.settle()
      const id = as === 'live' ? accountId : as === 'test' ? undefined : b.id
      const account = id ?? (await world.app.ctx.directory.key('dev-test-key'))!.key.accountId!
      const frames = await take(follower, await last(account))
      follower.close()
      return JSON.stringify(frames)
    }
    expect(await shown('live')).toContain('alpha-canary')
    expect(await shown('live')).not.toContain('test-canary')
    expect(await shown('test')).toContain('test-canary')
    expect(await shown('test')).not.toContain('alpha-canary')
    expect(await shown(b.live)).not.toMatch(/canary/)
    // The number of another account's event means nothing here: it is one of its own, or none.
    const foreign = String(await last())
    expect((await refused('', { 'last-event-id': foreign }, b.live))[0]).toBe(400)
  })

  it('beats every 15 seconds, as a comment that moves the bookmark on', async () => {
    const { follower, at } = await open('?types=typing.changed')
    await world.advance(14_999)
    await world.advance(1)
    expect(await follower.next()).toEqual({ event: '', data: 'heartbeat' })
    await append({})
    await expect
      .poll(async () => {
        await world.advance(15_000)
        return await follower.next()
      })
      .toEqual({ event: '', data: 'heartbeat', id: String(at + 1) })
    await world.advance(15_000)
    expect(await follower.next()).toEqual({ event: '', data: 'heartbeat' })
    follower.close()
  })

  it('is closed after 15 minutes, with a last comment', async () => {
    const { follower } = await open()
    await world.advance(15 * 60_000 - 1)
    await world.advance(1)
    const frames: Frame[] = []
    for (let frame = await follower.next(); frame; frame = await follower.next()) frames.push(frame)
    expect(frames.map(({ event }) => event).filter((name) => name !== '')).toEqual([])
    expect(frames.map(({ data }) => data)).toEqual([
      ...Array.from({ length: 59 }, () => 'heartbeat'),
      'closed; connect again with the last id',
    ])
  })

  it('is closed when its token expires, and within a second when it or its key is revoked', async () => {
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    const expiring = await mint({ expires_in_seconds: 61 })
    const { follower: one } = await open('', expiring)
    await world.advance(61_000)
    const ends: Json[] = []
    for (let frame = await one.next(); frame; frame = await one.next()) ends.push(frame.data)
    expect(ends).toEqual([
      ...Array.from({ length: 4 }, () => 'heartbeat'),
      expect.stringMatching(/^closed|^no longer/),
    ])
    expect((await refused('', {}, expiring))[0]).toBe(401)

    const b = await world.addAccount(`c-${engine}@example.com`, '+12025550151')
    const revoked = await mint({})
    const { follower: two } = await open('', revoked)
    const { follower: three } = await open('', b.live)
    const { follower: stays } = await open()
    const startedAt = performance.now()
    await world.call('DELETE', `/v3/auth/tokens/${revoked.token_id}`)
    await world.call('DELETE', `/admin/keys/${b.live.id}`, { as: 'admin' })
    for (const follower of [two, three]) {
      expect(await follower.next()).toEqual({ event: '', data: 'no longer authorized' })
      expect(await follower.next()).toBeUndefined()
    }
    expect(performance.now() - startedAt).toBeLessThan(1500)
    await append({ subject: 'still here' })
    expect((await stays.next())!.data.data.contact_id).toBe('still here')
    stays.close()
  })

  it('is refused to a token that is confined to some lines, and to an admin key', async () => {
    const confined = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    expect((await refused('', {}, confined))[0]).toBe(403)
    expect((await refused('', {}, 'admin'))[0]).toBe(403)
    expect((await refused('', {}, null))[0]).toBe(401)
  })

  it('says what is gone when the bookmark is older than what is kept, and never drops what still has to be delivered', async () => {
    const b = await world.addAccount(`old-${engine}@example.com`, '+12025550162')
    const { db } = world.app.ctx
    const begins = await last(b.id)
    for (let i = 0; i < 5; i++) await append({ accountId: b.id, subject: `old ${i}` })
    // In a shard that nobody has: a courier would turn the rest into deliveries meanwhile.
    await db.run('insert into webhook_feeds (account_id, shard, seq) values ($1, 99, $2)', [b.id, begins + 3])
    await world.advance(31 * DAY)
    await append({ accountId: b.id, subject: 'new' })
    await dropOldEvents(world.app.ctx)
    const gone = begins + 3
    const expectGap = async (query: string, headers: Record<string, string>, from: number, to: number) => {
      const { follower } = await open(query, b.live, headers)
      const [gap, next] = await take(follower, 2)
      expect(gap).toMatchObject({
        id: String(to),
        event: 'recovery.gap',
        data: { version: 1, id: `recovery:gap:${from}:${to}`, type: 'recovery.gap', data: { from, to } },
      })
      follower.close()
      return next
    }
    expect((await expectGap('', { 'last-event-id': '1' }, 2, gone))!.data.data.contact_id).toBe('old 3')
    expect(await expectGap('?since=0', {}, 1, gone)).toMatchObject({ id: String(gone + 1) })
    expect(await expectGap('?since=1990-01-01', {}, 1, gone)).toMatchObject({ id: String(gone + 1) })
    const { follower: exact } = await open(`?since=${gone}`, b.live)
    expect((await take(exact, 3)).map(({ data }) => data.data.contact_id)).toEqual(['old 3', 'old 4', 'new'])
    exact.close()

    await db.run('update webhook_feeds set seq = $2 where account_id = $1', [b.id, begins + 6])
    await dropOldEvents(world.app.ctx)
    expect(await expectGap(`?since=${gone}`, {}, gone + 1, gone + 2)).toMatchObject({ id: String(gone + 3) })
    await world.advance(31 * DAY)
    await dropOldEvents(world.app.ctx)
    const { follower: empty } = await open('?since=0', b.live)
    expect((await take(empty, 1))[0]!.data.data).toEqual({ from: 1, to: await last(b.id) })
    await append({ accountId: b.id, subject: 'after all' })
    expect((await take(empty, 1))[0]!.data.data.contact_id).toBe('after all')
    empty.close()
    // The time of everything the account keeps is over; the end of its log is known all the same.
    const { follower: now, at } = await open('', b.live)
    expect(at).toBe(begins + 7)
    now.close()
  })

  it('many streams of several kinds get each of theirs once and in order while it is written', async () => {
    const b = await world.addAccount(`many-${engine}@example.com`, '+12025550163')
    const begins = await last(b.id)
    const kinds = ['', '?types=all', '?types=verification.expired', '?types=contact.created,typing.changed']
    const readers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const late = i % 3 === 0 ? `${kinds[i % 4] ? '&' : '?'}since=${begins}` : ''
        return { kind: i % 4, follower: (await open(kinds[i % 4] + late, b.live)).follower }
      }),
    )
    const got = readers.map(async ({ kind, follower }) => {
      const frames = await take(follower, kind === 2 ? 100 : kind === 3 ? 200 : 300)
      follower.close()
      return frames.map(({ data }) => data.data.contact_id ?? data.data.verification_sid)
    })
    for (let i = 0; i < 100; i++) {
      await append(
        { accountId: b.id, subject: `a${i}` },
        { accountId: b.id, subject: `v${i}`, type: 'verification.expired', data: { status: 'expired' } },
        { accountId: b.id, subject: `b${i}` },
      )
    }
    const wanted = Array.from({ length: 100 }, (_, i) => [`a${i}`, `v${i}`, `b${i}`]).flat()
    const lists = await Promise.all(got)
    for (const [i, list] of lists.entries()) {
      const kind = i % 4
      expect(list).toEqual(wanted.filter((id) => kind < 2 || (kind === 2) === id.startsWith('v')))
    }
  })

  it('a reader that takes nothing is cut off, and resumes where it was', async () => {
    const b = await world.addAccount(`slow-${engine}@example.com`, '+12025550164')
    const begins = await last(b.id)
    const streams = async () => (await world.app.ctx.metrics.eventStreams.get()).values[0]!.value
    await expect.poll(streams).toBe(0)
    const slow = await connect(world, b.live, String(begins))
    slow.pause()
    const big = 'x'.repeat(50_000)
    const data = { phone: ADA, firstName: big, lastName: '' }
    let written = 0
    // More than the buffers of two sockets hold.
    while ((await streams()) > 0 && written < 1000) {
      await append(...Array.from({ length: 20 }, () => ({ accountId: b.id, data })))
      written += 20
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    expect(written).toBeLessThan(1000)
    const got = await slow.rest()
    expect(got.length).toBeLessThan(written)
    expect(got).toEqual(got.map((_, i) => begins + 1 + i))
    const { follower } = await open('', b.live, { 'last-event-id': String(got.at(-1) ?? begins) })
    const more = await take(follower, written - got.length)
    expect(more.map(({ id }) => Number(id))).toEqual(more.map((_, i) => begins + got.length + 1 + i))
    follower.close()
  })

  it('what is removed while a reader catches up is told as a gap', async () => {
    const b = await world.addAccount(`race-${engine}@example.com`, '+12025550165')
    const begins = await last(b.id)
    const data = { phone: ADA, firstName: 'x'.repeat(50_000), lastName: '' }
    for (let i = 0; i < 20; i++)
      await append(...Array.from({ length: 20 }, () => ({ accountId: b.id, data })))
    const { follower } = await open(`?since=${begins}`, b.live)
    await take(follower, 10)
    await world.app.ctx.db.run('delete from events where account_id = $1 and seq <= $2', [b.id, begins + 390])
    const frames: Frame[] = []
    while (frames.at(-1)?.id !== String(begins + 400)) frames.push((await follower.next())!)
    const gap = frames.find(({ event }) => event === 'recovery.gap')!
    const { from, to } = gap.data.data
    expect(to).toBe(begins + 390)
    const numbers = frames.filter((frame) => frame !== gap).map(({ id }) => Number(id))
    const wanted = Array.from({ length: 390 }, (_, i) => begins + 11 + i)
    expect(numbers).toEqual(wanted.filter((n) => n < from || n > to))
    follower.close()
  })

  it('serves a thousand streams of a key, half of which come back at once, and no more', async () => {
    const b = await world.addAccount(`crowd-${engine}@example.com`, '+12025550166')
    const begins = await last(b.id)
    await append(...Array.from({ length: 50 }, () => ({ accountId: b.id })))
    const crowd = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => connect(world, b.live, String(begins + (i % 2 === 0 ? 0 : 50)))),
    )
    expect(await refused('', {}, b.live)).toEqual([429, 'At most 1000 streams may be open at once'])
    // Another key is not concerned.
    const { follower: other } = await open()
    other.close()
    await append({ accountId: b.id })
    const lists = await Promise.all(crowd.map((one, i) => one.until(i % 2 === 0 ? 51 : 1)))
    for (const [i, list] of lists.entries())
      expect(list).toEqual(i % 2 === 0 ? Array.from({ length: 51 }, (_, n) => begins + 1 + n) : [begins + 51])
    for (const one of crowd) one.destroy()
    await expect
      .poll(async () => {
        const reply = await follow(world, PATH, b.live)
        reply.close()
        return reply.status
      })
      .toBe(200)
  })

  it('a reader that goes away leaves nothing behind', async () => {
    const { wakes, metrics } = world.app.ctx
    await expect.poll(async () => (await metrics.eventStreams.get()).values[0]!.value).toBe(0)
    const { on } = wakes
    let listening = 0
    wakes.on = (topic, handler) => {
      const off = on(topic, handler)
      listening++
      return () => {
        listening--
        off()
      }
    }
    const { follower } = await open()
    wakes.on = on
    expect(listening).toBe(1)
    expect((await metrics.eventStreams.get()).values[0]!.value).toBe(1)
    follower.close()
    await expect.poll(() => listening).toBe(0)
  })

  it('ends with a comment when the server stops, which does not wait for it', async () => {
    const stopping = await createWorld(engine)
    const follower = await follow(stopping, PATH)
    await follower.next()
    const startedAt = performance.now()
    await stopping.close()
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect((await follower.next())!.data).toMatch(/^the server stops/)
    expect(await follower.next()).toBeUndefined()
  })

  it('writes nothing into the log of the server', () => {
    expect(world.logs.filter((line) => /"level":"error"|event log|catch up/.test(line))).toEqual([])
  })
})
