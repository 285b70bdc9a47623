import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAlertWatch } from '../../src/services/alerts/watch.js'
import type { Ctx } from '../../src/services/ctx.js'
import { runCli } from '../support/cli.js'
import { follow } from '../support/web/sse.js'
import { createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'
import { MINUTE, ownId, setState, states } from './support.js'

describe.each(ENGINES)('the watch for alerts on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  beforeEach(async () => {
    await setState(world, 'ONLINE', LINE)
    await world.reset()
  })
  afterAll(() => world.close())

  const heard = () => states(world, 'line.offline')
  /** A watch in a process that stands still between its look and the transaction that tells. */
  const pausedWatch = (meanwhile: () => Promise<unknown>) => {
    const { ctx } = world.app
    const tx: Ctx['db']['tx'] = async (work) => {
      await meanwhile()
      return ctx.db.tx(work)
    }
    const db = Object.create(ctx.db, { tx: { value: tx } }) as Ctx['db']
    return createAlertWatch({ ...ctx, db })
  }
  /** Moves the clock without a beat. */
  const later = (ms: number) => world.app.ctx.clock.advance(ms, world.app.settle)

  it('tells once, however many processes watch at the same time', async () => {
    const watches = Array.from({ length: 5 }, () => createAlertWatch(world.app.ctx))
    const look = () => Promise.all(watches.map((watch) => watch.look(['line.offline'])))
    await setState(world, 'OFFLINE', LINE)
    await later(6 * MINUTE)
    for (let i = 0; i < 3; i++) await look()
    expect(await heard()).toEqual(['began'])
    await setState(world, 'ONLINE', LINE)
    for (let i = 0; i < 3; i++) await look()
    expect(await heard()).toEqual(['began', 'ended'])
  })

  it('does not tell what was told, or is over, when it wakes', async () => {
    await setState(world, 'OFFLINE', LINE)
    await later(6 * MINUTE)
    const late = pausedWatch(async () => {
      await world.advance(0)
      expect(await heard()).toEqual(['began'])
    })
    await late.look(['line.offline'])
    expect(await heard()).toEqual(['began'])
    const later_ = pausedWatch(async () => {
      await setState(world, 'OFFLINE', LINE)
      await later(0)
    })
    await setState(world, 'ONLINE', LINE)
    // The line came back and is gone again by the time that the watch wakes.
    await later_.look(['line.offline'])
    expect(await heard()).toEqual(['began'])
  })

  it('tells of many conditions in portions', async () => {
    const { ctx } = world.app
    const account = await ownId(world)
    const n = 450
    await ctx.db.tx(async (sql) => {
      for (let i = 0; i < n; i++) {
        const id = `many-${String(i).padStart(4, '0')}`
        await sql.run(
          `insert into webhook_endpoints (id, account_id, type, url, position, schedule, created_at, updated_at)
           values ($1, $2, 'outbound', 'http://127.0.0.1/' || $1, $3, 'standard', 0, 0)`,
          [id, account, i],
        )
        await sql.run(
          `insert into webhook_faults (endpoint_id, account_id, since, failures, reason) values ($1, $2, $3, 4, 'No answer.')`,
          [id, account, ctx.clock.now()],
        )
      }
    })
    await later(11 * MINUTE)
    const watch = createAlertWatch(ctx)
    const look = async () => {
      const counts = []
      for (let isMore = true; isMore; ) {
        isMore = await watch.look(['webhook.failing'])
        counts.push((await states(world, 'webhook.failing')).length)
      }
      return counts
    }
    expect(await look()).toEqual([200, 400, 450])
    expect(await look()).toEqual([450, 450, 450])
    const pages = []
    for (let cursor = ''; ; ) {
      const { data, next_cursor } = (await world.get(`/v3/alerts?limit=200${cursor}`)).body
      pages.push(data.length)
      if (next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(next_cursor)}`
    }
    expect(pages).toEqual([200, 200, 50])
    await ctx.db.run('delete from webhook_faults')
    expect(await look()).toEqual([650, 850, 900])
    await ctx.db.run("delete from webhook_endpoints where id like 'many-%'")
  })

  it('is in the event stream for readers who ask for it, and in no other', async () => {
    const asked = await follow(world, '/api/v2/events?types=line.offline')
    const usual = await follow(world, '/api/v2/events')
    await setState(world, 'OFFLINE', LINE)
    await world.advance(6 * MINUTE)
    await setState(world, 'ONLINE', LINE)
    await world.advance(1000)
    const seen: Json[] = []
    while (seen.length < 2) {
      const frame = await asked.next()
      if (frame?.event) seen.push(frame.data)
    }
    expect(seen.map(({ type, data }) => [type, data.alert, data.state, data.sendblue_number])).toEqual([
      ['line.offline', 'line.offline', 'began', LINE],
      ['line.offline', 'line.offline', 'ended', LINE],
    ])
    const types: string[] = []
    for (let backs = 0; backs < 1; ) {
      const frame = await usual.next()
      if (frame?.event) types.push(frame.event)
      if (frame?.event === 'line.status.changed' && frame.data.data.status === 'ONLINE') backs++
    }
    await world.text('+12025550101', 'Hello')
    for (let frame = await usual.next(); frame?.event !== 'message.received'; frame = await usual.next())
      if (frame?.event) types.push(frame.event)
    expect(types).not.toContain('line.offline')
    asked.close()
    usual.close()
  })

  it('is listed by the command line', async () => {
    await setState(world, 'OFFLINE', LINE)
    await world.advance(6 * MINUTE)
    const env = { TRUNKLINE_URL: world.app.url() }
    const own = await runCli(['alerts'], env)
    expect(own.stdout).toMatch(new RegExp(`line\\.offline +\\S+ +The line \\${LINE} is offline`))
    const all = await runCli(['alerts', 'all', '--json'], env)
    expect(JSON.parse(all.stdout)).toMatchObject([{ alert: 'line.offline', sendblue_number: LINE }])
  })
})
