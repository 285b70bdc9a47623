import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApp } from '../src/app.js'
import { createClock } from '../src/clock.js'
import { shardOf, WEBHOOK_TYPES, type WebhookEndpoint } from '../src/core/webhook.js'
import { endpointsOf } from '../src/services/webhooks.js'
import { dumpOf } from './support/dump.js'
import { eventually } from './support/server.js'
import {
  createWorld,
  credentials,
  ENGINES,
  type Json,
  LINE,
  type Reply,
  SHARED_LINE,
  START,
  type Who,
  type World,
} from './support/world.js'

const PATH = '/api/account/webhooks'
const HOOK = 'https://hooks.example.com/in'
const OTHER = 'https://hooks.example.com/other'
const DAY = 24 * 3600_000
const EMPTY = Object.fromEntries(WEBHOOK_TYPES.map((type) => [type, []]))

describe.each(ENGINES)('webhook management on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let account: string
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', '+12025550150')
    account = (await world.app.ctx.db.one<{ account_id: string }>(
      "select account_id from keys where id = 'dev-live-key'",
    ))!.account_id
  })
  afterAll(() => world.close())
  beforeEach(() => put({}))

  const call = (method: string, body?: Json, as: Who = 'live', path = PATH) =>
    world.call(method, path, { as, ...(body === undefined ? {} : { body }) })
  const add = (webhooks: Json, fields: Json = {}, as?: Who) => call('POST', { webhooks, ...fields }, as)
  const put = (webhooks: Json, as?: Who) => call('PUT', { webhooks }, as)
  const remove = (webhooks: Json, fields: Json = {}, as?: Who) => call('DELETE', { webhooks, ...fields }, as)
  const list = async (as?: Who) => {
    const { status, body } = await call('GET', undefined, as)
    expect([status, body.status]).toEqual([200, 'OK'])
    return body.webhooks
  }
  const endpoints = (accountId = account) => endpointsOf(world.app.ctx, accountId)
  const endpoint = async (url = HOOK) => (await endpoints()).find((one) => one.url === url) as WebhookEndpoint
  const mint = async (...phone_numbers: string[]): Promise<{ token: string }> =>
    (await world.post('/v3/auth/tokens', { phone_numbers, expires_in_seconds: 86_400 })).body
  const refused = (reply: Reply, message: string | RegExp, status = 400) => {
    expect([reply.status, reply.body]).toEqual([
      status,
      {
        status: 'ERROR',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      },
    ])
    expect(reply.headers['x-should-retry']).toBe('false')
  }

  describe('lists', () => {
    it('GET: status and webhooks, each type with an array, and no key that is null', async () => {
      expect((await call('GET')).body).toEqual({ status: 'OK', webhooks: EMPTY })
      expect((await call('GET')).headers['cache-control']).toBe('no-store')
    })

    it('POST appends to the existing list; the type is receive by default', async () => {
      const first = await add([HOOK])
      expect([first.status, first.body]).toEqual([
        200,
        { status: 'OK', message: 'Webhooks added successfully', webhooks: { ...EMPTY, receive: [HOOK] } },
      ])
      await add([OTHER, { url: 'https://c.example.com/', secret: 's-1' }])
      await add([HOOK], { type: 'outbound', globalSecret: 'all-of-them' })
      expect(await list()).toEqual({
        ...EMPTY,
        receive: [HOOK, OTHER, { url: 'https://c.example.com/', secret: 's-1' }],
        outbound: [HOOK],
        globalSecret: 'all-of-them',
      })
    })

    it.each(WEBHOOK_TYPES)('%s holds URL strings and objects', async (type) => {
      const entries = [HOOK, { url: OTHER, secret: 'x' }]
      const { body } = await add(entries, { type })
      expect(body.webhooks).toEqual({ ...EMPTY, [type]: entries })
      expect((await endpoints()).map((one) => [one.type, one.url, one.secret])).toEqual([
        [type, HOOK, null],
        [type, OTHER, 'x'],
      ])
      const gone = await remove([OTHER], { type })
      expect([gone.status, gone.body]).toEqual([
        200,
        { status: 'OK', message: 'Webhooks deleted successfully' },
      ])
      expect(await list()).toEqual({ ...EMPTY, [type]: [HOOK] })
    })

    it('PUT replaces the whole configuration; types omitted are removed', async () => {
      await add([HOOK], { globalSecret: 'old' })
      await add([HOOK], { type: 'call_log' })
      const { status, body } = await put({ outbound: [OTHER, HOOK], typing_indicator: [] })
      expect([status, body]).toEqual([
        200,
        {
          status: 'OK',
          message: 'Webhooks updated successfully',
          webhooks: { ...EMPTY, outbound: [OTHER, HOOK] },
        },
      ])
      expect(await list()).toEqual(body.webhooks)
    })

    it('DELETE takes entries of a type, as URLs or objects; one that is not there is no error', async () => {
      await put({ receive: [HOOK, OTHER, 'https://c.example.com/'], outbound: [HOOK] })
      for (let i = 0; i < 2; i++) {
        const reply = await remove([HOOK, { url: OTHER, secret: 'whatever' }, 'not even a URL'])
        expect(reply.status).toBe(200)
      }
      expect(await list()).toEqual({ ...EMPTY, receive: ['https://c.example.com/'], outbound: [HOOK] })
    })

    it('a URL that is in the list stays where it is: an object changes it, a plain URL does not', async () => {
      await put({ receive: [{ url: HOOK, secret: 'one', note: 'mine' }, OTHER] })
      const before = (await endpoint()).id
      await add([HOOK])
      expect((await list()).receive).toEqual([{ url: HOOK, secret: 'one', note: 'mine' }, OTHER])
      await add([{ url: HOOK, retry_schedule: 'extended' }])
      expect((await list()).receive).toEqual([{ url: HOOK, retry_schedule: 'extended' }, OTHER])
      expect(await endpoint()).toMatchObject({ id: before, secret: null, schedule: 'extended' })
    })

    it('the same URL twice in one call is one entry, and the last word counts', async () => {
      const twice = [HOOK, OTHER, { url: HOOK, secret: 'last' }]
      const one = [{ url: HOOK, secret: 'last' }, OTHER]
      expect((await add(twice)).body.webhooks.receive).toEqual(one)
      expect((await put({ outbound: twice })).body.webhooks).toEqual({ ...EMPTY, outbound: one })
    })

    it('the older path does the same', async () => {
      const old = '/api/v2/account/webhooks'
      expect((await call('POST', { webhooks: [HOOK] }, 'live', old)).body.webhooks.receive).toEqual([HOOK])
      expect((await call('GET', undefined, 'live', old)).body.webhooks).toEqual(await list())
      expect(
        (await call('PUT', { webhooks: { outbound: [OTHER] } }, 'live', old)).body.webhooks.outbound,
      ).toEqual([OTHER])
      const gone = await call('DELETE', { webhooks: [OTHER], type: 'outbound' }, 'live', old)
      expect(gone.status).toBe(200)
      expect(await list()).toEqual(EMPTY)
    })

    it('what GET answers can be written back by PUT, to the last key', async () => {
      const everything = {
        ...Object.fromEntries(
          WEBHOOK_TYPES.map((type) => [type, [HOOK, { url: OTHER, secret: `s-${type}` }]]),
        ),
        receive: [
          {
            url: 'https://münchen.example/hook?a=1&b=ü',
            sendblue_numbers: [LINE, SHARED_LINE],
            secret: '~!"§'.slice(0, 3),
          },
          { url: HOOK, retry_schedule: 'standard', enabled: true, tags: ['a', { b: null }], '': 0 },
        ],
        globalSecret: 'g',
        secret: 'legacy',
        version: 3,
        dashboard: { collapsed: [true, null], note: 'mine' },
        unknown_type: ['https://elsewhere.example.com/'],
      }
      expect((await put(everything)).body.webhooks).toEqual(everything)
      const before = await endpoints()
      const got = await list()
      expect(got).toEqual(everything)
      expect((await put(got)).body.webhooks).toEqual(everything)
      expect(await endpoints()).toEqual(before)
      await world.restart()
      expect(await list()).toEqual(everything)
      expect(await endpoints()).toEqual(before)
    })

    it('a line that is gone does not stop the configuration from being written back', async () => {
      const number = '+12025550177'
      const line = (await world.post('/admin/lines', { account_id: b.id, number }, 'admin')).body
      await put({ receive: [{ url: HOOK, sendblue_numbers: [number] }] }, b.live)
      expect((await world.call('DELETE', `/admin/lines/${line.id}`, { as: 'admin' })).status).toBeLessThan(
        300,
      )
      const got = await list(b.live)
      expect((await put(got, b.live)).body.webhooks).toEqual(got)
      refused(
        await put({ receive: [{ url: OTHER, sendblue_numbers: [number] }] }, b.live),
        /^sendblue_numbers: \+12025550177 is not a line/,
      )
    })

    it('null is absent: in entries, lists and secrets', async () => {
      await put({
        receive: [{ url: HOOK, secret: null, sendblue_numbers: null, x: null }],
        outbound: null,
        globalSecret: null,
        other: null,
      })
      expect(await list()).toEqual({ ...EMPTY, receive: [{ url: HOOK }] })
      expect((await add([OTHER], { type: null, globalSecret: null })).status).toBe(200)
      expect(await list()).toEqual({ ...EMPTY, receive: [{ url: HOOK }, OTHER] })
    })
  })

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
        refused(await put(webhooks), new RegExp(`^${MISSING}`))
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
      refused(await add([{ url: HOOK, note: 'x'.repeat(5000) }]), /^webhooks.0: other keys than ours/)
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
      const words = /: must be 1 to 256 visible ASCII characters/
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
      refused(await add(urls(101)), /^webhooks: at most 100/)
      refused(await put({ receive: urls(101) }), /^webhooks.receive: at most 100/)
      await put({ receive: urls(99), outbound: urls(100) })
      refused(await add(urls(2, 99)), /^webhooks: at most 100 of the type receive/)
      expect((await add(urls(2, 98))).body.webhooks.receive).toHaveLength(100)
      expect(await endpoints()).toHaveLength(200)
    })

    it('a contact is made on no line, so its webhook can be for none', async () => {
      refused(await add([{ url: HOOK, sendblue_numbers: [LINE] }], { type: 'contact_created' }), /on no line/)
      expect((await add([{ url: HOOK, sendblue_numbers: [LINE] }], { type: 'outbound' })).status).toBe(200)
    })

    it('keys that nobody knows are bounded, and none reaches a prototype', async () => {
      refused(await put({ a: 'x'.repeat(20_000) }), /^webhooks: other keys than ours/)
      const raw = '{"webhooks":{"__proto__":{"receive":[]},"receive":[]}}'
      const reply = await world.call('PUT', PATH, {
        body: raw,
        headers: { 'content-type': 'application/json' },
      })
      refused(reply, /__proto__/)
    })
  })

  describe('secrets', () => {
    it('the one of the entry goes before globalSecret, and that before the one at the root', async () => {
      const secrets = async () => (await endpoints()).map((one) => one.secret)
      const receive = [{ url: HOOK, secret: 'own' }, OTHER]
      await put({ receive, globalSecret: 'global', secret: 'root' })
      expect(await secrets()).toEqual(['own', 'global'])
      await put({ receive, secret: 'root' })
      expect(await secrets()).toEqual(['own', 'root'])
      await put({ receive })
      expect(await secrets()).toEqual(['own', null])
      await add([], { secret: 'root' })
      expect(await secrets()).toEqual(['own', 'root'])
      await add([], { globalSecret: 'global' })
      expect(await secrets()).toEqual(['own', 'global'])
      expect(await list()).toMatchObject({ globalSecret: 'global', secret: 'root' })
    })

    it('a secret beside webhooks in a PUT counts as one at the root', async () => {
      await call('PUT', { webhooks: { receive: [HOOK] }, secret: 'beside' })
      expect(await list()).toMatchObject({ secret: 'beside' })
      await call('PUT', { webhooks: { receive: [HOOK], globalSecret: 'inside' }, globalSecret: 'beside' })
      expect(await list()).toMatchObject({ globalSecret: 'inside' })
    })

    it.each<[string, (secret: string) => Promise<unknown>]>([
      ['the entry, by PUT', (secret) => put({ receive: [{ url: HOOK, secret }] })],
      ['the entry, by POST', (secret) => add([{ url: HOOK, secret }])],
      ['globalSecret, by PUT', (globalSecret) => put({ receive: [HOOK], globalSecret })],
      ['globalSecret, by POST', (globalSecret) => add([HOOK], { globalSecret })],
      ['the root, by PUT', (secret) => put({ receive: [HOOK], secret })],
    ])('a replaced one of %s is valid for 24 hours more', async (_, set) => {
      const pair = async () => {
        const { secret, formerSecret } = await endpoint()
        return [secret, formerSecret]
      }
      await set('first')
      const { id } = await endpoint()
      expect(await pair()).toEqual(['first', null])
      await set('second')
      expect(await pair()).toEqual(['second', 'first'])
      await set('second')
      expect(await pair()).toEqual(['second', 'first'])
      await world.advance(DAY - 1)
      expect(await pair()).toEqual(['second', 'first'])
      await world.advance(1)
      expect(await pair()).toEqual(['second', null])
      await set('third')
      await set('fourth')
      expect(await pair()).toEqual(['fourth', 'third'])
      expect((await endpoint()).id).toBe(id)
    })

    it('from one place to another is a change over, too; no secret at all is none', async () => {
      await put({ receive: [HOOK], globalSecret: 'global' })
      await add([{ url: HOOK, secret: 'own' }])
      expect(await endpoint()).toMatchObject({ secret: 'own', formerSecret: 'global' })
      await put({ receive: [HOOK] })
      expect(await endpoint()).toMatchObject({ secret: null, formerSecret: null })
    })

    it('an entry that was removed and comes again is a new one without a past', async () => {
      await put({ receive: [{ url: HOOK, secret: 'first' }] })
      const { id } = await endpoint()
      await remove([HOOK])
      await add([{ url: HOOK, secret: 'second' }])
      expect(await endpoint()).toMatchObject({ secret: 'second', formerSecret: null })
      expect((await endpoint()).id).not.toBe(id)
    })

    it('the database holds none of them in clear, nor what else was in an entry', async () => {
      const reply = await world.post(
        PATH,
        {
          webhooks: [{ url: HOOK, secret: 'canary-1', token: 'canary-2' }],
          globalSecret: 'canary-3',
          secret: 'canary-4',
        },
        'live',
        { 'idempotency-key': 'canaries' },
      )
      expect(JSON.stringify(reply.body).match(/canary-\d/g)).toHaveLength(4)
      await add([{ url: HOOK, secret: 'canary-5' }])
      await put({ ...(await list()), hmac: 'canary-6' })
      const dump = await dumpOf(world.app)
      expect(dump).toContain(HOOK)
      expect(dump).not.toContain('canary-')
      expect(world.logs.join()).not.toContain('canary-')
    })
  })

  describe('together', () => {
    it('20 appends at once all survive', async () => {
      const urls = Array.from({ length: 20 }, (_, i) => `https://h.example.com/${i}`)
      const replies = await Promise.all(
        urls.map((url, i) => add([url], { type: i % 2 ? 'receive' : 'outbound' })),
      )
      expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
      const { receive, outbound } = await list()
      expect([...receive, ...outbound].sort()).toEqual([...urls].sort())
      const positions = await world.app.ctx.db.all(
        'select distinct type, position from webhook_endpoints where account_id = $1',
        [account],
      )
      expect(positions).toHaveLength(20)
    })

    it('appends and removals at once: each has its effect', async () => {
      const urls = Array.from({ length: 10 }, (_, i) => `https://h.example.com/${i}`)
      await put({ receive: urls.slice(0, 5) })
      await Promise.all(urls.map((url, i) => (i < 5 ? remove([url]) : add([url]))))
      expect((await list()).receive.sort()).toEqual(urls.slice(5))
    })

    it('the same URL at once is one entry', async () => {
      await Promise.all(Array.from({ length: 10 }, () => add([HOOK])))
      expect((await list()).receive).toEqual([HOOK])
    })

    it('a POST that comes again with its Idempotency-Key happens once, and its answer has what is there now', async () => {
      const headers = { 'idempotency-key': 'again' }
      const body = { webhooks: [{ url: HOOK, secret: 's' }] }
      const first = await world.post(PATH, body, 'live', headers)
      await remove([HOOK])
      const again = await world.post(PATH, body, 'live', headers)
      expect(first.body.webhooks.receive).toEqual(body.webhooks)
      expect([again.status, again.headers['x-idempotent-replay']]).toEqual([200, 'true'])
      expect(again.body).toEqual({ ...first.body, webhooks: EMPTY })
      const other = await world.post(PATH, { webhooks: [OTHER] }, 'live', headers)
      expect(other.status).toBe(422)
    })

    it("the SDK's own retry of a POST happens once", async () => {
      const body = { webhooks: [{ url: HOOK, secret: 's' }] }
      await world.post(PATH, body)
      await remove([HOOK])
      await world.post(PATH, body, 'live', { 'x-stainless-retry-count': '1' })
      expect((await list()).receive).toEqual([])
    })

    it('a change is seen at once, and a webhook keeps its id as long as its URL stays', async () => {
      await put({ receive: [HOOK, OTHER], outbound: [HOOK] })
      const ids = async () => new Map((await endpoints()).map((one) => [`${one.type} ${one.url}`, one.id]))
      const before = await ids()
      await put({ outbound: [OTHER, { url: HOOK, secret: 'x' }], receive: [OTHER] })
      const after = await ids()
      expect(after.get(`outbound ${HOOK}`)).toBe(before.get(`outbound ${HOOK}`))
      expect(after.get(`receive ${OTHER}`)).toBe(before.get(`receive ${OTHER}`))
      expect([...before.values()]).not.toContain(after.get(`outbound ${OTHER}`))
      expect([...after.keys()]).toEqual([`outbound ${OTHER}`, `outbound ${HOOK}`, `receive ${OTHER}`])
    })

    it('the book reads again when asked for a newer configuration than it has', async () => {
      const { ctx } = world.app
      await put({ receive: [HOOK] })
      const [first] = await endpoints()
      // Behind its back, as a process would that nobody heard.
      await ctx.db.run("update webhook_endpoints set schedule = 'extended' where id = $1", [first!.id])
      const { version } = (await ctx.db.one<{ version: number }>(
        'select version from webhook_settings where account_id = $1',
        [account],
      ))!
      // PostgreSQL tells a process what it said itself, too, so that it may have read again already.
      if (engine === 'sqlite')
        expect((await endpointsOf(ctx, account, version))[0]!.schedule).toBe('standard')
      expect((await endpointsOf(ctx, account, version + 1))[0]!.schedule).toBe('extended')
    })
  })

  it('an event goes to a webhook that another process added a moment ago, unheard of here', async () => {
    const { db } = world.app.ctx
    const refusing = 'http://127.0.0.1:1/'
    await put({ contact_created: [refusing] })
    const [known] = await endpoints()
    await db.tx(async (sql) => {
      await sql.run(
        `insert into webhook_endpoints (id, account_id, type, url, position, schedule, created_at, updated_at)
         select 'unheard', account_id, type, $2, 1, schedule, created_at, updated_at from webhook_endpoints
         where id = $1`,
        [known!.id, `${refusing}unheard`],
      )
      await sql.run('update webhook_settings set version = version + 1 where account_id = $1', [account])
    })
    await world.post('/api/v2/contacts', { number: '+14155550123' })
    await world.settle()
    const rows = await db.all('select endpoint_id, state from webhook_deliveries where account_id = $1', [
      account,
    ])
    expect(rows).toEqual(
      expect.arrayContaining([
        { endpoint_id: known!.id, state: 'pending' },
        { endpoint_id: 'unheard', state: 'pending' },
      ]),
    )
    await world.advance(DAY)
  })

  it.runIf(engine === 'postgres')(
    'two processes: 20 appends at both all survive, and one hears of what the other changes',
    async () => {
      const other = await createApp(world.config, { log: world.app.ctx.log, clock: createClock(START) })
      try {
        const urls = Array.from({ length: 20 }, (_, i) => `https://h.example.com/${i}`)
        const replies = await Promise.all(
          urls.map((url, i) =>
            [world.app, other][i % 2]!.server.inject({
              method: 'POST',
              url: PATH,
              headers: credentials('live'),
              payload: { webhooks: [{ url, secret: `s-${i}` }] },
            }),
          ),
        )
        expect(replies.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200))
        expect((await list()).receive.map((entry: Json) => entry.url).sort()).toEqual([...urls].sort())

        const seen = async () => (await endpointsOf(other.ctx, account)).map(({ url }) => url)
        await eventually(seen, (found) => found.length === 20, 3000, 5)
        const began = performance.now()
        await put({ receive: [OTHER] })
        await eventually(seen, (found) => found.includes(OTHER), 3000, 5)
        // Long before its memory would be too old.
        expect(performance.now() - began).toBeLessThan(1500)
      } finally {
        await other.stop()
      }
    },
  )

  describe('the feed of an account', () => {
    const feed = (id: string) =>
      world.app.ctx.db.one('select * from webhook_feeds where account_id = $1', [id])

    it('begins with its first webhook, after the events before it', async () => {
      const { id, live } = await world.addAccount('c@example.com', '+12025550151')
      const lastSeq = async () =>
        (await world.app.ctx.db.one<{ last_seq: number }>(
          'select last_seq from event_counters where account_id = $1',
          [id],
        ))!.last_seq
      await world.post('/api/v2/contacts', { number: '+14155550111' }, live)
      await put({ globalSecret: 'x' }, live)
      expect(await feed(id)).toBeUndefined()
      const seq = await lastSeq()
      expect(seq).toBeGreaterThan(0)
      await add([HOOK], {}, live)
      expect(await feed(id)).toEqual({ account_id: id, shard: shardOf(id), seq })
      await world.post('/api/v2/contacts', { number: '+14155550112' }, live)
      await add([OTHER], {}, live)
      expect(await feed(id)).toMatchObject({ shard: shardOf(id) })
      expect((await endpoints(id)).map(({ accountId }) => accountId)).toEqual([id, id])
    })

    it('is in one of 8 parts, the same for ever', () => {
      expect(['a', 'b', '0192f0c1-7000-7000-8000-000000000000'].map(shardOf)).toEqual([2, 6, 7])
      const parts = new Set(Array.from({ length: 200 }, (_, i) => shardOf(`account ${i}`)))
      expect([...parts].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    })
  })

  describe('whose they are', () => {
    it('each account has its own, and so has the test world', async () => {
      await put({ receive: [{ url: HOOK, secret: 'a-live' }], globalSecret: 'a-global' })
      await put({ outbound: [{ url: HOOK, secret: 'a-test' }] }, 'test')
      await put({ call_log: [{ url: HOOK, secret: 'b-live' }] }, b.live)
      for (const [as, own] of [
        ['live', 'a-live'],
        ['test', 'a-test'],
        [b.live, 'b-live'],
      ] as const) {
        const text = JSON.stringify(await list(as))
        expect(text.match(/[ab]-(live|test)/g)).toEqual([own])
      }
      await remove([HOOK], { type: 'receive' }, b.live)
      await put({}, b.test)
      expect((await list()).receive).toHaveLength(1)
      await put({}, 'test')
      await put({}, b.live)
    })

    it('an account token does what its account does; an admin key belongs to none', async () => {
      const token = (await world.post('/v3/auth/tokens', {})).body
      await put({ call_log: [HOOK], globalSecret: 'x' }, token)
      expect(await list(token)).toEqual(await list())
      expect((await list()).call_log).toEqual([HOOK])
      expect((await call('GET', undefined, 'admin')).status).toBe(403)
    })
  })

  describe('with a token that is confined to lines', () => {
    it('strings are scoped to its numbers by themselves', async () => {
      const token = await mint(LINE)
      const { status, body } = await add([HOOK], {}, token)
      expect([status, body.webhooks]).toEqual([
        200,
        { ...EMPTY, receive: [{ url: HOOK, sendblue_numbers: [LINE] }] },
      ])
      expect(await endpoint()).toMatchObject({ type: 'receive', numbers: [LINE] })
      expect(await list()).toEqual(body.webhooks)
    })

    it('objects must carry sendblue_numbers inside its set', async () => {
      const [one, both] = [await mint(LINE), await mint(LINE, SHARED_LINE)]
      refused(await add([{ url: HOOK }], {}, one), /^webhooks.0.sendblue_numbers: needed/)
      for (const numbers of [[SHARED_LINE], [LINE, SHARED_LINE], ['+12025550150']])
        refused(
          await add([{ url: HOOK, sendblue_numbers: numbers }], {}, one),
          /confined to other lines/,
          403,
        )
      const entry = { url: HOOK, sendblue_numbers: [LINE], secret: 'own' }
      expect((await add([entry], {}, one)).body.webhooks.receive).toEqual([entry])
      expect((await add([{ url: OTHER, sendblue_numbers: [SHARED_LINE] }], {}, both)).status).toBe(200)
      expect(await list(both)).toEqual(await list())
      expect((await list(one)).receive).toEqual([entry])
    })

    it('only receive webhooks, no common secrets, and no PUT', async () => {
      const token = await mint(LINE)
      for (const type of WEBHOOK_TYPES.filter((one) => one !== 'receive')) {
        refused(await add([HOOK], { type }, token), /receive webhooks only/, 403)
        refused(await remove([HOOK], { type }, token), /receive webhooks only/, 403)
      }
      refused(await add([HOOK], { globalSecret: 'x' }, token), /secrets of all webhooks/, 403)
      refused(await add([HOOK], { secret: 'x' }, token), /secrets of all webhooks/, 403)
      refused(await put({ receive: [] }, token), /confined to some lines and cannot/, 403)
      expect(await list()).toEqual(EMPTY)
    })

    it('list and delete see only those', async () => {
      const theirs = { url: 'https://h.example.com/theirs', sendblue_numbers: [LINE] }
      const others = {
        receive: [
          HOOK,
          { url: OTHER, sendblue_numbers: [SHARED_LINE] },
          { url: 'https://h.example.com/both', sendblue_numbers: [LINE, SHARED_LINE], secret: 'x' },
        ],
        outbound: [HOOK],
        globalSecret: 'g',
        other: 1,
      }
      await put({ ...others, receive: [...others.receive, theirs] })
      const token = await mint(LINE)
      expect(await list(token)).toEqual({ ...EMPTY, receive: [theirs] })
      const everything = [HOOK, OTHER, 'https://h.example.com/both', theirs.url]
      expect((await remove(everything, {}, token)).status).toBe(200)
      expect(await list(token)).toEqual(EMPTY)
      expect(await list()).toEqual({ ...EMPTY, ...others })
    })

    it('what also serves other lines cannot be taken over by its URL', async () => {
      await put({ receive: [HOOK, { url: OTHER, sendblue_numbers: [SHARED_LINE] }] })
      const token = await mint(LINE)
      for (const url of [HOOK, OTHER])
        refused(await add([url], {}, token), /for more than the lines of this/, 409)
      expect((await add([`${HOOK}?line=1`], {}, token)).status).toBe(200)
      expect((await list()).receive).toHaveLength(3)
    })
  })
})
