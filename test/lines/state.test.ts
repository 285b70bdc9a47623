import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'

const LINE = '+12025550171'

describe.each(ENGINES)('what a driver says of its line on %s', (engine) => {
  let world: World
  let puppet: Puppet
  beforeAll(async () => {
    puppet = createPuppet()
    world = await createWorld(engine, { drivers: [puppet] })
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    const line = { account_id: account.id, number: LINE, driver: 'puppet' }
    expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
    await world.settle()
  })
  afterAll(() => world.close())

  const state = async () => {
    await world.settle()
    const { data } = (await world.get('/api/v2/lines/state')).body
    return data.find((one: Json) => one.sendblue_number === LINE).status
  }
  /** Writes fail meanwhile. */
  function withoutDatabase(work: () => void) {
    const { db } = world.app.ctx
    const { tx } = db
    db.tx = () => Promise.reject(new Error('The database is away'))
    work()
    db.tx = tx
  }

  it('is written a second later when it could not be written at once', async () => {
    const { host } = puppet.on(LINE)
    expect(await state()).toBe('ONLINE')
    withoutDatabase(() => host.state('OFFLINE', 'Nobody answers'))
    expect(await state()).toBe('ONLINE')
    await world.advance(1000)
    expect(await state()).toBe('OFFLINE')
  })

  it('is still written after something newer took the place of what could not be written', async () => {
    const { host } = puppet.on(LINE)
    withoutDatabase(() => host.state('ONLINE'))
    expect(await state()).toBe('OFFLINE')
    host.state('DEGRADED', 'Slow')
    expect(await state()).toBe('DEGRADED')
    await world.advance(1000)
    host.state('OFFLINE', 'Gone again')
    expect(await state()).toBe('OFFLINE')
  })
})
