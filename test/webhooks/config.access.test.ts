import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WEBHOOK_TYPES } from '../../src/core/webhooks/types.js'
import { createWorld, ENGINES, LINE, SHARED_LINE, type World } from '../support/world.js'
import { EMPTY, HOOK, OTHER, refused, webhooksIn } from './support.js'

describe.each(ENGINES)('webhook management on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', '+12025550150')
  })
  afterAll(() => world.close())
  beforeEach(() => put({}))

  const { call, add, put, remove, list, endpoint } = webhooksIn(() => world)
  const mint = async (...phone_numbers: string[]): Promise<{ token: string }> =>
    (await world.post('/v3/auth/tokens', { phone_numbers, expires_in_seconds: 86_400 })).body

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
      refused(
        await add([{ url: HOOK }], {}, one),
        /^webhooks.0.sendblue_numbers: required for a token confined to some lines/,
      )
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
