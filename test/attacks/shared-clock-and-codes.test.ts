import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, SHARED_LINE, type Who, type World } from '../support/world.js'

describe.each(ENGINES)('what accounts of one server share on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const now = () => world.app.ctx.clock.now()
  const move = (as: Who, body: object = {}) => world.post('/sim/clock', { advance_ms: 1000, ...body }, as)

  it('the clock moves for a single account and its worlds, whichever of its keys asks', async () => {
    const before = now()
    for (const as of ['live', 'test', 'admin'] as const) expect((await move(as)).status).toBe(200)
    const own = (await world.post('/sim/worlds', {}, 'test')).body
    expect((await world.get('/sim/clock')).body.can_advance).toBe(true)
    expect((await move('live')).status).toBe(200)
    expect((await move(own.keys.live)).status).toBe(200)
    await world.settle()
    expect(now()).toBe(before + 5000)
  })

  it("no account moves its neighbour's clock: only an admin key that says all: true", async () => {
    const made = (await world.post('/sim/worlds', {}, 'admin')).body
    const before = now()
    const refused = await move('live')
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
    expect(refused.body.error.message).toContain('all: true')
    for (const as of ['test', 'admin', made.keys.live] as const) expect((await move(as)).status).toBe(403)
    for (const as of ['live', made.keys.test] as const)
      expect((await move(as, { all: true })).status).toBe(403)
    expect((await move('admin', { all: true })).status).toBe(200)
    expect(now()).toBe(before + 1000)
    await world.call('DELETE', `/sim/worlds/${made.id}`, { as: 'admin' })
    expect((await move('live')).status).toBe(200)
    const neighbour = await world.addAccount('neighbour@example.com', '+12025550171')
    for (const as of ['live', neighbour.live] as const) {
      expect((await move(as)).status).toBe(403)
      expect((await world.get('/sim/clock', as)).body.can_advance).toBe(false)
    }
  })

  it("one account's pending codes leave its neighbour on a shared line room for its own", async () => {
    const neighbour = await world.addAccount('codes@example.com', '+12025550172')
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((one: Json) => one.number === SHARED_LINE && one.world === 'live')
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: neighbour.id }, 'admin')
    const serviceOf = async (as: Who) =>
      (await world.post('/api/v2/verify/services', { friendly_name: 'Shop', code_length: 4 }, as)).body.sid
    const start = (as: Who, sid: string) =>
      world.post(`/api/v2/verify/services/${sid}/verifications`, { to: '+13035551234' }, as)
    const greedy = await serviceOf('live')
    const statuses: number[] = []
    // A hundredth of the codes of four digits, and more.
    for (let i = 0; i < 110; i++) statuses.push((await start('live', greedy)).status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(100)
    const over = await start('live', greedy)
    expect([over.status, over.headers['retry-after']]).toEqual([429, '300'])
    expect(await start(neighbour.live, await serviceOf(neighbour.live))).toMatchObject({
      status: 201,
      body: { delivery_target: { pool_number: SHARED_LINE } },
    })
  })
})
