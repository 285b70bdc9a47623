import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPhoneWorld, type PhoneWorld } from '../../support/drivers/phone-world.js'
import { ENGINES } from '../../support/world.js'

const HOUR = 3_600_000

describe.each(ENGINES)('a phone that is watched on %s', (engine) => {
  let on: PhoneWorld
  beforeEach(async () => {
    on = await createPhoneWorld(engine)
    await on.pass(5000)
  })
  afterEach(() => on.close())

  const order = () => on.phone.settings.messages.processing_order
  const warnings = (text: string) => on.world.logs.filter((line) => line.includes(text)).length

  it('sets the order again after somebody has changed it on the phone', async () => {
    on.phone.settings.messages.processing_order = 'LIFO'
    await on.pass(60_000)
    expect([order(), (await on.line()).state]).toEqual(['FIFO', 'ONLINE'])
  })

  it('says that the app does not take the order, until it does', async () => {
    on.phone.fault('PATCH /settings', 500)
    on.phone.settings.messages.processing_order = 'LIFO'
    await on.pass(60_000)
    expect(await on.line()).toMatchObject({
      state: 'DEGRADED',
      state_detail: expect.stringMatching(/^The app does not take the settings .* set the order .* to FIFO/),
    })
    on.phone.clear()
    await on.pass(60_000)
    expect([order(), (await on.line()).state]).toEqual(['FIFO', 'ONLINE'])
  })

  it('asks a phone that is away seldom, however many texts are open, and warns once', async () => {
    for (let i = 0; i < 30; i++) await on.send(`text ${i}`)
    on.phone.heard.length = 0
    for (const route of ['GET /messages/:id', 'GET /inbox', 'GET /health'])
      on.phone.fault(route, 'cut before')
    await on.pass(60_000)
    expect(on.phone.heard.filter((route) => route === 'GET /messages/:id').length).toBeLessThanOrEqual(5)
    expect(warnings("could not read the phone's inbox")).toBe(1)
    expect(warnings('could not ask the phone about sent texts')).toBe(1)
    on.phone.clear()
    for (const row of on.phone.queue.rows.values()) on.phone.queue.set(row, 'Delivered')
    await on.pass(60_000)
    const { data } = (await on.world.get('/api/v2/messages?status=DELIVERED&limit=50')).body
    expect(data).toHaveLength(30)
  })

  it('hears of a delivery at once when the phone can call', async () => {
    const handle = await on.send('slow')
    await on.pass(HOUR)
    await on.phone.called()
    on.phone.queue.set(on.phone.queue.rows.get(handle)!, 'Delivered')
    expect(await on.phone.called()).toEqual([200])
    await on.pass(1)
    expect((await on.world.record(handle)).status).toBe('DELIVERED')
  })
})
