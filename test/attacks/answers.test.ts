import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, type World } from '../support/world.js'

const NO_SNIFFING = 'nosniff'
const SERVICES = '/api/v2/verify/services'

describe('answers that a cache, a browser or a Host header could misuse', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite', { env: { TRUNKLINE_PUBLIC_URL: 'http://127.0.0.1:9999' } })
  })
  afterAll(() => world.close())

  it('no route lets a browser guess the type of an answer, and none but public files may be cached', async () => {
    const cached: string[] = []
    for (const { method, url } of world.app.server.policies()) {
      const path = url.replaceAll(/:\w+/g, 'none').replace('*', '')
      const { headers, status } = await world.call(method, path, { as: null })
      expect([method, url, status, headers['x-content-type-options']]).toEqual([
        method,
        url,
        status,
        NO_SNIFFING,
      ])
      if (!headers['cache-control']?.includes('no-store')) cached.push(url)
    }
    expect([...new Set(cached)].sort()).toEqual([
      '/docs/static/:file',
      '/verify/component.js',
      '/verify/widget.css',
      '/verify/widget.js',
    ])
  })

  it.each([
    '/api/v2/messages',
    '/api/lines',
    '/api/account/webhooks',
    '/v3/messages/none',
    '/admin/keys',
    '/none',
  ])('the answer of %s is kept by no cache', async (path) => {
    const { headers } = await world.get(path, path.startsWith('/admin') ? 'admin' : 'live')
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': NO_SNIFFING })
  })

  it('a request too broken for a route gets these headers, too', async () => {
    const { port } = new URL(world.app.url())
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('BROKEN\r\n\r\n'))
      socket.on('data', (bytes) => {
        text += bytes
      })
      socket.on('close', () => resolve(text)).on('error', reject)
    })
    expect(answer).toContain('\r\nx-content-type-options: nosniff\r\n')
    expect(answer).toContain('\r\ncache-control: no-store\r\n')
  })

  it('links of a verification come from TRUNKLINE_PUBLIC_URL, whatever the Host header says', async () => {
    const service = (await world.post(SERVICES, { friendly_name: 'Shop' })).body
    const headers = {
      host: 'localhost',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    }
    const hosted = { parent_origin: 'https://shop.example.com' }
    for (const host of ['localhost:1', 'evil.local', '127.0.0.1:4040@evil.local']) {
      const { body } = await world.post(
        `${SERVICES}/${service.sid}/verifications`,
        { to: ADA, hosted },
        'live',
        {
          ...headers,
          host,
        },
      )
      const links = [body.url, body.hosted.url, body.hosted.component_script]
      expect(links.filter((link: string) => !link.startsWith('http://127.0.0.1:9999/'))).toEqual([])
    }
  })
})
