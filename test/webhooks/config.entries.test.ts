import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WEBHOOK_TYPES } from '../../src/core/webhooks/types.js'
import { dumpOf } from '../support/dump.js'
import { createWorld, ENGINES, LINE, SHARED_LINE, type World } from '../support/world.js'
import { EMPTY, HOOK, OTHER, PATH, refused, webhooksIn } from './support.js'

const DAY = 24 * 3600_000

describe.each(ENGINES)('webhook management on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', '+12025550150')
  })
  afterAll(() => world.close())
  beforeEach(() => put({}))

  const { call, add, put, remove, list, endpoints, endpoint } = webhooksIn(() => world)

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

    it('POST takes an object of types as PUT does, and appends to each list', async () => {
      await add([HOOK])
      const { status, body } = await add({
        receive: [OTHER],
        outbound: [{ url: HOOK, secret: 's-1' }],
        globalSecret: 'global-1',
      })
      const webhooks = {
        ...EMPTY,
        receive: [HOOK, OTHER],
        outbound: [{ url: HOOK, secret: 's-1' }],
        globalSecret: 'global-1',
      }
      expect([status, body.webhooks]).toEqual([200, webhooks])
      refused(await add({ receive: HOOK }), 'Missing or invalid webhooks array')
      refused(await add({ recieve: [HOOK] }), 'Missing or invalid webhooks array')
      refused(await add({ outbound: ['nope'] }), /^webhooks\.outbound\.0: /)
      expect(await list()).toEqual(webhooks)
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
      expect((await world.call('DELETE', `/admin/lines/${line.id}`, { as: 'admin' })).status).toBe(204)
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
})
