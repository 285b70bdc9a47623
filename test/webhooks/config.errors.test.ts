import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, LINE, type Reply, type World } from '../support/world.js'
import { EMPTY, HOOK, OTHER, PATH, refused, webhooksIn } from './support.js'

describe.each(ENGINES)('webhook management on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    // Another account's line, which is none of ours.
    await world.addAccount('b@example.com', '+12025550150')
  })
  afterAll(() => world.close())
  beforeEach(() => put({}))

  const { call, add, put, remove, list, endpoints, endpoint } = webhooksIn(() => world)

  describe('errors', () => {
    const MISSING = 'Missing or invalid webhooks array'

    it('400 for a missing or invalid webhooks array', async () => {
      for (const body of [
        {},
        { webhooks: null },
        { webhooks: HOOK },
        { webhooks: { url: HOOK } },
        { webhooks: 1 },
      ]) {
        refused(await call('POST', body), MISSING)
        refused(await call('DELETE', body), MISSING)
      }
      refused(await call('POST'), MISSING)
      for (const webhooks of [
        undefined,
        null,
        [HOOK],
        HOOK,
        1,
        { receive: HOOK },
        { receive: { url: HOOK } },
      ])
        refused(await put(webhooks), MISSING)
      expect(await list()).toEqual(EMPTY)
    })

    it('401 when authentication failed: Unauthorized', async () => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        for (const as of [null, { id: 'dev-live-key', secret: 'wrong' }])
          refused(
            await call(method, method === 'GET' ? undefined : { webhooks: [HOOK] }, as),
            'Unauthorized',
            401,
          )
    })

    it('an unknown type is refused, a known one in other letters too', async () => {
      for (const type of ['recieve', 'RECEIVE', '', 7, {}, 'globalSecret', '__proto__']) {
        refused(await add([HOOK], { type }), /^type: must be one of receive, outbound, /)
        refused(await remove([HOOK], { type }), /^type: must be one of receive, outbound, /)
      }
    })

    it.each<[Json, RegExp]>([
      ['', /^webhooks.0: must be a URL/],
      ['hooks', /^webhooks.0: must be a URL/],
      ['http://hooks.example.com/', /^webhooks.0: must be an https URL/],
      ['ftp://hooks.example.com/', /^webhooks.0: must be an https URL/],
      ['javascript:alert(1)', /^webhooks.0: must be an https URL/],
      ['https://user:password@hooks.example.com/', /^webhooks.0: must not contain credentials/],
      ['https://good@10.0.0.1/', /^webhooks.0: must not contain credentials/],
      ['https://hooks.example.com/#part', /^webhooks.0: must not contain a fragment/],
      ['https://hooks.example.com/ x', /^webhooks.0: must not contain spaces/],
      ['https://hooks.example.com\\@10.0.0.1/', /^webhooks.0: must not contain spaces or backslashes/],
      ['https://10.0.0.1/', /^webhooks.0: must not point to a private/],
      ['https://192.168.1.9/', /^webhooks.0: must not point to a private/],
      ['https://169.254.169.254/latest', /^webhooks.0: must not point to a private/],
      ['https://metadata.google.internal/', /^webhooks.0: must not point to a private/],
      ['https://[fd00:ec2::254]/', /^webhooks.0: must not point to a private/],
      ['https://[::ffff:10.0.0.1]/', /^webhooks.0: must not point to a private/],
      ['https://0x0a000001/', /^webhooks.0: must not point to a private/],
      ['https://hooks.example.com:22/', /^webhooks.0: must not name a port/],
      ['https://hooks.example.com:5432/', /^webhooks.0: must not name a port/],
      ['https://hooks.example.com:65536/', /^webhooks.0: must be a URL/],
      [null, /^webhooks.0: must be a URL, or an object with a url/],
      [5, /^webhooks.0: must be a URL, or an object with a url/],
      [[HOOK], /^webhooks.0: must be a URL, or an object with a url/],
      [{}, /^webhooks.0: must be a URL, or an object with a url/],
      [{ url: null }, /^webhooks.0: must be a URL, or an object with a url/],
      [{ url: 'http://hooks.example.com/' }, /^webhooks.0.url: must be an https URL/],
      [{ url: HOOK, sendblue_numbers: [] }, /^webhooks.0.sendblue_numbers: must be a list/],
      [{ url: HOOK, sendblue_numbers: LINE }, /^webhooks.0.sendblue_numbers: must be a list/],
      [{ url: HOOK, sendblue_numbers: [1] }, /^webhooks.0.sendblue_numbers.0: must be a phone number/],
      [{ url: HOOK, sendblue_numbers: ['911'] }, /^webhooks.0.sendblue_numbers.0: must be a phone number/],
      [{ url: HOOK, sendblue_numbers: ['+12025550150'] }, /^sendblue_numbers: \+12025550150 is not a line/],
      [{ url: HOOK, sendblue_numbers: ['+12025550159'] }, /^sendblue_numbers: \+12025550159 is not a line/],
      [
        { url: HOOK, retry_schedule: 'never' },
        /^webhooks.0.retry_schedule: must be one of standard, extended/,
      ],
    ])('refuses %j', async (entry, message) => {
      refused(await add([entry]), message)
      const inPut = message.source.replace('webhooks.0', 'webhooks.receive.0')
      refused(await put({ outbound: [HOOK], receive: [entry] }), new RegExp(inPut))
      expect(await list()).toEqual(EMPTY)
    })

    it('refuses what is too long', async () => {
      const url = (length: number) => HOOK + 'x'.repeat(length - HOOK.length)
      for (const length of [2049, 4096])
        refused(await add([url(length)]), /^webhooks.0: must be at most 2048 characters/)
      refused(
        await add([{ url: HOOK, note: 'x'.repeat(5000) }]),
        /^webhooks.0: unknown keys may have at most/,
      )
      expect((await add([url(2048), { url: HOOK, note: 'x'.repeat(4000) }])).status).toBe(200)
    })

    it.each([
      ['with a line break', 'a\r\nx-evil: 1'],
      ['with a line feed', 'a\n'],
      ['with an emoji', 'key 🔑'],
      ['beyond ASCII', 'schlüssel'],
      ['with a leading space', ' a'],
      ['with a tab', 'a\tb'],
      ['of 257 characters', 'x'.repeat(257)],
      ['of 20 KB', 'x'.repeat(20_000)],
      ['that is empty', ''],
      ['that is a number', 7],
      ['that is an object', { a: 1 }],
    ])('refuses a secret %s', async (_, secret) => {
      const words = /: must be 1 to 256 printable ASCII characters/
      refused(await add([{ url: HOOK, secret }]), words)
      refused(await add([HOOK], { globalSecret: secret }), words)
      refused(await add([HOOK], { secret }), words)
      refused(await put({ receive: [{ url: HOOK, secret }] }), words)
      refused(await put({ globalSecret: secret }), words)
      refused(await put({ secret }), words)
      expect(await list()).toEqual(EMPTY)
    })

    it('a secret with NUL is refused, and every visible character is taken', async () => {
      expect((await add([{ url: HOOK, secret: 'a\u0000b' }])).status).toBe(400)
      const secret = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')
      await add([
        { url: HOOK, secret },
        { url: OTHER, secret: 'x'.repeat(256) },
      ])
      expect((await endpoint()).secret).toBe(secret)
    })

    it('loopback over http is allowed on a server of this machine', async () => {
      const local = ['http://127.0.0.1:9999/hook', 'http://localhost:3000/', 'https://[::1]:8443/x']
      expect((await add(local)).body.webhooks.receive).toEqual(local)
    })

    it('at most 100 entries of a type', async () => {
      const urls = (n: number, from = 0) =>
        Array.from({ length: n }, (_, i) => `https://h.example.com/${from + i}`)
      const full = (reply: Reply) =>
        expect([reply.status, reply.body.error, reply.headers['x-should-retry']]).toEqual([
          429,
          'budget_webhooks',
          'false',
        ])
      full(await add(urls(101)))
      full(await put({ receive: urls(101) }))
      await put({ receive: urls(99), outbound: urls(100) })
      full(await add(urls(2, 99)))
      expect((await add(urls(2, 98))).body.webhooks.receive).toHaveLength(100)
      expect(await endpoints()).toHaveLength(200)
    })

    it('a contact is made on no line, so its webhook can be for none', async () => {
      refused(await add([{ url: HOOK, sendblue_numbers: [LINE] }], { type: 'contact_created' }), /on no line/)
      expect((await add([{ url: HOOK, sendblue_numbers: [LINE] }], { type: 'outbound' })).status).toBe(200)
    })

    it('keys that nobody knows are bounded, and none reaches a prototype', async () => {
      refused(await put({ a: 'x'.repeat(20_000) }), /^webhooks: unknown keys may have at most/)
      const raw = '{"webhooks":{"__proto__":{"receive":[]},"receive":[]}}'
      const reply = await world.call('PUT', PATH, {
        body: raw,
        headers: { 'content-type': 'application/json' },
      })
      refused(reply, /__proto__/)
    })
  })
})
