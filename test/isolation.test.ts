import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../src/services/world.js'
import {
  ADA,
  BOB,
  createWorld,
  credentials,
  ENGINES,
  type Json,
  LINE,
  type Reply,
  SHARED_LINE,
  type Who,
  type World,
} from './support/world.js'

const B_LINE = '+12025550150'
const NO_LINE = '+12025550159'
const NO_HANDLE = '00000000-0000-4000-8000-000000000000'
const { live, test, admin } = DEFAULT_WORLD.keys

describe.each(ENGINES)('two accounts on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let bHandle: string
  let bInbound: string
  let bSeat: Json
  let aHandle: string
  let aTestHandle: string

  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const seat = { account_id: b.id, email: 'seat-canary@example.com', subject: 'subject-canary' }
    bSeat = (await world.post('/admin/seats', seat, 'admin')).body
    aHandle = (await world.send({ content: 'alpha-canary' })).message_handle
    aTestHandle = (await world.send({ content: 'alpha-test-canary' }, 'test')).message_handle
    bHandle = (await world.send({ from_number: B_LINE, content: 'beta-canary', seat_id: bSeat.id }, b.live)).message_handle
    await world.text(ADA, 'beta-inbound-canary', { to: B_LINE }, b.live)
    await world.advance(1000)
    bInbound = (await world.get('/api/v2/messages?is_outbound=false', b.live)).body.data[0].message_handle
  })
  afterAll(() => world.close())

  /** Both answers, with the value that was asked for taken out. */
  const compare = async (ask: (value: string) => Promise<Reply>, others: string, absent: string) => {
    const plain = async (value: string) => {
      const { status, body } = await ask(value)
      return { status, body: JSON.stringify(body).replaceAll(value, '<asked>') }
    }
    const answer = await plain(absent)
    expect(await plain(others)).toEqual(answer)
    return answer.status
  }

  it("another account's things answer as absent ones do", async () => {
    const send = (fields: Json) => world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'x', ...fields })
    expect(await compare((from_number) => send({ from_number }), B_LINE, NO_LINE)).toBe(400)
    expect(await compare((seat_id) => send({ seat_id }), bSeat.id, NO_HANDLE)).toBe(400)
    expect(await compare((seat_id) => send({ seat_id }), bSeat.subject, 'nobody')).toBe(400)
    for (const handle of [bHandle, bInbound, aTestHandle]) {
      expect(await compare((value) => send({ reply_to: { message_handle: value } }), handle, NO_HANDLE)).toBe(400)
      expect(await compare((value) => world.get(`/api/status?handle=${value}`), handle, NO_HANDLE)).toBe(404)
      expect(await compare((value) => world.get(`/api/status?message_handle=${value}`), handle, NO_HANDLE)).toBe(404)
      expect(await compare((value) => world.get(`/api/v2/messages/${value}`), handle, NO_HANDLE)).toBe(404)
    }
    const text = (to: string) => world.post(`/sim/phones/${ADA}/messages`, { to, content: 'x' })
    expect(await compare(text, B_LINE, NO_LINE)).toBe(400)
  })

  it('filters by what belongs to another account find nothing', async () => {
    for (const filter of ['number', 'from_number', 'to_number', 'sendblue_number']) {
      const ask = (number: string) => world.get(`/api/v2/messages?${filter}=${encodeURIComponent(number)}`)
      expect(await compare(ask, B_LINE, NO_LINE)).toBe(200)
    }
    expect(await compare((email) => world.get(`/api/v2/messages?account_email=${email}`), 'b@example.com', 'c@example.com')).toBe(200)
  })

  it('nothing an account can read shows the other, in either direction', async () => {
    const read = async (as: Who) => {
      const paths = ['/api/v2/messages?limit=1000', '/sim/phones', `/sim/phones/${ADA}/inbox`, `/sim/phones/${BOB}/inbox`]
      return JSON.stringify(await Promise.all(paths.map(async (path) => (await world.get(path, as)).body)))
    }
    const canaries = { 'alpha-canary': 'live', 'alpha-test-canary': 'test', 'beta-canary': 'b', 'beta-inbound-canary': 'b' }
    const shown = { live: await read('live'), test: await read('test'), b: await read(b.live), bTest: await read(b.test) }
    for (const [canary, owner] of Object.entries(canaries)) {
      for (const [who, text] of Object.entries(shown)) expect([who, canary, text.includes(canary)]).toEqual([who, canary, who === owner])
    }
    expect(shown.live).not.toMatch(new RegExp([bHandle, bInbound, aTestHandle, b.id, 'b@example.com', 'seat-canary'].join('|')))
  })

  it("reading a phone does not read another account's messages", async () => {
    await world.send({ number: BOB, from_number: B_LINE }, b.live)
    await world.advance(1000)
    expect((await world.post(`/sim/phones/${BOB}/read`, undefined)).body).toEqual({ read: 0 })
    expect((await world.post(`/sim/phones/${BOB}/read`, undefined, b.live)).body).toEqual({ read: 1 })
  })

  it('totals and pages count only the own', async () => {
    for (const [who, total] of [['live', 1], ['test', 1], [b.test, 0]] as const) {
      expect((await world.get('/api/v2/messages', who)).body.pagination.total).toBe(total)
    }
  })

  it('a test key works in a world of its own', async () => {
    expect((await world.get(`/api/status?handle=${aTestHandle}`, 'test')).status).toBe(200)
    expect(await compare((handle) => world.get(`/api/status?handle=${handle}`, 'test'), aHandle, NO_HANDLE)).toBe(404)
    expect((await world.inbox(ADA, 'test')).map((message) => message.content)).toEqual(['alpha-test-canary'])
    await world.setPhone(ADA, { name: 'Only in the test world' }, 'test')
    expect((await world.get(`/sim/phones/${ADA}`)).body.name).toBe('Ada')
    expect((await world.get(`/sim/phones/${ADA}`, b.test)).status).toBe(404)
  })

  it('an admin sees all of it and filters by line or account', async () => {
    const contents = async (query: string) =>
      (await world.get(`/api/v2/messages?${query}`, 'admin')).body.data.map((message: Json) => message.content)
    const all = await contents('limit=1000')
    for (const canary of ['alpha-canary', 'alpha-test-canary', 'beta-canary', 'beta-inbound-canary']) expect(all).toContain(canary)
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const idOf = (number: string, world: string) => lines.find((line: Json) => line.number === number && line.world === world).id
    expect(await contents(`worker_id=${idOf(LINE, 'live')}`)).toEqual(['alpha-canary'])
    expect(await contents(`worker_id=${idOf(SHARED_LINE, 'live')}`)).toEqual([])
    expect(await contents(`worker_id=${idOf(B_LINE, 'live')}&is_outbound=false`)).toEqual(['beta-inbound-canary'])
    expect(await contents('account_email=b@example.com&is_outbound=false')).toEqual(['beta-inbound-canary'])
    expect((await world.get(`/api/status?handle=${bHandle}`, 'admin')).body).toMatchObject({ account_email: 'b@example.com' })
    expect((await world.get(`/api/v2/messages/${aTestHandle}`, 'admin')).status).toBe(200)
  })

  it('an admin key sends nothing, and no other key administers', async () => {
    expect((await world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'x' }, 'admin')).status).toBe(403)
    expect((await world.get('/sim/phones', 'admin')).status).toBe(403)
    const routes = ['accounts', 'keys', 'lines', 'seats'].flatMap((name) => [`GET /admin/${name}`, `POST /admin/${name}`, `GET /admin/${name}/x`, `DELETE /admin/${name}/x`])
    for (const route of [...routes, 'PATCH /admin/lines/x', 'POST /admin/lines/x/members']) {
      for (const as of ['live', 'test', b.live] as Who[]) {
        const [method, path] = route.split(' ') as [string, string]
        const reply = await world.call(method, path, { as, ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }) })
        expect([route, reply.status, reply.body.error?.code]).toEqual([route, 403, 'forbidden'])
      }
    }
  })
})

