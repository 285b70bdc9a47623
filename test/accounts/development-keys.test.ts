import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { createWorld, ENGINES, type Who, type World } from '../support/world.js'

/** A page whose owner lets its name lead to 127.0.0.1 is served by us, as far as the browser knows. */
const PUBLIC = [
  'evil.example',
  'evil.example:8080',
  'a.b.co.uk',
  'localhost.evil.com',
  '127.0.0.1.nip.io',
  // Something forwards a connection to an address that is not loopback.
  '192.168.1.7',
  '203.0.113.9:4040',
]
const LOCAL = [
  'localhost',
  'LOCALHOST:3000',
  '127.0.0.1:3000',
  '[::1]:3000',
  'app.localhost',
  'mac.local:80',
  'host.docker.internal:3000',
  'trunkline',
  'localhost.',
]

describe.each(ENGINES)('the development keys on %s', (engine) => {
  let world: World
  let own: { id: string; secret: string }
  beforeAll(async () => {
    world = await createWorld(engine, {
      env: { TRUNKLINE_PUBLIC_URL: 'http://localhost:8080' },
      isReal: false,
    })
    own = (await world.post('/admin/keys', { kind: 'admin' }, 'admin')).body
    expect(own.secret).toBeTypeOf('string')
  })
  afterAll(() => world.close())
  const ask = async (host: string, as: Who, path = '/api/v2/messages') =>
    (await world.call('GET', path, { as, headers: { host } })).status
  const signIn = (host: string, { id, secret }: { id: string; secret: string }) =>
    world.call('POST', '/console/session', {
      as: null,
      body: { key_id: id, secret },
      headers: { host, 'x-trunkline-console': '1' },
    })

  const isOffered = async (host: string) =>
    (await world.call('GET', '/console/session', { as: null, headers: { host } })).body.development

  it.each(PUBLIC)('do not work under %s', async (host) => {
    for (const as of ['live', 'test'] as const) expect(await ask(host, as)).toBe(403)
    expect(await ask(host, 'admin', '/admin/lines')).toBe(403)
    const reply = await world.call('GET', '/api/v2/messages', { headers: { host } })
    expect(reply.body.error_message ?? reply.body.message).toContain('trunkline init')
    expect((await signIn(host, DEFAULT_WORLD.keys.live)).status).toBe(403)
    expect(await isOffered(host)).toBe(false)
  })

  it.each(LOCAL)('work under %s', async (host) => {
    expect(await ask(host, 'live')).toBe(200)
    expect((await signIn(host, DEFAULT_WORLD.keys.live)).status).toBe(200)
    expect(await isOffered(host)).toBe(true)
  })

  it('are no reason to refuse a key of one’s own', async () => {
    expect(await ask('evil.example', own, '/admin/lines')).toBe(200)
  })

  it('do not become good under a name because they were under another a moment ago', async () => {
    for (const [host, status] of [
      ['localhost', 200],
      ['evil.example', 403],
      ['localhost', 200],
    ] as const)
      expect(await ask(host, 'live')).toBe(status)
  })
})
