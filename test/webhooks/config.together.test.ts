import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import { shardOf } from '../../src/core/webhooks/webhook.js'
import { endpointsOf } from '../../src/services/webhooks/webhooks.js'
import { createWorld, credentials, ENGINES, type Json, START, type World } from '../support/world.js'
import { EMPTY, HOOK, OTHER, PATH, webhooksIn } from './support.js'

const DAY = 24 * 3600_000

describe.each(ENGINES)('webhook management on %s', (engine) => {
  let world: World
  let account: string
  beforeAll(async () => {
    world = await createWorld(engine)
    account = await ownAccount()
  })
  afterAll(() => world.close())
  beforeEach(() => put({}))

  const { add, put, remove, list, ownAccount, endpoints } = webhooksIn(() => world)

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

    it("the SDK's own retry of a POST changes nothing when the first try was carried out", async () => {
      const body = { webhooks: [{ url: HOOK, secret: 's' }] }
      const first = await world.post(PATH, body)
      const before = await endpoints()
      const retry = await world.post(PATH, body, 'live', { 'x-stainless-retry-count': '1' })
      expect(retry.body).toEqual(first.body)
      expect(await endpoints()).toEqual(before)
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
        await expect.poll(seen).toHaveLength(20)
        // Its cache does not expire: only the word of the other process makes it read again.
        vi.spyOn(performance, 'now').mockReturnValue(performance.now())
        expect(await seen()).toHaveLength(20)
        await put({ receive: [OTHER] })
        await expect.poll(seen).toEqual([OTHER])
      } finally {
        vi.restoreAllMocks()
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
      expect(await add([HOOK], {}, live)).toMatchObject({ status: 200 })
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
})
