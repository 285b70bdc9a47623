import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

describe.each(ENGINES)('lines, seats and look-ups by the published SDK on %s', (engine) => {
  let world: World
  let client: SendblueAPI
  let accountId: string
  beforeAll(async () => {
    world = await createWorld(engine)
    client = new SendblueAPI({
      baseURL: world.app.url(),
      apiKey: 'dev-live-key',
      apiSecret: 'dev-live-secret',
      maxRetries: 0,
    })
    accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  })
  afterAll(() => world.close())

  const fault = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error) => error,
    )

  it('lines.getState', async () => {
    expect(await client.lines.getState()).toMatchObject({
      status: 'OK',
      data: [
        { sendblue_number: LINE, status: 'ONLINE', assignment: 'assigned', effective_until: null },
        { sendblue_number: SHARED_LINE, status: 'ONLINE', assignment: 'shared' },
      ],
    })
    await world.setLine(LINE, { config: { state: 'DEGRADED' } })
    const { data, snapshot_at } = await client.lines.getState()
    expect(data[0]).toMatchObject({ status: 'DEGRADED', degraded_since: snapshot_at })
    await world.setLine(LINE, { config: {} })
  })

  it('lines.callForwarding: set, read back, a call rings there, and cleared', async () => {
    const none = { forwarding_number: null, sendblue_number: LINE }
    const bob = { forwarding_number: BOB, sendblue_number: LINE }
    expect(await client.lines.callForwarding.retrieve(LINE)).toEqual(none)
    expect(await client.lines.callForwarding.update(LINE, { forwarding_number: '2025550102' })).toEqual(bob)
    expect(await client.lines.callForwarding.retrieve(LINE)).toEqual(bob)

    const call = (await world.post(`/sim/phones/${ADA}/calls`, { to: LINE })).body
    const rings = (await world.get(`/sim/phones/${BOB}/calls`)).body.data
    expect(rings).toMatchObject([{ id: call.id, number: ADA, state: 'ringing' }])
    await world.post(`/sim/phones/${BOB}/calls/${call.id}/answer`, undefined)
    await world.advance(5000)
    await world.post(`/sim/phones/${BOB}/calls/${call.id}/hangup`, undefined)
    expect((await world.events()).filter((event: Json) => event.type === 'call.inbound')).toMatchObject([
      { data: { callId: call.id, forwardedTo: BOB, status: 'COMPLETED', duration: 5 } },
    ])

    expect(await client.lines.callForwarding.delete(LINE)).toEqual(none)
    expect(await client.lines.callForwarding.delete(LINE)).toEqual(none)
    expect((await world.post(`/sim/phones/${ADA}/calls`, { to: LINE })).body.state).toBe('turned_away')
    expect(await fault(client.lines.callForwarding.retrieve('+12025550159'))).toBeInstanceOf(
      SendblueAPI.NotFoundError,
    )
    expect(
      await fault(client.lines.callForwarding.update(LINE, { forwarding_number: '911' })),
    ).toBeInstanceOf(SendblueAPI.BadRequestError)
  })

  it('v2.seats: list, count, retrieve', async () => {
    expect(await client.v2.seats.list()).toEqual([])
    const made = (
      await world.post(
        '/admin/seats',
        { account_id: accountId, email: 'rep@example.com', subject: 'firebase-1', first_name: 'Rep' },
        'admin',
      )
    ).body
    const [seat] = await client.v2.seats.list({ email: 'rep@example.com', limit: 1, offset: 0 })
    expect(seat).toMatchObject({
      seat_id: made.id,
      email: 'rep@example.com',
      first_name: 'Rep',
      last_name: null,
      forwarding_number: null,
      account: 'Default world',
    })
    expect(await client.v2.seats.count()).toEqual({ count: 1 })
    expect(await client.v2.seats.count({ email: 'none@example.com' })).toEqual({ count: 0 })
    for (const id of [made.id, 'firebase-1'])
      expect(await client.v2.seats.retrieve(id)).toEqual({ status: 'OK', seat })
    expect(await fault(client.v2.seats.retrieve('none'))).toBeInstanceOf(SendblueAPI.NotFoundError)
  })

  it('lookups.lookupNumber', async () => {
    expect(await client.lookups.lookupNumber({ number: ADA })).toEqual({ number: ADA, service: 'iMessage' })
    expect(await client.lookups.lookupNumber({ number: BOB })).toEqual({ number: BOB, service: 'SMS' })
    await world.setPhone(ADA, { email: 'ada+1@example.com' })
    expect(await client.lookups.lookupNumber({ number: 'ada+1@example.com' })).toEqual({
      number: 'ada+1@example.com',
      service: 'iMessage',
    })
  })
})
