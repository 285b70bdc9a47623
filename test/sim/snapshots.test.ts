import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { populate } from '../support/populate.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

describe.each(ENGINES)('saved worlds on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  const save = async (name: string, as: Who = 'live') => {
    const reply = await world.post('/sim/snapshots', { name }, as)
    expect([reply.status, reply.body.name]).toEqual([201, name])
  }
  const load = async (name: string, body: Json = {}, as: Who = 'live') => {
    const reply = await world.post(`/sim/snapshots/${name}/load`, body, as)
    expect([reply.status, reply.body.name ?? reply.body]).toEqual([200, name])
  }
  const reset = () => world.post('/sim/reset', {})
  /** Everything the account can see of its world. */
  const seen = async (as: Who = 'live') => {
    const paths = [
      '/api/v2/messages?limit=1000',
      '/api/v2/contacts?limit=100',
      '/sim/phones',
      `/sim/phones/${ADA}/inbox?limit=1000`,
      '/sim/groups',
      '/api/v2/totp/secrets',
      '/api/v2/verify/services',
      '/api/account/webhooks',
      '/v3/scheduled-messages',
      '/sim/calls',
      `/api/location?from_number=${encodeURIComponent(LINE)}`,
      '/sim/faults',
    ]
    return Promise.all(paths.map(async (path) => [path, (await world.get(path, as)).body]))
  }

  it('is again as it was saved, to the last thing', async () => {
    await populate(world, LINE, sink.url)
    await world.call('PUT', '/sim/faults/receipt-lost', { body: { count: 3 } })
    await world.advance(3_600_000)
    await save('full')
    const before = await seen()
    const [code] = (before.find(([path]) => path === '/api/v2/totp/secrets')![1] as Json).data ?? []
    await reset()
    await world.text(ADA, 'Another world')
    await world.advance(1000)
    expect(await seen()).not.toEqual(before)
    await load('full')
    expect(await seen()).toEqual(before)
    if (code) expect((await world.get(`/api/v2/totp/code/${code.id}`)).status).toBe(200)
    // It lives: nothing is sent again, and new things have numbers of their own.
    await world.advance(3_600_000)
    const after = await seen()
    expect(after[0]).toEqual(before[0])
    expect(after[3]).toEqual(before[3])
    await world.call('DELETE', '/sim/faults')
    const { message_handle: handle } = await world.send({ number: '+12025557555' })
    await world.advance(1000)
    expect((await world.status(handle)).status).toBe('DELIVERED')
    await load('full')
    expect(await seen()).toEqual(before)
  })

  it('event numbers go on, and the first says where from', async () => {
    await reset()
    await save('empty')
    await world.send()
    await world.advance(1000)
    const last = (await world.events()).at(-1)!.seq
    await load('empty')
    expect(await world.events()).toMatchObject([
      { seq: last + 1, type: 'world.reset', data: { snapshot: 'empty' } },
    ])
  })

  it('what was under way when it was saved is taken up as after a restart', async () => {
    await reset()
    const numbers = ['+12025557601', '+12025557602', '+12025557603']
    await world.call('PUT', '/sim/faults/accept-then-hang', { body: { phone: numbers[0] } })
    await world.call('PUT', '/sim/faults/hang', { body: { phone: numbers[1] } })
    const sends = [
      await world.send({ number: numbers[0] }),
      await world.send({ number: numbers[1] }),
      await world.send({
        number: numbers[2],
        send_at: new Date(world.app.ctx.clock.now() + 600_000).toISOString(),
      }),
    ]
    await world.settle()
    await world.call('DELETE', '/sim/faults')
    // One is on the wire and on the phone, one on the wire and nowhere, one waits for its time.
    await save('under-way')
    await world.advance(3_600_000)
    for (let again = 0; again < 2; again++) {
      for (const number of numbers) expect(await world.inbox(number)).toHaveLength(1)
      for (const { message_handle } of sends)
        expect((await world.status(message_handle)).status).toBe('DELIVERED')
      await load('under-way')
      await world.advance(3_600_000)
    }
  })

  it('webhooks that waited are called off, and those that were posted are not posted again', async () => {
    await reset()
    const url = `${sink.url}/${engine}`
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: { receive: [url] } } })
    await world.text(ADA, 'Posted')
    await world.advance(1000)
    sink.answer(() => 500)
    await world.text(ADA, 'Waiting')
    await world.advance(1000)
    await save('hooks')
    sink.answer(() => 200)
    await world.advance(3_600_000)
    const posted = () => sink.received.filter(({ path }) => path === `/${engine}`).length
    const before = posted()
    await load('hooks')
    await world.advance(30 * 86_400_000)
    expect(posted()).toBe(before)
    const states = (await world.get('/v3/webhook-deliveries')).body.data.map(({ status }: Json) => status)
    expect(states.sort()).toEqual(['canceled', 'delivered'])
    await world.text(ADA, 'New')
    await world.advance(1000)
    expect(posted()).toBe(before + 1)
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: { receive: [`${url}/now`] } } })
    await load('hooks', { keep: ['webhooks'] })
    expect((await world.get('/api/account/webhooks')).body.webhooks.receive).toEqual([`${url}/now`])
    await load('hooks')
    expect((await world.get('/api/account/webhooks')).body.webhooks.receive).toEqual([url])
  })

  it('what was under way when it is loaded has no consequences', async () => {
    await reset()
    await world.send({ content: 'Saved', number: '+12025557700' })
    await world.advance(1000)
    await save('calm')
    const before = await seen()
    for (const turns of [0, 1, 3, 6]) {
      const numbers = Array.from({ length: 10 }, (_, i) => `+1202555${7710 + i}`)
      await Promise.all(numbers.map((number) => world.send({ number })))
      await world.text(ADA, 'Hello')
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      await load('calm')
      await world.advance(3_600_000)
      expect(await seen()).toEqual(before)
    }
  })

  it('survives a restart and is of one account alone', async () => {
    await reset()
    await world.send({ content: 'Kept' })
    await world.advance(1000)
    await save('kept')
    await reset()
    await world.restart()
    expect((await world.get('/sim/snapshots')).body.data.map(({ name }: Json) => name)).toContain('kept')
    expect((await world.get('/sim/snapshots', 'test')).body.data).toEqual([])
    const foreign = await world.post('/sim/snapshots/kept/load', {}, 'test')
    const absent = await world.post('/sim/snapshots/none/load', {}, 'test')
    expect([foreign.status, absent.status]).toEqual([404, 404])
    await world.send({ content: 'Of the test world' }, 'test')
    await world.advance(1000)
    const test = await seen('test')
    await load('kept')
    expect((await world.inbox(ADA)).map(({ content }) => content)).toEqual(['Kept'])
    expect(await seen('test')).toEqual(test)
  })

  it('one of the same name is replaced, also by two at once; a deleted one is gone', async () => {
    await reset()
    await Promise.all([save('twice'), save('twice')])
    await world.send()
    await save('twice')
    const { data } = (await world.get('/sim/snapshots')).body
    expect(data.filter(({ name }: Json) => name === 'twice')).toHaveLength(1)
    expect((await world.call('DELETE', '/sim/snapshots/twice')).status).toBe(200)
    expect((await world.call('DELETE', '/sim/snapshots/twice')).status).toBe(404)
    expect((await world.post('/sim/snapshots/twice/load', {})).status).toBe(404)
  })

  it('many at once are saved one after the other, and hold up nobody', async () => {
    const since = performance.now()
    const replies = await Promise.all([
      ...Array.from({ length: 15 }, (_, i) => world.post('/sim/snapshots', { name: `at-once-${i % 3}` })),
      world.get('/sim/snapshots'),
      world.get('/api/v2/messages?limit=10'),
    ])
    expect(replies.map(({ status }) => status)).toEqual([...Array(15).fill(201), 200, 200])
    expect(performance.now() - since).toBeLessThan(5000)
    const names = (await world.get('/sim/snapshots')).body.data.map(({ name }: Json) => name)
    expect(names.filter((name: string) => name.startsWith('at-once')).sort()).toEqual(
      [0, 1, 2].map((i) => `at-once-${i}`),
    )
  })

  it('refuses one of another version, and what is no name', async () => {
    await save('old')
    await world.app.ctx.db.run("update sim_snapshots set schema_name = '1 0001' where name = 'old'")
    const reply = await world.post('/sim/snapshots/old/load', {})
    expect([reply.status, reply.body.error.message]).toEqual([409, expect.stringMatching(/another version/)])
    for (const body of [{}, { name: '' }, { name: 'a b' }, { name: 7 }, { name: 'x'.repeat(65) }])
      expect((await world.post('/sim/snapshots', body)).status).toBe(400)
    expect((await world.post('/sim/snapshots/old/load', { keep: ['phones'] })).status).toBe(400)
    const { token } = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    expect((await world.post('/sim/snapshots', { name: 'x' }, { token })).status).toBe(403)
    expect((await world.get('/sim/snapshots', null)).status).toBe(401)
  })
})
