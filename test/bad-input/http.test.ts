import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const MIB = 1 << 20
const send = JSON.stringify({ from_number: LINE, number: ADA, content: 'Hello' })

async function stored(world: World): Promise<number> {
  return (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from messages'))!.n
}

describe.each(ENGINES)('odd requests on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  it.each([
    ['GET', '/api/send-message', 'POST'],
    ['DELETE', '/api/send-message', 'POST'],
    ['HEAD', '/api/v2/messages', 'GET'],
    ['POST', '/api/v2/messages', 'GET'],
    ['PUT', '/api/v2/messages/x', 'DELETE, GET'],
    ['OPTIONS', '/api/status', 'GET'],
    ['PUT', '/admin/accounts', 'GET, POST'],
    ['PUT', '/sim/phones/%2B12025550101', 'DELETE, GET, PATCH'],
  ])('%s %s: 405 with Allow', async (method, path, allow) => {
    const reply = await world.call(method, path)
    expect(reply).toMatchObject({ status: 405, headers: { allow } })
  })

  const plain = Buffer.from(send)
  it.each<[string, Record<string, string>, string | Buffer, number]>([
    ['no type', {}, plain, 415],
    ['an empty type', { 'content-type': '' }, plain, 415],
    ['text', { 'content-type': 'text/plain' }, plain, 415],
    ['XML', { 'content-type': 'application/xml' }, plain, 415],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }, plain, 415],
    ['a relative of JSON', { 'content-type': 'application/vnd.api+json' }, plain, 415],
    ['a name that starts like JSON', { 'content-type': 'application/jsonx' }, plain, 415],
    ['nonsense', { 'content-type': 'json' }, plain, 415],
    ['UTF-16', { 'content-type': 'application/json; charset=utf-16' }, plain, 415],
    ['Latin 1', { 'content-type': 'application/json; charset=iso-8859-1' }, plain, 415],
    ['gzip', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, gzipSync(send), 415],
    [
      'a gzip bomb',
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      gzipSync(' '.repeat(20 * MIB) + send),
      415,
    ],
    [
      'deflate that is none',
      { 'content-type': 'application/json', 'content-encoding': 'deflate' },
      plain,
      415,
    ],
    [
      'one byte over 1 MiB',
      { 'content-type': 'application/json' },
      send + ' '.repeat(MIB - send.length + 1),
      413,
    ],
    [
      '1 MiB of content',
      { 'content-type': 'application/json' },
      send.replace('Hello', 'x'.repeat(MIB - send.length)),
      400,
    ],
    [
      'a form over 1 MiB',
      { 'content-type': 'application/x-www-form-urlencoded' },
      `content=${'x'.repeat(MIB)}`,
      413,
    ],
  ])('a body of %s is refused', async (_name, headers, body, status) => {
    const reply = await world.call('POST', '/api/send-message', { headers, body })
    expect(reply.status).toBe(status)
    expect(reply.body).toMatchObject({ status: 'ERROR', error_code: 4000, error_message: reply.body.message })
    expect(await stored(world)).toBe(0)
  })

  it.each<[string, Record<string, string>, Json]>([
    [
      'exactly 1 MiB with its spaces',
      { 'content-type': 'application/json' },
      send + ' '.repeat(MIB - send.length),
    ],
    ['an upper-case type', { 'content-type': 'APPLICATION/JSON' }, plain],
    ['a charset in quotes', { 'content-type': 'application/json; charset="UTF-8"' }, plain],
    ['no encoding, said so', { 'content-type': 'application/json', 'content-encoding': 'identity' }, plain],
  ])('a body with %s is taken', async (_name, headers, body) => {
    expect((await world.call('POST', '/api/send-message', { headers, body })).status).toBe(202)
  })

  it.each(['/admin/keys', '/sim/phones'])('the same holds on %s, in its own shape', async (path) => {
    const as = path.startsWith('/admin') ? 'admin' : 'live'
    const reply = await world.call('POST', path, {
      as,
      headers: { 'content-type': 'text/plain' },
      body: '{}',
    })
    expect(reply).toMatchObject({ status: 415, body: { error: { code: 'unsupported_media_type' } } })
    const empty = await world.call('POST', path, {
      as,
      headers: { 'content-type': 'application/json' },
      body: '',
    })
    expect(empty.status).toBe(400)
  })

  describe('a request that has no body may still say that it is JSON', () => {
    const bare = (method: string, path: string, as: 'live' | 'admin' = 'live') =>
      world.call(method, path, { as, headers: { 'content-type': 'application/json' } })

    it('what is to be deleted is deleted', async () => {
      const phone = '+13035590042'
      const service = (await world.post('/api/v2/verify/services', { friendly_name: 'Acme' })).body
      const secret = (await world.post('/api/v2/totp/secrets', { label: 'Acme' })).body.totp_secret
      const token = (await world.post('/v3/auth/tokens', {})).body
      const message = await world.send()
      const scheduled = await world.send({ send_at: '2026-04-01T00:00:00Z' })
      await world.post('/api/v2/contacts', { number: phone })
      await world.advance(1000)
      for (const path of [
        `/api/lines/${LINE}/call-forwarding`,
        `/api/v2/contacts/${phone}`,
        `/api/message/${message.message_handle}`,
        `/api/v2/totp/secrets/${secret.id}`,
        `/v3/auth/tokens/${token.token_id}`,
        `/v3/scheduled-messages/${scheduled.message_handle}`,
        `/api/v2/verify/services/${service.sid}`,
      ]) {
        const { status } = await bare('DELETE', path)
        expect([path, status]).toEqual([
          path,
          path.includes('/tokens/') || path.includes('/verify/') ? 204 : 200,
        ])
      }
      expect((await world.get(`/api/v2/contacts/${phone}`)).status).toBe(404)
    })

    it('and a POST without one is carried out', async () => {
      expect((await bare('POST', `/sim/phones/${ADA}/read`)).status).toBe(200)
      expect((await bare('POST', '/v3/webhook-deliveries/1/replay')).status).toBe(404)
    })

    it('one that has a body still needs it', async () => {
      for (const [method, path] of [
        ['DELETE', '/api/v2/contacts'],
        ['DELETE', '/api/account/webhooks'],
        ['PUT', `/api/v2/contacts/${ADA}`],
        ['POST', '/api/send-message'],
      ] as const) {
        const { status, body } = await bare(method, path)
        expect([path, status, body.message]).toEqual([path, 400, 'The body is empty; send a JSON object'])
      }
    })
  })
})
