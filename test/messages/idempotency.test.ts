import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const body = { from_number: LINE, number: ADA, content: 'Hello' }
const MINUTE = 60_000

describe.each(ENGINES)('repeated requests on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  beforeEach(() => world.reset())
  afterAll(() => world.close())

  const send = (headers: Record<string, string>, fields: Json = {}, as?: Who) =>
    world.post('/api/send-message', { ...body, ...fields }, as, headers)
  const key = (name: string) => ({ 'idempotency-key': name })
  const retry = (count: string) => ({ 'x-stainless-retry-count': count })
  const total = async (as?: Who) => (await world.get('/api/v2/messages?limit=1', as)).body.pagination.total

  it('the same key and body get the first answer, also when time has passed and the message has moved on', async () => {
    const first = await send(key('one'))
    expect(first.status).toBe(202)
    expect(first.headers).not.toHaveProperty('x-idempotent-replay')
    for (const wait of [0, 5000, 30 * MINUTE]) {
      await world.advance(wait)
      const again = await send(key('one'))
      expect(again).toMatchObject({ status: 202, headers: { 'x-idempotent-replay': 'true' } })
      expect(again.body).toEqual(first.body)
    }
    expect((await world.status(first.body.message_handle)).status).toBe('DELIVERED')
    expect(await world.inbox(ADA)).toHaveLength(1)
    expect(await total()).toBe(1)
  })

  it('a key survives a restart', async () => {
    const first = await send(key('one'))
    await world.restart()
    expect((await send(key('one'))).body).toEqual(first.body)
    expect(await total()).toBe(1)
  })

  it('the same key with another body is refused', async () => {
    await send(key('one'))
    const other = await send(key('one'), { content: 'Other' })
    expect(other).toMatchObject({
      status: 422,
      body: { status: 'ERROR', error_code: 4000 },
      headers: { 'x-should-retry': 'false' },
    })
    expect(other.body.message).toContain('Idempotency-Key')
    expect(await total()).toBe(1)
    expect((await send(key('two'), { content: 'Other' })).status).toBe(202)
  })

  it('a refused request does not use up its key', async () => {
    expect((await send(key('one'), { number: 'nonsense' })).status).toBe(400)
    expect((await send(key('one'), { from_number: '+12025550177' })).status).toBe(400)
    const good = await send(key('one'))
    expect(good.status).toBe(202)
    expect(good.headers).not.toHaveProperty('x-idempotent-replay')
  })

  it('keys belong to their account and world', async () => {
    const b = await world.addAccount('b@example.com', '+12025550150')
    const handles = [
      (await send(key('one'))).body.message_handle,
      (await send(key('one'), {}, 'test')).body.message_handle,
      (await send(key('one'), { from_number: '+12025550150' }, b.live)).body.message_handle,
    ]
    expect(handles.every((handle) => typeof handle === 'string')).toBe(true)
    expect(new Set(handles).size).toBe(3)
  })

  it('requests with one key at the same time make one message', async () => {
    const replies = await Promise.all(Array.from({ length: 40 }, () => send(key('one'))))
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([202]))
    expect(new Set(replies.map((reply) => reply.body.message_handle)).size).toBe(1)
    expect(replies.filter((reply) => reply.headers['x-idempotent-replay'] === undefined)).toHaveLength(1)
    expect(await total()).toBe(1)
    await world.advance(1000)
    expect(await world.inbox(ADA)).toHaveLength(1)
  })

  it('of two bodies under one key at the same time one is taken, and neighbours do not suffer', async () => {
    const contested = Array.from({ length: 20 }, (_, i) =>
      send(key('one'), { content: i % 2 === 0 ? 'even' : 'odd' }),
    )
    const neighbours = Array.from({ length: 20 }, (_, i) => send({}, { number: BOB, content: `${i}` }))
    const replies = await Promise.all(contested)
    const taken = replies.filter((reply) => reply.status === 202)
    expect(taken).toHaveLength(10)
    expect(new Set(taken.map((reply) => reply.body.message_handle)).size).toBe(1)
    expect(replies.filter((reply) => reply.status === 422)).toHaveLength(10)
    for (const reply of await Promise.all(neighbours)) expect(reply.status).toBe(202)
    expect(await total()).toBe(21)
  })

  it.each([
    ['empty', '', 400],
    ['of 256 characters', 'x'.repeat(256), 400],
    ['with a space', 'a b', 400],
    ['with a tab', 'a\tb', 400],
    ['beyond ASCII', 'schlüssel', 400],
    ['of 255 characters', 'x'.repeat(255), 202],
    ['of SQL', "'--%_", 202],
    ['that looks like one of ours', '#AAAAAAAAAAAAAAAAAAAAAA', 202],
  ])('a key %s', async (_name, name, status) => {
    expect((await send(key(name))).status).toBe(status)
    expect(await total()).toBe(status === 202 ? 1 : 0)
  })

  it("the published client's own retries get the first answer for 10 minutes", async () => {
    const first = await send(retry('0'))
    await world.advance(2000)
    for (const count of ['1', '2']) {
      const again = await send(retry(count))
      expect(again).toMatchObject({ status: 202, headers: { 'x-idempotent-replay': 'true' } })
      expect(again.body).toEqual(first.body)
    }
    await world.advance(9 * MINUTE)
    expect((await send(retry('1'))).body.message_handle).toBe(first.body.message_handle)
    expect(await total()).toBe(1)
    await world.advance(2 * MINUTE)
    const late = await send(retry('1'))
    expect(late.headers).not.toHaveProperty('x-idempotent-replay')
    expect(late.body.message_handle).not.toBe(first.body.message_handle)
    expect(await total()).toBe(2)
  })

  it('a retry repeats only its own request', async () => {
    await send({})
    expect((await send(retry('1'), { content: 'Other' })).headers).not.toHaveProperty('x-idempotent-replay')
    expect((await send(retry('1'), { number: BOB })).headers).not.toHaveProperty('x-idempotent-replay')
    expect((await send(retry('1'), {}, 'test')).headers).not.toHaveProperty('x-idempotent-replay')
    expect([await total(), await total('test')]).toEqual([3, 1])
  })

  it('a retry of which the first try never arrived is a first request', async () => {
    const first = await send(retry('1'))
    expect(first.status).toBe(202)
    expect(first.headers).not.toHaveProperty('x-idempotent-replay')
    expect((await send(retry('2'))).body).toEqual(first.body)
    expect(await total()).toBe(1)
  })

  it.each(['0', '-1', '1.5', 'abc', '', 'Infinity'])(
    'a retry count of "%s" counts as none',
    async (count) => {
      await send({})
      expect((await send(retry(count))).headers).not.toHaveProperty('x-idempotent-replay')
      expect(await total()).toBe(2)
    },
  )

  it('two equal sends without either are two messages, also at the same time', async () => {
    const replies = await Promise.all([send({}), send({})])
    expect(new Set(replies.map((reply) => reply.body.message_handle)).size).toBe(2)
    expect(await total()).toBe(2)
    await world.advance(1000)
    expect(await world.inbox(ADA)).toHaveLength(2)
  })

  describe('for operators', () => {
    const create = (path: string, fields: Json, headers: Record<string, string>) =>
      world.post(path, fields, 'admin', headers)
    // A reset leaves what operators made: each test has an address and a key of its own.
    let test = 0
    let email: string
    let own: Record<string, string>
    beforeEach(() => {
      test++
      email = `new-${test}@example.com`
      own = key(`operator-${test}`)
    })
    const accounts = async () => (await world.get('/admin/accounts', 'admin')).body.data.length

    it('an account is made once per key', async () => {
      const before = await accounts()
      const first = await create('/admin/accounts', { email }, own)
      expect(first.status).toBe(201)
      const again = await create('/admin/accounts', { email }, own)
      expect(again).toMatchObject({ status: 201, headers: { 'x-idempotent-replay': 'true' } })
      expect(again.body).toEqual(first.body)
      const other = await create('/admin/accounts', { email: `other-${email}` }, own)
      expect(other).toMatchObject({ status: 422, body: { error: { code: 'idempotency_mismatch' } } })
      expect((await create('/admin/accounts', { email }, {})).status).toBe(409)
      expect(await accounts()).toBe(before + 1)
    })

    it('also when the requests come at the same time', async () => {
      const before = await accounts()
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => create('/admin/accounts', { email }, own)),
      )
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([201]))
      expect(new Set(replies.map((reply) => reply.body.id)).size).toBe(1)
      expect(await accounts()).toBe(before + 1)
    })

    it('a retry of the published client gets the first answer', async () => {
      const first = await create('/admin/accounts', { email }, {})
      const again = await create('/admin/accounts', { email }, retry('1'))
      expect(again).toMatchObject({ status: 201, body: first.body })
      await world.advance(11 * MINUTE)
      expect((await create('/admin/accounts', { email }, retry('1'))).status).toBe(409)
    })

    it('a key and its repeat are one key, whose secret is shown once', async () => {
      const accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
      for (const headers of [own, retry('1')]) {
        const first = await create(
          '/admin/keys',
          { account_id: accountId, label: JSON.stringify(headers) },
          headers,
        )
        expect(first.body.secret).toMatch(/^tls_\w{49}$/)
        const again = await create(
          '/admin/keys',
          { account_id: accountId, label: JSON.stringify(headers) },
          headers,
        )
        const { secret, ...rest } = first.body
        expect(again).toMatchObject({ status: 201, headers: { 'x-idempotent-replay': 'true' } })
        expect(again.body).toEqual(rest)
        expect((await world.get('/api/v2/messages', { id: rest.id, secret })).status).toBe(200)
        const kept = await world.app.ctx.db.all('select * from replays')
        expect(JSON.stringify(kept)).not.toContain(secret)
      }
      const keys = (await world.get(`/admin/keys?account_id=${accountId}`, 'admin')).body.data
      expect(keys).toHaveLength(4)
      expect(JSON.stringify(keys)).not.toContain('secret')
    })

    it('one key on two paths is two keys', async () => {
      const accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
      expect((await create('/admin/accounts', { email }, own)).status).toBe(201)
      expect((await create('/admin/keys', { account_id: accountId }, own)).status).toBe(201)
    })
  })

  describe('what phones do', () => {
    const twice = async (path: string, payload: Json | undefined, as?: Who) => {
      const first = await world.post(path, payload, as, key('one'))
      expect(first.status).toBeLessThan(300)
      await world.settle()
      const again = await world.post(path, payload, as, key('one'))
      expect(again).toMatchObject({ status: first.status, headers: { 'x-idempotent-replay': 'true' } })
      expect(again.body).toEqual(first.body)
      await world.settle()
      return first
    }

    it('a text from a phone arrives once', async () => {
      await twice(`/sim/phones/${ADA}/messages`, { to: LINE, content: 'Hello' })
      expect(await total()).toBe(1)
    })

    it('a phone is made once', async () => {
      await twice('/sim/phones', { number: '+12025550177', name: 'Fay' })
      await world.setPhone('+12025550177', { name: 'Gil' })
      await world.post('/sim/phones', { number: '+12025550177', name: 'Fay' }, undefined, key('one'))
      expect((await world.get('/sim/phones/+12025550177')).body.name).toBe('Gil')
    })

    it('reading counts what was unread the first time', async () => {
      await world.send({ number: ADA, content: 'Hello' })
      await world.settle()
      await world.advance(5000)
      expect((await twice(`/sim/phones/${ADA}/read`, undefined)).body).toEqual({ read: 1 })
    })

    it('time moves once', async () => {
      const { body } = await twice('/sim/clock', { advance_ms: 3_600_000, all: true }, 'admin')
      const now = Date.parse((await world.get('/sim/clock')).body.now)
      expect(Math.abs(now - Date.parse(body.now))).toBeLessThan(60_000)
    })
  })
})
