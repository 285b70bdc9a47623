import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { follow } from '../support/web/sse.js'
import { ADA, createWorld, credentials, ENGINES, type Json, type World } from '../support/world.js'

const CONSOLE = { 'x-trunkline-console': '1' }
const { live, test, admin } = DEFAULT_WORLD.keys

describe.each(ENGINES)('the session of the console on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const signIn = async (key: { id: string; secret: string }, headers: Record<string, string> = {}) => {
    const body = { key_id: key.id, secret: key.secret }
    const reply = await world.post('/console/session', body, null, { ...CONSOLE, ...headers })
    return { ...reply, cookie: String(reply.headers['set-cookie'] ?? '').split(';')[0]! }
  }
  const get = (path: string, headers: Record<string, string>) =>
    world.call('GET', path, { as: null, headers: { ...CONSOLE, ...headers } })
  const who = async (cookie: string) => (await get('/console/session', { cookie })).body
  const rows = () => world.app.ctx.db.all<Json>('select * from console_sessions order by created_at, id')

  it('says that nobody is signed in, and whether the development keys are good', async () => {
    const reply = await get('/console/session', {})
    expect(reply.status).toBe(200)
    expect(reply.headers['cache-control']).toBe('no-store')
    expect(reply.body).toMatchObject({ signed_in: false, account: null, keys: [], development: true })
  })

  it('is a hardened cookie with a secret that is stored only as a hash', async () => {
    const { status, headers, body, cookie } = await signIn(live)
    expect(status).toBe(200)
    expect(headers['set-cookie']).toMatch(
      /^trunkline_session=[0-9A-Za-z]{16}\.[0-9A-Za-z]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    expect(body).toMatchObject({
      signed_in: true,
      world: 'live',
      simulated: true,
      keys: [{ id: live.id, kind: 'live' }],
    })
    const secret = cookie.split('.')[1]!
    expect(JSON.stringify(await rows())).not.toContain(secret)
    expect(world.logs.join()).not.toContain(secret)
    expect(await who(cookie)).toMatchObject({ signed_in: true, account: { email: DEFAULT_WORLD.email } })
  })

  it('is Secure when the request came by https', async () => {
    // The development keys do not work behind a proxy.
    const own = (await world.post('/admin/keys', { kind: 'admin' }, 'admin')).body
    const { headers } = await signIn(own, { 'x-forwarded-proto': 'https' })
    expect(headers['set-cookie']).toMatch(/; Secure$/)
  })

  it('lets the cookie in as its key does', async () => {
    const { cookie } = await signIn(live)
    const lines = await get('/api/lines', { cookie })
    expect([lines.status, lines.body]).toEqual([200, (await world.get('/api/lines')).body])
    expect((await get('/admin/lines', { cookie })).status).toBe(403)
    const asTest = (await signIn(test)).cookie
    expect((await get('/console/session', { cookie: asTest })).body.world).toBe('test')
    expect((await get('/api/lines', { cookie: asTest })).status).toBe(200)
  })

  it('holds an account key and an admin key; the old cookie ends when one comes to it', async () => {
    const first = await signIn(live)
    const both = await signIn(admin, { cookie: first.cookie })
    expect(both.body.keys.map((key: Json) => key.id)).toEqual([live.id, admin.id])
    expect((await get('/api/lines', { cookie: both.cookie })).status).toBe(200)
    expect((await get('/admin/lines', { cookie: both.cookie })).status).toBe(200)
    expect((await get('/api/lines', { cookie: first.cookie })).status).toBe(401)
    const other = await signIn(test, { cookie: both.cookie })
    expect(other.body).toMatchObject({ world: 'test', keys: [{ id: test.id }, { id: admin.id }] })
  })

  it('an admin key alone has no account', async () => {
    const { cookie, body } = await signIn(admin)
    expect(body).toMatchObject({ signed_in: true, account: null, world: null, simulated: false })
    expect((await get('/admin/lines', { cookie })).status).toBe(200)
    expect((await get('/api/lines', { cookie })).status).toBe(403)
  })

  it.each([
    ['without the header', { 'x-trunkline-console': '' }],
    ['with another value of it', { 'x-trunkline-console': 'yes' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the site', { 'sec-fetch-site': 'same-site' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from a page without an origin', { origin: 'null' }],
  ])('counts for nothing %s', async (_name, headers) => {
    const { cookie } = await signIn(live)
    const ask = { as: null, headers: { ...CONSOLE, cookie, ...headers } }
    expect((await world.call('GET', '/api/lines', ask)).status).toBe(401)
    expect((await world.call('POST', '/api/send-message', { ...ask, body: {} })).status).toBe(401)
    expect((await world.call('GET', '/console/session', ask)).body.signed_in).toBe(false)
    expect((await world.call('DELETE', '/console/session', ask)).status).toBe(403)
    const body = { key_id: live.id, secret: live.secret }
    expect((await world.call('POST', '/console/session', { ...ask, body })).status).toBe(403)
    expect((await get('/api/lines', { cookie })).status).toBe(200)
  })

  it('counts from our own origin', async () => {
    const { account } = await who((await signIn(live)).cookie)
    const own = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
    const { cookie } = await signIn(own)
    const ours = {
      host: 'sms.example.com',
      origin: 'https://sms.example.com',
      'sec-fetch-site': 'same-origin',
    }
    expect((await get('/api/lines', { cookie, ...ours })).status).toBe(200)
  })

  it('gives way to credentials that the request shows', async () => {
    const { cookie } = await signIn(live)
    const wrong = { 'sb-api-key-id': live.id, 'sb-api-secret-key': 'wrong' }
    expect((await get('/api/lines', { cookie, ...wrong })).status).toBe(401)
    expect((await get('/admin/lines', { cookie, ...credentials('admin') })).status).toBe(200)
  })

  it('is none when it is wrong, came twice or is not one', async () => {
    const { cookie } = await signIn(live)
    for (const bad of [
      cookie.slice(0, -1),
      `${cookie.slice(0, -1)}${cookie.endsWith('a') ? 'b' : 'a'}`,
      `${cookie}; ${cookie}`,
      'trunkline_session=',
      'trunkline_session=x.y',
      `trunkline_session=${'x'.repeat(9000)}`,
    ]) {
      expect((await get('/api/lines', { cookie: bad })).status).toBe(401)
      expect((await who(bad)).signed_in).toBe(false)
    }
    expect((await get('/api/lines', { cookie: `a=b; ${cookie}; c=d` })).status).toBe(200)
  })

  it('refuses a wrong key as everywhere, and bad input with the field', async () => {
    const wrong = await signIn({ id: live.id, secret: 'wrong' })
    expect([wrong.status, wrong.cookie]).toEqual([401, ''])
    const unknown = await signIn({ id: 'nobody', secret: 'wrong' })
    expect(unknown.body).toEqual(wrong.body)
    for (const [body, field] of [
      [{}, 'key_id'],
      [{ key_id: live.id }, 'secret'],
      [{ key_id: 1, secret: [] }, ''],
      [{ key_id: 'x'.repeat(600), secret: 'x' }, 'key_id'],
    ] as const) {
      const reply = await world.post('/console/session', body, null, CONSOLE)
      expect([reply.status, reply.body.message]).toEqual([400, expect.stringContaining(field)])
    }
  })

  it('ends at sign-out, with the streams it has open and with no others', async () => {
    const { cookie } = await signIn(live)
    const stays = (await signIn(live)).cookie
    const streams = [cookie, stays].map((one) =>
      follow(world, '/api/v2/events', null, { ...CONSOLE, cookie: one }),
    )
    const [ends, goesOn] = await Promise.all(streams)
    expect([ends!.status, goesOn!.status]).toEqual([200, 200])
    const before = (await rows()).length
    const out = await world.call('DELETE', '/console/session', { as: null, headers: { ...CONSOLE, cookie } })
    expect(out.status).toBe(204)
    expect(out.headers['set-cookie']).toMatch(/^trunkline_session=; Path=\/; Max-Age=0; HttpOnly/)
    expect((await get('/api/lines', { cookie })).status).toBe(401)
    expect(await rows()).toHaveLength(before - 1)
    while (await ends!.next()) {}
    await world.text(ADA, 'Somebody is still here')
    let frame = await goesOn!.next()
    while (frame && frame.event === '') frame = await goesOn!.next()
    expect(frame).toMatchObject({ event: 'contact.created', data: { data: { phone: ADA } } })
    expect((await get('/api/lines', { cookie: stays })).status).toBe(200)
    goesOn!.close()
    const again = await world.call('DELETE', '/console/session', {
      as: null,
      headers: { ...CONSOLE, cookie },
    })
    expect(again.status).toBe(204)
  })

  it('dies with its key', async () => {
    const account = await world.addAccount('c@example.com', '+12025550160')
    const { cookie } = await signIn(account.live)
    expect((await get('/api/lines', { cookie })).status).toBe(200)
    const revoked = await world.call('DELETE', `/admin/keys/${account.live.id}`, { as: 'admin' })
    expect(revoked.status).toBe(200)
    expect((await get('/api/lines', { cookie })).status).toBe(401)
    expect((await who(cookie)).signed_in).toBe(false)
  })

  it("expires by the machine's clock, not by the world's", async () => {
    const { cookie } = await signIn(live)
    const id = cookie.slice('trunkline_session='.length).split('.')[0]!
    await world.advance(40 * 3_600_000)
    expect((await get('/api/lines', { cookie })).status).toBe(200)
    await world.app.ctx.db.run('update console_sessions set expires_at = $2 where id = $1', [id, Date.now()])
    world.app.ctx.directory.forget()
    expect((await get('/api/lines', { cookie })).status).toBe(401)
    expect((await who(cookie)).signed_in).toBe(false)
  })
})