describe.each(ENGINES)('credentials on %s', (engine) => {
  let world: World
  afterEach(() => world.close())

  it('all that are not right get one and the same answer', async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '1000' } })
    const b = await world.addAccount('b@example.com', B_LINE)
    const pair = (id: string, secret: string) => ({ 'sb-api-key-id': id, 'sb-api-secret-key': secret })
    const wrong: Record<string, string>[] = [
      {},
      { 'sb-api-key-id': live.id },
      { 'sb-api-secret-key': live.secret },
      pair('', ''),
      pair(live.id, ''),
      pair('', live.secret),
      pair(live.id, 'wrong'),
      pair('nobody', live.secret),
      pair(live.id, b.live.secret),
      pair(b.live.id, live.secret),
      pair(live.id, test.secret),
      pair(live.id, admin.secret),
      pair(live.id.toUpperCase(), live.secret),
      pair(live.id, live.secret.slice(0, -1)),
      pair(live.id, `${live.secret}x`),
      pair(live.id, `${live.secret}, ${live.secret}`),
      pair(live.id, 'x'.repeat(10_000)),
      pair('x'.repeat(10_000), live.secret),
      pair("' or 1=1 --", "' or 1=1 --"),
      pair('%', '%'),
      pair('__proto__', '__proto__'),
      pair(live.secret, live.id),
      { authorization: `Bearer ${live.secret}` },
      { authorization: `Basic ${Buffer.from(`${live.id}:${live.secret}`).toString('base64')}` },
    ]
    const routes = ['GET /api/v2/messages', 'GET /api/v2/messages/x', 'GET /api/status?handle=x', 'POST /api/send-message', 'GET /admin/keys', 'POST /admin/accounts', 'GET /sim/phones', 'POST /sim/clock']
    for (const route of routes) {
      const [method, path] = route.split(' ') as [string, string]
      for (const headers of wrong) {
        const body = method === 'POST' ? { body: 'not even JSON' } : {}
        const reply = await world.call(method, path, { as: null, headers, ...body })
        const expected = path.startsWith('/api') ? { status: 'ERROR', message: 'Unauthorized' } : { error: { code: 'unauthorized', message: 'Unauthorized' } }
        expect([route, headers, reply.status, reply.body]).toEqual([route, headers, 401, expected])
      }
    }
    const inQuery = await world.get(`/api/v2/messages?sb-api-key-id=${live.id}&sb-api-secret-key=${live.secret}`, null)
    expect(inQuery.status).toBe(401)
    for (const name of ['sb-api-key-id', 'sb-api-secret-key']) {
      const right = credentials('live')
      expect(await twice(world, { ...right, [name]: [right[name]!, right[name]!] })).toEqual([401, { status: 'ERROR', message: 'Unauthorized' }])
    }
    expect((await twice(world, credentials('live')))[0]).toBe(200)
  })

  it('failed attempts are held back by source, right ones pass', async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '5' } })
    const guess = (path = '/api/v2/messages', headers = {}) => world.call('GET', path, { as: { id: live.id, secret: 'guess' }, headers })
    for (let i = 0; i < 5; i++) expect((await guess()).status).toBe(401)
    const held = await guess()
    expect(held).toMatchObject({ status: 429, body: { status: 'ERROR', error_code: 4001 } })
    expect(Number(held.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(held.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(await guess('/admin/keys')).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect((await guess('/api/v2/messages', { 'x-forwarded-for': '192.0.2.7' })).status).toBe(429)
    expect((await world.get('/api/v2/messages')).status).toBe(200)
    expect((await world.get('/admin/keys', 'admin')).status).toBe(200)
    const elsewhere = await world.app.server.inject({ url: '/api/v2/messages', remoteAddress: '192.0.2.8' })
    expect(elsewhere.statusCode).toBe(401)
  })

  it('a revoked key, and the keys of a removed account, are dead at once', async () => {
    world = await createWorld(engine)
    const b = await world.addAccount('b@example.com', B_LINE)
    expect((await world.get('/api/v2/messages', b.live)).status).toBe(200)
    expect((await world.call('DELETE', `/admin/keys/${b.live.id}`, { as: 'admin' })).status).toBe(200)
    expect(await world.get('/api/v2/messages', b.live)).toMatchObject({ status: 401, body: { message: 'Unauthorized' } })
    expect((await world.send({ from_number: B_LINE }, b.live)).message).toBe('Unauthorized')
    expect((await world.get('/api/v2/messages', b.test)).status).toBe(200)
    expect((await world.call('DELETE', `/admin/accounts/${b.id}`, { as: 'admin' })).status).toBe(204)
    expect((await world.get('/api/v2/messages', b.test)).status).toBe(401)
    expect((await world.get('/api/v2/messages')).status).toBe(200)
  })

  it('logs name no secret, no content and no full number', async () => {
    world = await createWorld(engine)
    const b = await world.addAccount('b@example.com', B_LINE)
    await world.send({ content: 'content-canary', media_url: 'https://example.com/canary.jpg' })
    await world.send({ content: 'content-canary', number: 'number-canary' })
    await world.send({ from_number: NO_LINE, content: 'content-canary' }, b.live)
    await world.text(ADA, 'content-canary')
    await world.call('GET', `/api/v2/messages?number=${encodeURIComponent(BOB)}`, { as: { id: live.id, secret: 'secret-canary' } })
    await world.advance(5000)
    await world.restart()
    // A fault of our own: the answer is bare, the log has the reason, and neither has what the caller sent.
    await world.app.ctx.db.run('drop table seats')
    const broken = await world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'content-canary', seat_id: 'seat-canary' })
    expect(broken).toMatchObject({ status: 500, body: { status: 'ERROR', error_code: 5000 } })
    expect(JSON.stringify(broken.body)).not.toMatch(/seats|canary|select/)
    const logs = world.logs.join('\n')
    expect(logs).toContain('request failed')
    expect(logs).toContain('/api/send-message')
    for (const hidden of ['canary', live.secret, admin.secret, b.live.secret, b.test.secret, LINE, ADA, BOB, B_LINE, NO_LINE]) {
      expect([hidden, logs.includes(hidden.replace('+', ''))]).toEqual([hidden, false])
    }
  })
})

/** A list over a real connection: there a header can come twice. */
function twice(world: World, headers: Record<string, string | string[]>): Promise<[number, Json]> {
  return new Promise((resolve, reject) => {
    const sent = request(`${world.app.url()}/api/v2/messages`, { headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve([response.statusCode!, JSON.parse(text)]))
    })
    sent.on('error', reject).end()
  })
}
