import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tablesOf as allTablesOf } from '../support/dump.js'
import { populate } from '../support/populate.js'
import { createSink, type Sink } from '../support/web/sink.js'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'
/** Tables about the server, not about a world. */
const FRAME = new Set([
  'audit_log',
  'audit_open',
  'audit_ends',
  'accounts',
  'keys',
  'tokens',
  'console_sessions',
  'lines',
  'line_members',
  'line_leases',
  'line_states',
  'nodes',
  'migrations',
  'high_water',
  'incarnations',
  'event_counters',
  'webhook_shards',
  'webhook_feeds',
  'webhook_settings',
  'seats',
  'sqlite_sequence',
  'media_drafts',
  'requests',
])

/** Every row of what happens in worlds, by table. */
async function tablesOf({ app }: World): Promise<Map<string, string[]>> {
  return new Map([...(await allTablesOf(app))].filter(([name]) => !FRAME.has(name)))
}

const filled = (tables: Map<string, string[]>) =>
  Object.fromEntries([...tables].filter(([, rows]) => rows.length > 0))

describe.each(ENGINES)('beginning the world anew on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine, { isReal: true })
    sink = await createSink()
  })
  afterAll(async () => {
    await sink.close()
    await world.close()
  })

  const reset = (body?: Json, as: Who = 'live', headers = {}) => world.post('/sim/reset', body, as, headers)
  const emptied = async () => {
    const tables = filled(await tablesOf(world))
    delete tables.phones
    delete tables.replays
    delete tables.events
    return tables
  }

  it('nothing is left of what happened, and the seeded phones are back', async () => {
    const before = await tablesOf(world)
    const phones = (await world.get('/sim/phones')).body
    await populate(world, LINE, sink.url)
    await world.setPhone(BOB, { imessage: true, name: 'Robert' })
    const during = filled(await tablesOf(world))
    // The test is worth something only as long as it fills these.
    expect(Object.keys(during).length).toBeGreaterThan(25)
    expect((await reset()).body).toEqual({ reset: true, at: '2026-03-01T12:00:10.000Z' })
    expect(await emptied()).toEqual({})
    expect((await world.get('/sim/phones')).body).toEqual(phones)
    const seeded = (rows: string[]) => rows.map((row) => ({ ...JSON.parse(row), created_at: 0 }))
    expect(seeded((await tablesOf(world)).get('phones')!)).toEqual(seeded(before.get('phones')!))
    for (const list of Object.values((await world.get('/api/account/webhooks')).body.webhooks))
      expect(list).toEqual([])
    expect((await world.get('/api/v2/messages')).body).toMatchObject({ data: [], pagination: { total: 0 } })
    await world.advance(30 * 86_400_000)
    expect(await emptied()).toEqual({})
  })

  it('goes on as a new world does', async () => {
    await reset()
    const { message_handle: handle } = await world.send({ content: 'First' })
    await world.advance(1000)
    expect(await world.status(handle)).toMatchObject({ status: 'DELIVERED' })
    expect((await world.inbox(ADA)).map((message) => message.content)).toEqual(['First'])
    await world.text(ADA, 'Back')
    await world.advance(1000)
    const { data, pagination } = (await world.get('/api/v2/messages')).body
    expect([data.length, pagination.total]).toEqual([2, 2])
  })

  it('event numbers go on, and the first one says what happened', async () => {
    await world.send()
    await world.advance(1000)
    const last = (await world.events()).at(-1)!.seq
    await reset()
    const events = await world.events()
    expect(events).toMatchObject([{ seq: last + 1, type: 'world.reset' }])
    await world.send()
    expect((await world.events())[1]).toMatchObject({ seq: last + 2, type: 'message.created' })
  })

  it('what was under way has no consequences', async () => {
    await reset()
    const url = `${sink.url}/late`
    await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { outbound: [url], receive: [url] } },
    })
    await world.setPhone(ADA, { auto_reply: 'I am away' })
    for (const wait of [0, 1, 2, 3, 5, 8]) {
      const numbers = Array.from({ length: 20 }, (_, i) => `+1202555${8000 + i}`)
      await Promise.all([
        ...numbers.map((number) => world.send({ number })),
        world.send(),
        world.post('/api/send-group-message', {
          numbers: numbers.slice(0, 3),
          from_number: LINE,
          content: 'G',
        }),
        ...Array.from({ length: 5 }, (_, i) => world.text(BOB, `Text ${i}`)),
      ])
      for (let turn = 0; turn < wait; turn++) await new Promise((resolve) => setImmediate(resolve))
      if (wait === 8) await world.app.advance(160)
      expect((await reset({ keep: ['webhooks'] })).status).toBe(200)
      // A receiver may still read a post that was on the network when the reset broke it off.
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
      const posted = sink.received.length
      await world.advance(86_400_000)
      const left = await emptied()
      delete left.webhook_endpoints
      expect(left).toEqual({})
      expect((await world.get('/sim/phones')).body.data).toHaveLength(5)
      expect((await world.events()).map(({ type }) => type)).toEqual(['world.reset'])
      expect(sink.received.length).toBe(posted)
      await world.setPhone(ADA, { auto_reply: 'I am away' })
    }
  })

  it('a post that its receiver does not answer is broken off', async () => {
    await reset()
    await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { outbound: [`${sink.url}/slow`] } },
    })
    let hung = 0
    sink.answer((_post, reply) => {
      reply.on('close', () => hung++)
      return undefined
    })
    await world.send()
    while (!sink.received.some(({ path }) => path === '/slow'))
      await new Promise((resolve) => setImmediate(resolve))
    await reset()
    sink.answer(() => 200)
    await world.settle()
    expect(hung).toBeGreaterThan(0)
    expect((await world.get('/v3/webhook-deliveries')).body.data).toEqual([])
  })

  it('a send that the carrier never answers keeps nobody waiting', async () => {
    await world.setLine(LINE, { config: { fault: 'silence' } })
    await world.send()
    await world.settle()
    // The clock stands still: a reset that waited for the send would wait for ever.
    await reset()
    // The seeded line is as it was made, without its fault.
    const { message_handle: handle } = await world.send()
    await world.advance(1000)
    expect((await world.status(handle)).status).toBe('DELIVERED')
    await world.advance(3_600_000)
    expect((await world.get('/api/v2/messages')).body.pagination.total).toBe(1)
  })

  it('keeps webhooks when asked to, and posts to them what happens then', async () => {
    const url = `${sink.url}/kept`
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: { receive: [url] } } })
    await world.text(ADA, 'Old')
    await world.settle()
    await reset({ keep: ['webhooks'] })
    expect((await world.get('/api/account/webhooks')).body.webhooks.receive).toEqual([url])
    await world.text(ADA, 'New')
    await world.advance(1000)
    const texts = sink.received.filter(({ path }) => path === '/kept').map(({ body }) => body.content)
    expect(texts).toEqual(['Old', 'New'])
  })

  it('forgets Idempotency-Keys, but its own', async () => {
    const key = { 'idempotency-key': 'same' }
    const first = await world.send({}, 'live', key)
    const one = await reset({}, 'live', { 'idempotency-key': 'reset-1' })
    expect((await world.send({}, 'live', key)).message_handle).not.toBe(first.message_handle)
    const again = await reset({}, 'live', { 'idempotency-key': 'reset-1' })
    expect(again.headers['x-idempotent-replay']).toBe('true')
    expect(again.body).toEqual(one.body)
    expect((await world.get('/api/v2/messages')).body.pagination.total).toBe(1)
  })

  it('several at once, and sends meanwhile, leave a world that is whole', async () => {
    await reset()
    const sends = Array.from({ length: 30 }, () => world.send())
    await Promise.all([reset(), reset(), ...sends, reset()])
    await world.advance(60_000)
    const { data, pagination } = (await world.get('/api/v2/messages?limit=1000')).body
    expect(pagination.total).toBe(data.length)
    for (const message of data) expect(message.status).toBe('DELIVERED')
    expect(await world.inbox(ADA)).toHaveLength(data.length)
  })

  it('a blocked line is free, a removed one is back', async () => {
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const find = (number: string) => lines.find((one: Json) => one.number === number && one.world === 'live')
    await world.call('DELETE', `/admin/lines/${find(SHARED_LINE).id}`, { as: 'admin' })
    await world.setLine(LINE, { blocked: true })
    expect(
      (await world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'x' })).status,
    ).toBe(400)
    await reset()
    for (const from_number of [LINE, SHARED_LINE]) {
      const { message_handle: handle } = await world.send({ from_number })
      await world.advance(1000)
      expect((await world.status(handle)).status).toBe('DELIVERED')
    }
  })

  it('other accounts, and the other world of this one, notice nothing', async () => {
    await reset()
    const b = await world.addAccount('b@example.com', B_LINE)
    await populate(world, B_LINE, sink.url, b.live)
    await world.post('/sim/phones', { number: '+12025557100', name: "B's own" }, b.live)
    await world.send({ content: 'In the test world' }, 'test')
    await world.advance(1000)
    const before = await tablesOf(world)
    await populate(world, LINE, sink.url)
    await world.advance(1000)
    // Phones that both write with are both's; B sees them as they are now.
    const now = await tablesOf(world)
    await reset()
    const after = await tablesOf(world)
    for (const [name, rows] of before) {
      if (name === 'replays' || name === 'phones') continue
      expect([name, after.get(name)!.filter((row) => !row.includes('world.reset'))]).toEqual([
        name,
        rows.filter((row) => !row.includes('world.reset')),
      ])
    }
    const undated = (row: string) => row.replace(/"created_at":\d+/, '')
    const known = [...now.get('phones')!, ...before.get('phones')!].map(undated)
    for (const row of after.get('phones')!) expect(known).toContain(undated(row))
    expect((await world.get('/sim/phones/+12025557100', b.live)).body.name).toBe("B's own")
    expect((await reset({}, b.test)).status).toBe(200)
    expect((await reset({}, b.live)).status).toBe(200)
    expect(await world.inbox(ADA, 'test')).toHaveLength(1)
  })

  it('an account with a line that is not simulated is refused', async () => {
    const c = await world.addAccount('c@example.com', '+12025550160')
    await world.app.ctx.db.run(
      "update lines set driver = 'other' where number = '+12025550160' and network = 'live'",
    )
    world.app.ctx.directory.forget()
    const live = await reset({}, c.live)
    expect(live.status).toBe(404)
    const shared = { number: SHARED_LINE }
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const { id } = lines.find((one: Json) => one.number === shared.number && one.world === 'live')
    await world.post(`/admin/lines/${id}/members`, { account_id: c.id }, 'admin')
    const refused = await reset({}, c.live)
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toMatch(/not simulated.*test key/)
    expect((await reset({}, c.test)).status).toBe(200)
  })

  it('refuses what it does not know, and confined tokens', async () => {
    for (const body of [{ keep: 'webhooks' }, { keep: ['phones'] }, { keep: [7] }, [], 7])
      expect((await reset(body)).status).toBe(400)
    const token = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body.token
    expect((await reset({}, { token })).status).toBe(403)
    expect((await reset({}, null)).status).toBe(401)
    expect((await reset({}, 'admin')).status).toBe(403)
  })
})
