import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dropOldEvents } from '../../src/services/events/retention.js'
import { ADA, BOB, createWorld, ENGINES, LINE, type Who, type World } from '../support/world.js'
import { accountOf, expectQuietLog, streamsIn, take } from './support.js'

const DAY = 24 * 3_600_000

describe.each(ENGINES)('the stream of events on %s', (engine) => {
  let world: World
  let accountId: string
  beforeAll(async () => {
    world = await createWorld(engine)
    accountId = await accountOf(world)
  })
  afterAll(async () => {
    try {
      expectQuietLog(world)
    } finally {
      await world.close()
    }
  })

  const { last, open, refused, append } = streamsIn(
    () => world,
    () => accountId,
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

  it('shows times as times', async () => {
    const { follower } = await open('?types=conversation.held')
    const until = world.app.ctx.clock.now() + 60_000
    const data = { lineNumber: LINE, contact: ADA, groupId: null, alternations: 6, until }
    await append({ subject: ADA, type: 'conversation.held', data })
    const [held] = await take(follower, 1)
    expect(held!.data.data).toEqual({
      sendblue_number: LINE,
      number: ADA,
      group_id: null,
      alternations: 6,
      until: new Date(until).toISOString(),
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
    // Later events come from now on.
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
})