describe("the console's files", () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())
  const get = (path: string, headers = {}) => world.call('GET', path, { as: null, headers })

  it('are one page at every address, never kept, under a strict policy', async () => {
    for (const path of [
      '/console',
      '/console/',
      '/console/phones?show=1',
      '/console/conversations/+12025550101',
    ]) {
      const reply = await get(path)
      expect([path, reply.status, reply.headers['content-type']]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ])
      expect(reply.body).toContain('<div id="root">')
      expect(reply.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      })
      const policy = reply.headers['content-security-policy']!
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      expect(policy).toContain("frame-ancestors 'none'")
    }
    expect((await get('/')).headers.location).toBe('/console/')
  })

  it('have names that may be kept for ever, and come compressed', async () => {
    const [script] = /assets\/[\w-]+\.js/.exec((await get('/console')).body)!
    const reply = await get(`/console/${script}`, { 'accept-encoding': 'gzip, br' })
    expect(reply.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
    })
  })

  it.each([
    '/console/assets/none.js',
    '/console/none.js',
    '/console/..%2f..%2fpackage.json',
    '/console/assets/..%2f..%2fmain.js',
    '/console/%2e%2e/package.json',
  ])('have nothing else beside them: %s', async (path) => {
    const reply = await get(path)
    expect(JSON.stringify(reply.body)).not.toContain('dependencies')
    expect(reply.headers['content-type']).not.toContain('javascript')
  })
})
