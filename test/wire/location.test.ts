import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, LINE, SHARED_LINE, type World } from '../support/world.js'

const PARIS = { latitude: 48.8584, longitude: 2.2945 }
const ROME = { latitude: 41.8902, longitude: 12.4922 }

describe.each(ENGINES)('locations with the published SDK on %s', (engine) => {
  let world: World
  let client: SendblueAPI
  beforeAll(async () => {
    world = await createWorld(engine)
    client = new SendblueAPI({
      baseURL: world.app.url(),
      apiKey: 'dev-live-key',
      apiSecret: 'dev-live-secret',
    })
  })
  afterAll(() => world.close())

  const phone = (method: string, body: object, path = '') =>
    world.call(method, `/sim/phones/${ADA}/location${path}`, { body })

  it('requests a location, follows it, reads it and lists it', async () => {
    const asked = await client.requestLocation.create({ from_number: LINE, number: ADA })
    expect(asked).toMatchObject({ status: 'QUEUED', number: ADA, uuid: asked.message_handle })
    expect(await client.location.retrieve(ADA, { from_number: LINE })).toEqual({
      status: 'OK',
      from_number: LINE,
      number: ADA,
      state: 'not_shared',
    })
    expect(await client.location.list({ from_number: LINE })).toEqual({
      status: 'OK',
      from_number: LINE,
      locations: [],
    })

    const stream = await client.location.watch(ADA, { from_number: LINE })
    const events = stream[Symbol.asyncIterator]()
    const next = async () => (await events.next()).value!
    // Without the names of the events each is known by its fields.
    const ready = await next()
    expect(Object.keys(ready).sort()).toEqual(['from_number', 'number', 'status'])
    expect(await next()).toMatchObject({ status: 'OK', state: 'not_shared' })

    await world.advance(1000)
    expect(await world.inbox(ADA)).toMatchObject([
      { message_handle: asked.message_handle, location_request: true },
    ])
    expect((await phone('POST', { to: LINE, ...PARIS }, '/accept')).status).toBe(201)
    expect(await next()).toMatchObject({ state: 'shared_with_fix', location: PARIS })
    await world.advance(20_000)
    await phone('PATCH', ROME)
    const moved = await next()
    expect(moved).toMatchObject({ status: 'OK', number: ADA, state: 'shared_with_fix', location: ROME })
    expect(moved).not.toHaveProperty('reason')

    const read = await client.location.retrieve(ADA, { from_number: LINE })
    expect(read).toMatchObject({ state: 'shared_with_fix', location: moved.location })
    expect((await client.location.list({ from_number: LINE })).locations).toEqual([
      { number: ADA, state: 'shared_with_fix', location: read.location },
    ])
    const { data } = await client.messages.list({ is_outbound: 'false' })
    expect(data).toMatchObject([
      { message_type: 'location', content: '', location: { ...PARIS, duration: 'indefinitely' } },
    ])
    expect((await client.messages.retrieve(data![0]!.message_handle!)).data).toEqual(data![0])

    await world.call('DELETE', `/sim/phones/${ADA}/location?to=${encodeURIComponent(LINE)}`)
    expect(await next()).toMatchObject({ status: 'OK', reason: 'sharing_ended' })
    expect((await events.next()).done).toBe(true)
  })

  it('hangs up without harm', async () => {
    const stream = await client.location.watch(ADA, { from_number: LINE })
    for await (const event of stream) {
      expect(event.number).toBe(ADA)
      break
    }
    expect((await client.location.retrieve(ADA, { from_number: LINE })).status).toBe('OK')
  })

  it('gets its own error classes, once', async () => {
    const shared = { from_number: SHARED_LINE }
    const calls = [
      () => client.location.list(shared),
      () => client.location.retrieve(ADA, shared),
      () => client.location.watch(ADA, shared),
      () => client.requestLocation.create({ ...shared, number: ADA }),
    ]
    for (const call of calls) {
      const error = await call().catch((thrown) => thrown)
      expect(error).toBeInstanceOf(SendblueAPI.BadRequestError)
      expect(error.message).toContain('shared lines cannot use locations')
      expect(error.headers.get('x-should-retry')).toBe('false')
    }
  })
})
