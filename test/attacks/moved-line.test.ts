import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Driver } from '../../src/drivers/contract.js'
import { linesIn } from '../lines/support.js'
import { createWorld, ENGINES, type World } from '../support/world.js'

describe.each(ENGINES)('a line that is pointed at the host of an attacker on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine, { isReal: true })
    ;(world.app.ctx.drivers as Map<string, Driver>).set('post', carrier.driver)
  })
  afterAll(() => world.close())

  const { carrier, admin, add, change } = linesIn(() => world)

  it.each([
    ['left out', {}],
    ['given as it is shown', { token: '(kept)' }],
  ])('does not get the stored password when it is %s', async (_, given) => {
    const line = await add()
    const before = [carrier.connected.length, carrier.tried.length]
    const config = { server: 'attacker.example', ...given }
    for (const reply of [
      await change(line.id, { config }),
      await admin('POST', `lines/${line.id}/test`, { config }),
    ])
      expect([reply.status, reply.body.error?.message]).toEqual([
        400,
        'config.token: give it again: it was saved for loft, and is sent nowhere else',
      ])
    expect([carrier.connected.length, carrier.tried.length]).toEqual(before)
    expect((await admin('GET', `lines/${line.id}`)).body.config.server).toBe('loft')
  })

  it('gets a password that is given with it, and other settings change without one', async () => {
    const line = await add({ server: 'loft', token: 'sesame', pin: '1234' })
    expect((await change(line.id, { config: { server: 'LOFT', birds: 3 } })).status).toBe(200)
    expect(carrier.connected.at(-1)).toEqual({ server: 'LOFT', token: 'sesame', pin: '1234', birds: 3 })
    const half = await change(line.id, { config: { server: 'new', token: 'abracadabra' } })
    expect([half.status, half.body.error.message]).toEqual([
      400,
      expect.stringMatching(/^config\.pin: give it/),
    ])
    const whole = { server: 'new', token: 'abracadabra', pin: null }
    expect((await change(line.id, { config: whole })).status).toBe(200)
    expect(carrier.connected.at(-1)).toEqual({ server: 'new', token: 'abracadabra' })
  })

  it('is refused by the drivers that are built in', async () => {
    const mac = { url: 'http://127.0.0.1:9/', password: 'sesame' }
    const line = await add(mac, { driver: 'bluebubbles' })
    const to = (url: string) => change(line.id, { config: { url } })
    expect((await to('http://127.0.0.1:9/base')).status).toBe(200)
    for (const url of ['http://127.0.0.1:10/', 'https://127.0.0.1:9/', 'http://127.0.0.1:9@evil.example/'])
      expect((await to(url)).body.error.message).toBe(
        'config.password: give it again: it was saved for http://127.0.0.1:9, and is sent nowhere else',
      )
    const smsc = { host: '127.0.0.1', port: 9, system_id: 'me' }
    const smpp = await add({ ...smsc, password: 'sesame' }, { driver: 'smpp' })
    expect((await change(smpp.id, { config: { ...smsc, window: 3 } })).status).toBe(200)
    for (const there of [{ host: 'evil.example' }, { port: 10 }])
      expect((await change(smpp.id, { config: { ...smsc, ...there } })).body.error.message).toBe(
        'config.password: give it again: it was saved for 127.0.0.1:9, and is sent nowhere else',
      )
  })
})
