import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'
import { MINUTE, ownId, setState, states, told } from './support.js'

const NEIGHBOUR = '+12025550170'

describe.each(ENGINES)('line.offline on %s', (engine) => {
  let world: World
  let neighbour: Json
  beforeAll(async () => {
    world = await createWorld(engine)
    neighbour = await world.addAccount('neighbour@example.com', NEIGHBOUR)
  })
  beforeEach(async () => {
    await setState(world, 'ONLINE', LINE)
    await world.reset()
    await world.advance(0)
  })
  afterAll(() => world.close())

  const alerts = async (as?: Json) => (await world.get('/v3/alerts', as)).body.data
  const heard = (accountId?: string) => states(world, 'line.offline', accountId)

  it('begins after five minutes, once, and ends once, for the account of the line only', async () => {
    const since = new Date(world.app.ctx.clock.now()).toISOString()
    await setState(world, 'OFFLINE', LINE)
    await world.advance(5 * MINUTE - 1)
    expect(await heard()).toEqual([])
    await world.advance(1)
    await world.advance(MINUTE)
    await world.advance(60 * MINUTE)
    expect(await heard()).toEqual(['began'])
    const [began] = await told(world, 'line.offline')
    const lineId = began.lineId
    expect(began).toEqual({
      state: 'began',
      since: Date.parse(since),
      endedAt: null,
      lineId,
      lineNumber: LINE,
    })
    const [alert] = await alerts()
    expect(alert).toEqual({
      account_id: await ownId(world),
      alert: 'line.offline',
      summary: `The line ${LINE} is offline: its messages wait.`,
      since,
      began_at: new Date(Date.parse(since) + 5 * MINUTE).toISOString(),
      worker_id: lineId,
      sendblue_number: LINE,
    })
    await setState(world, 'ONLINE', LINE)
    await world.advance(1000)
    await world.advance(1000)
    expect(await heard()).toEqual(['began', 'ended'])
    expect((await told(world, 'line.offline'))[1]).toMatchObject({
      since: Date.parse(since),
      endedAt: world.app.ctx.clock.now() - 1000,
      lineNumber: LINE,
    })
    expect(await alerts()).toEqual([])
    expect([await heard(neighbour.id), await alerts(neighbour.live)]).toEqual([[], []])
  })

  it('says nothing of a short break', async () => {
    for (let i = 0; i < 3; i++) {
      await setState(world, 'OFFLINE', LINE)
      await world.advance(4 * MINUTE)
      await setState(world, 'ONLINE', LINE)
      await world.advance(4 * MINUTE)
    }
    expect(await heard()).toEqual([])
  })

  it('is told to every account of a shared line, and ends for the one that leaves it', async () => {
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const { id } = lines.find((one: Json) => one.number === SHARED_LINE && one.world === 'live')
    await world.post(`/admin/lines/${id}/members`, { account_id: neighbour.id }, 'admin')
    await setState(world, 'OFFLINE', SHARED_LINE)
    await world.advance(6 * MINUTE)
    expect([await heard(), await heard(neighbour.id)]).toEqual([['began'], ['began']])
    expect((await world.get('/admin/alerts', 'admin')).body.data).toHaveLength(2)
    await world.call('DELETE', `/admin/lines/${id}/members/${neighbour.id}`, { as: 'admin' })
    await world.advance(1000)
    expect([await heard(), await heard(neighbour.id)]).toEqual([['began'], ['began', 'ended']])
    await setState(world, 'ONLINE', SHARED_LINE)
    await world.advance(1000)
    expect([await heard(), await heard(neighbour.id)]).toEqual([
      ['began', 'ended'],
      ['began', 'ended'],
    ])
  })

  it('is not told of a blocked line, and ends with the block', async () => {
    await world.setLine(LINE, { blocked: true })
    await setState(world, 'OFFLINE', LINE)
    await world.advance(20 * MINUTE)
    expect(await heard()).toEqual([])
    await world.setLine(LINE, { blocked: false })
    await world.advance(4 * MINUTE)
    expect(await heard()).toEqual([])
    await world.advance(MINUTE)
    expect(await heard()).toEqual(['began'])
    await world.setLine(LINE, { blocked: true })
    await world.advance(1000)
    expect(await heard()).toEqual(['began', 'ended'])
    await world.setLine(LINE, { blocked: false })
  })

  it('is not told again after a restart', async () => {
    await setState(world, 'OFFLINE', LINE)
    await world.advance(6 * MINUTE)
    await world.restart()
    await world.advance(MINUTE)
    expect(await heard()).toEqual(['began'])
    await setState(world, 'ONLINE', LINE)
    await world.restart()
    await world.advance(MINUTE)
    expect(await heard()).toEqual(['began', 'ended'])
  })

  it('is forgotten with a world that is reset', async () => {
    await setState(world, 'OFFLINE', LINE)
    await world.advance(6 * MINUTE)
    await world.reset()
    expect(await alerts()).toEqual([])
    await world.advance(6 * MINUTE)
    expect(await heard()).toEqual([])
  })
})
