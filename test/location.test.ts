import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  START,
  type World,
} from './support/world.js'

const PARIS = { latitude: 48.8584, longitude: 2.2945 }
const ROME = { latitude: 41.8902, longitude: 12.4922 }
let next = 6000
/** A person nobody else has met. */
const stranger = () => `+1202555${next++}`

describe.each(ENGINES)('locations on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const share = (phone: string, fields: object = {}, as?: 'test') =>
    world.call('PUT', `/sim/phones/${phone}/location`, { as, body: { to: LINE, ...fields } })
  const move = (phone: string, fields: object) =>
    world.call('PATCH', `/sim/phones/${phone}/location`, { body: fields })
  const unshare = (phone: string, to = LINE) =>
    world.call('DELETE', `/sim/phones/${phone}/location?to=${encodeURIComponent(to)}`)
  const place = async (phone: string, line = LINE) =>
    (await world.get(`/api/location/${phone}?from_number=${encodeURIComponent(line)}`)).body

  it('goes from not_shared over shared_no_fix_yet to shared_with_fix, and back', async () => {
    const phone = stranger()
    const head = { status: 'OK', from_number: LINE, number: phone }
    expect(await place(phone)).toEqual({ ...head, state: 'not_shared' })
    expect((await share(phone)).status).toBe(200)
    expect(await place(phone)).toEqual({ ...head, state: 'shared_no_fix_yet' })
    expect((await move(phone, PARIS)).body).toEqual({ moved: 1 })
    const timestamp = new Date(world.app.ctx.clock.now()).toISOString()
    expect(await place(phone)).toEqual({
      ...head,
      state: 'shared_with_fix',
      location: { ...PARIS, address: null, locationType: 'live', timestamp },
    })
    expect((await unshare(phone)).status).toBe(204)
    expect(await place(phone)).toEqual({ ...head, state: 'not_shared' })
    expect((await unshare(phone)).status).toBe(404)
  })
})
