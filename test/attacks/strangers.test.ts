import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, credentials, ENGINES, type World } from '../support/world.js'

describe.each(ENGINES)('callers without a key on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const big = { key_id: 'x', secret: 'x'.repeat(680_000) }

  it('no route reads a large body before it knows the caller', async () => {
    const session = await world.call('POST', '/console/session', {
      as: null,
      headers: { 'x-trunkline-console': '1' },
      body: big,
    })
    expect(session.status).toBe(413)
    for (const { method, url, access } of world.app.server.policies()) {
      if (!['POST', 'PUT', 'PATCH'].includes(method)) continue
      const path = url.replaceAll(/:\w+/g, 'x').replace('*', 'x')
      const { status } = await world.call(method, path, { as: null, body: big })
      // Phones have tokens of their own.
      const isOpen = access === 'open' && !url.startsWith('/mobile/v1/')
      const isPairing = url === '/mobile/v1/device' && method === 'POST'
      const allowed = isOpen || isPairing ? [404, 413] : url.includes('/received/') ? [404] : [401, 429]
      expect([method, url, allowed]).toEqual([method, url, expect.arrayContaining([status])])
    }
    expect((await world.call('POST', '/nowhere', { as: null, body: big })).status).toBe(404)
  })

  it('signing in to the console fits the limit', async () => {
    const { id, secret } = { id: 'dev-live-key', secret: 'dev-live-secret' }
    const { status } = await world.call('POST', '/console/session', {
      as: null,
      headers: { 'x-trunkline-console': '1' },
      body: { key_id: id, secret },
    })
    expect(status).toBe(200)
  })

  it.each([
    { 'x-forwarded-for': '192.0.2.1' },
    { forwarded: 'for=192.0.2.1' },
    { via: '1.1 proxy' },
    { 'x-real-ip': '192.0.2.1' },
  ] as Record<string, string>[])('metrics need an admin key behind a proxy that adds %j', async (headers) => {
    expect((await world.call('GET', '/metrics', { as: null })).status).toBe(200)
    const outside = await world.call('GET', '/metrics', { as: null, headers })
    expect(outside.status).toBe(401)
    expect(JSON.stringify(outside.body)).not.toContain('trunkline_')
    expect((await world.call('GET', '/metrics', { as: 'live', headers })).status).toBe(403)
    const { body: own } = await world.post('/admin/keys', { kind: 'admin' }, 'admin')
    const basic = `Basic ${Buffer.from(`${own.id}:${own.secret}`).toString('base64')}`
    for (const given of [credentials(own), { authorization: basic }]) {
      const scraped = await world.call('GET', '/metrics', { as: null, headers: { ...headers, ...given } })
      expect([scraped.status, scraped.body.includes('trunkline_')]).toEqual([200, true])
    }
  })

  it.each([
    ['from another address', { remoteAddress: '192.0.2.1' }],
    ['under a public name', { headers: { host: 'sms.example.com' } }],
  ])('metrics need an admin key %s', async (_name, request) => {
    const { statusCode } = await world.app.server.inject({ url: '/metrics', ...request })
    expect(statusCode).toBe(401)
  })
})
