import { afterEach, describe, expect, it } from 'vitest'
import { createPuppet } from '../support/puppet.js'
import { eventually } from '../support/server.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'

const DAY = 86_400_000

describe.each(ENGINES)('a clock that was moved ahead, on %s', (engine) => {
  let world: World
  afterEach(() => world.close())
  const aheadMs = async () => Date.parse((await world.get('/sim/clock')).body.now) - Date.now()
  const move = (ms: number) => world.post('/sim/clock', { advance_ms: ms })

  it('stays ahead after a restart, and messages go on', async () => {
    world = await createWorld(engine, { realTime: true })
    for (const ms of [DAY, 2 * DAY]) expect((await move(ms)).status).toBe(200)
    await world.restart()
    expect(await aheadMs()).toBeGreaterThan(3 * DAY - 1000)
    await world.send({ content: 'From the future' })
    await eventually(
      async () => (await world.inbox(ADA)).length,
      (count) => count === 1,
    )
  })

  it('is right again once a line is real', async () => {
    world = await createWorld(engine, { realTime: true, drivers: [createPuppet()] })
    await move(DAY)
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    const line = { account_id: account.id, number: '+13105550140', driver: 'puppet' }
    expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
    for (let restart = 0; restart < 2; restart++) {
      await world.restart()
      expect(world.app.ctx.clock.now() - Date.now()).toBeLessThan(1000)
    }
  })
})
