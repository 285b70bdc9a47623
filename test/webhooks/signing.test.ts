import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dumpOf } from '../support/dump.js'
import { createSink, type Received, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'
import { refused, webhooksIn } from './support.js'

const SECRET = '/v3/signing-secret'
const DAY = 24 * 3_600_000
const KEY = 'a key of twenty-four byt'

describe.each(ENGINES)('signatures of webhooks on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
  })
  afterAll(async () => {
    await sink.close()
    await world.close()
  })
  beforeEach(() => void sink.received.splice(0))

  const { add, put, list } = webhooksIn(() => world)
  const read = async () => (await world.get(SECRET)).body.data
  const callback = async (): Promise<Received> => {
    await world.send({ status_callback: `${sink.url}/callback` })
    await world.advance(1000)
    return sink.received.filter(({ path }) => path === '/callback').at(-1)!
  }
  const verify = (post: Received, secret: string, format: 'raw' | undefined = undefined) =>
    new Webhook(secret, format && { format }).verify(post.text, post.headers as Record<string, string>)

  it("a status callback is signed with the account's own secret, and does not carry it", async () => {
    const post = await callback()
    const { secret, former_until } = await read()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(former_until).toBe(null)
    expect(verify(post, secret)).toEqual(post.body)
    expect(() => verify({ ...post, text: `${post.text} ` }, secret)).toThrow()
    expect(post.headers['sb-signing-secret']).toBeUndefined()
    expect(JSON.stringify(post.headers)).not.toContain(secret.slice(6))
    expect((await world.get(SECRET, 'test')).body.data.secret).not.toBe(secret)
  })

  it('a rotated secret signs beside the new one for a day', async () => {
    const before = await read()
    const { status, body } = await world.post(`${SECRET}/rotate`, {})
    expect(status).toBe(200)
    expect(body.data.secret).not.toBe(before.secret)
    expect(Date.parse(body.data.former_until)).toBe(world.app.ctx.clock.now() + DAY)
    const both = await callback()
    for (const { secret } of [before, body.data]) expect(verify(both, secret)).toEqual(both.body)
    await world.advance(DAY)
    const late = await callback()
    expect(() => verify(late, before.secret)).toThrow()
    expect(verify(late, body.data.secret)).toEqual(late.body)
    expect((await read()).former_until).toBe(null)
  })

  it('the secret that webhooks share verifies status callbacks, too, and PUT keeps the own secret', async () => {
    const { secret } = await read()
    await put({ globalSecret: 'the one of all webhooks' })
    const post = await callback()
    expect(verify(post, 'the one of all webhooks', 'raw')).toEqual(post.body)
    expect(verify(post, secret)).toEqual(post.body)
    expect(await list()).not.toHaveProperty('signing')
    await put({})
    expect((await read()).secret).toBe(secret)
  })

  it('a token that is confined to lines cannot see the secret, and no row or answer keeps it', async () => {
    const { token } = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    expect((await world.get(SECRET, { token })).status).toBe(403)
    const key = { 'idempotency-key': `rotate-${engine}` }
    const first = await world.post(`${SECRET}/rotate`, {}, 'live', key)
    const again = await world.post(`${SECRET}/rotate`, {}, 'live', key)
    expect(again.body).toEqual(first.body)
    expect(await dumpOf(world.app)).not.toContain(first.body.data.secret.slice(6))
  })

  it('legacy_secret_header: false keeps the plain secret out of the deliveries', async () => {
    const given = {
      url: `${sink.url}/in`,
      secret: 'a secret with spaces inside',
      legacy_secret_header: false,
    }
    await put({ receive: [given, { ...given, url: `${sink.url}/old`, legacy_secret_header: true }] })
    expect((await list()).receive[0]).toEqual(given)
    await world.text(ADA, 'Signed')
    await world.advance(1000)
    const at = (path: string) => sink.received.find((post) => post.path === path)!
    expect(at('/in').headers['sb-signing-secret']).toBeUndefined()
    expect(verify(at('/in'), given.secret, 'raw')).toEqual(at('/in').body)
    expect(at('/old').headers['sb-signing-secret']).toBe(given.secret)
    refused(
      await add([{ ...given, legacy_secret_header: 'no' }]),
      'webhooks.0.legacy_secret_header: must be true or false',
    )
  })

  it.each<[string, Json]>([
    ['whsec_ alone, which would be an empty key', 'whsec_'],
    ['base64 of 23 bytes', `whsec_${Buffer.alloc(23, 1).toString('base64')}`],
    ['no base64', `whsec_${'-'.repeat(40)}`],
  ])('a secret that begins with whsec_ needs a key of 24 bytes: %s', async (_, secret) => {
    const words = /must have base64 of at least 24 bytes after whsec_\. Make one with: echo "whsec_\$/
    const entry = { url: `${sink.url}/in`, secret }
    refused(await add([entry]), new RegExp(`^webhooks\\.0\\.secret: ${words.source}`))
    refused(await put({ receive: [entry] }), new RegExp(`^webhooks\\.receive\\.0\\.secret: ${words.source}`))
    refused(await put({ globalSecret: secret }), new RegExp(`^webhooks\\.globalSecret: ${words.source}`))
  })

  it.each([`whsec_${Buffer.from(KEY).toString('base64')}`, 'x', 'two words', 'whsec'])(
    'the secret %j is accepted',
    async (secret) => {
      expect((await add([{ url: `${sink.url}/in`, secret }])).status).toBe(200)
    },
  )

  it.each([' x', 'x ', '', 'a\nb', 'ü'])(
    'the secret %j is refused: a header would lose it',
    async (secret) => {
      refused(
        await add([{ url: `${sink.url}/in`, secret }]),
        /^webhooks\.0\.secret: must be 1 to 256 printable/,
      )
    },
  )
})
