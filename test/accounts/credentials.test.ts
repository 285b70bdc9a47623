import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { dumpOf } from '../support/dump.js'
import { ADA, BOB, createWorld, credentials, ENGINES, type Json, LINE, type World } from '../support/world.js'

const B_LINE = '+12025550150'
const NO_LINE = '+12025550159'
const { live, test, admin } = DEFAULT_WORLD.keys

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
    const routes = [
      'GET /api/v2/messages',
      'GET /api/v2/messages/x',
      'GET /api/status?handle=x',
      'POST /api/send-message',
      'GET /admin/keys',
      'POST /admin/accounts',
      'GET /sim/phones',
      'POST /sim/clock',
    ]
    for (const route of routes) {
      const [method, path] = route.split(' ') as [string, string]
      for (const headers of wrong) {
        const body = method === 'POST' ? { body: 'not even JSON' } : {}
        const reply = await world.call(method, path, { as: null, headers, ...body })
        const expected = path.startsWith('/api')
          ? { status: 'ERROR', message: 'Unauthorized' }
          : {
              error: { code: 'unauthorized', message: 'Unauthorized' },
              error_url: expect.stringMatching(/\/docs\/errors#unauthorized$/),
            }
        expect([route, headers, reply.status, reply.body]).toEqual([route, headers, 401, expected])
      }
    }
    const inQuery = await world.get(
      `/api/v2/messages?sb-api-key-id=${live.id}&sb-api-secret-key=${live.secret}`,
      null,
    )
    expect(inQuery.status).toBe(401)
    for (const name of ['sb-api-key-id', 'sb-api-secret-key']) {
      const right = credentials('live')
      expect(await twice(world, { ...right, [name]: [right[name]!, right[name]!] })).toEqual([
        401,
        { status: 'ERROR', message: 'Unauthorized' },
      ])
    }
    expect((await twice(world, credentials('live')))[0]).toBe(200)
  })

  it('failed attempts are held back by source, right ones pass', async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '5' } })
    const guess = (path = '/api/v2/messages', headers = {}) =>
      world.call('GET', path, { as: { id: live.id, secret: 'guess' }, headers })
    for (let i = 0; i < 5; i++) expect((await guess()).status).toBe(401)
    const held = await guess()
    expect(held).toMatchObject({ status: 429, body: { status: 'ERROR', error_code: 4001 } })
    expect(Number(held.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(held.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(await guess('/admin/keys')).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limited' } },
    })
    expect((await guess('/api/v2/messages', { 'x-forwarded-for': '192.0.2.7' })).status).toBe(429)
    expect((await world.get('/api/v2/messages')).status).toBe(200)
    expect((await world.get('/admin/keys', 'admin')).status).toBe(200)
    const elsewhere = await world.app.server.inject({ url: '/api/v2/messages', remoteAddress: '192.0.2.8' })
    expect(elsewhere.statusCode).toBe(401)
  })

  it('a revoked key, and the keys of a removed account, are dead at once', async () => {
    world = await createWorld(engine)
    const b = await world.addAccount('b@example.com', B_LINE)
    const rows = await dumpOf(world.app)
    // Stored as hashes only.
    for (const { secret } of [b.live, b.test]) expect(rows).not.toContain(secret)
    expect((await world.get('/api/v2/messages', b.live)).status).toBe(200)
    expect((await world.call('DELETE', `/admin/keys/${b.live.id}`, { as: 'admin' })).status).toBe(200)
    expect(await world.get('/api/v2/messages', b.live)).toMatchObject({
      status: 401,
      body: { message: 'Unauthorized' },
    })
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
    await world.call('GET', `/api/v2/messages?number=${encodeURIComponent(BOB)}`, {
      as: { id: live.id, secret: 'secret-canary' },
    })
    await world.advance(5000)
    await world.restart()
    // A fault of our own: the answer is bare, the log has the reason, and neither has what the caller sent.
    await world.app.ctx.db.run('drop table seats')
    const broken = await world.post('/api/send-message', {
      from_number: LINE,
      number: ADA,
      content: 'content-canary',
      seat_id: 'seat-canary',
    })
    expect(broken).toMatchObject({ status: 500, body: { status: 'ERROR', error_code: 5000 } })
    expect(JSON.stringify(broken.body)).not.toMatch(/seats|canary|select/)
    const logs = world.logs.join('\n')
    expect(logs).toContain('request failed')
    expect(logs).toContain('/api/send-message')
    for (const hidden of [
      'canary',
      live.secret,
      admin.secret,
      b.live.secret,
      b.test.secret,
      LINE,
      ADA,
      BOB,
      B_LINE,
      NO_LINE,
    ]) {
      expect([hidden, logs.includes(hidden.replace('+', ''))]).toEqual([hidden, false])
    }
  })
})

/** A list over a real connection: there a header can come twice. */
function twice(world: World, headers: Record<string, string | string[]>): Promise<[number, Json]> {
  return new Promise((resolve, reject) => {
    const sent = request(`${world.app.url()}/api/v2/messages`, { headers, agent: false }, (response) => {
      let text = ''
      response
        .on('data', (chunk) => (text += chunk))
        .on('end', () => resolve([response.statusCode!, JSON.parse(text)]))
    })
    sent.on('error', reject).end()
  })
}
