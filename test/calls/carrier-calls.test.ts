import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CallNews } from '../../src/core/calls/carrier-call.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { eventually } from '../support/server.js'
import { ADA, BOB, CLEO, createWorld, ENGINES, EVE, type Json, type World } from '../support/world.js'

const [LINE, SHARED] = ['+12025550171', '+12025550173']
const OTHER_LINE = '+12025550179'
const HOUR = 3_600_000

describe.each(ENGINES)('calls that a driver reports on %s', (engine) => {
  let world: World
  let puppet: Puppet
  let accountId: string
  let other: Awaited<ReturnType<World['addAccount']>>
  let seen = 0
  let calls = 0

  beforeAll(async () => {
    puppet = createPuppet()
    world = await createWorld(engine, { drivers: [puppet] })
    accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
    other = await world.addAccount('other@example.com', OTHER_LINE)
    await addLine(LINE)
    const shared = await addLine(SHARED, { kind: 'shared' })
    await world.post(`/admin/lines/${shared}/members`, { account_id: other.id }, 'admin')
  })
  beforeEach(async () => {
    await forward(BOB)
    seen = (await callEvents()).length
  })
  afterAll(() => world.close())

  async function addLine(number: string, fields: object = {}): Promise<string> {
    const line = { account_id: accountId, number, driver: 'puppet', ...fields }
    const { id } = (await world.post('/admin/lines', line, 'admin')).body
    await world.settle()
    await eventually(async () => puppet.on(number), Boolean)
    return id
  }
  const now = () => world.app.ctx.clock.now()
  const forward = (number: string | null, line = LINE) =>
    world.call(number ? 'PUT' : 'DELETE', `/api/lines/${line}/call-forwarding`, {
      as: 'live',
      ...(number ? { body: { forwarding_number: number } } : {}),
    })
  /** A call of which the reports follow. */
  const begin = (fields: Partial<CallNews> = {}, line = LINE) => {
    const first: CallNews = { providerId: `CA${++calls}`, from: ADA, startedAt: now(), ...fields }
    return {
      first,
      tell: (more: Partial<CallNews> = {}) => puppet.on(line).host.call({ ...first, ...more }),
      row: async () =>
        (
          await world.app.ctx.db.all<Json>('select * from calls where provider_id = $1', [first.providerId])
        ).map((row) => ({ ...row })),
    }
  }
  const callEvents = async () => (await world.events()).filter((event: Json) => event.type === 'call.inbound')
  const newEvents = async () => (await callEvents()).slice(seen).map((event: Json) => event.data)
  const latest = async () => (await world.get('/v3/calls?limit=1')).body.data[0]

  it('go to the number that is set, and one event tells the end, as on a simulated line', async () => {
    const call = begin()
    const startedAt = now()
    expect(await call.tell()).toEqual({ forwardTo: BOB })
    expect(await latest()).toMatchObject({ from_number: ADA, to_number: LINE, state: 'ringing' })
    await world.advance(4000)
    await call.tell({ answeredAt: now() })
    expect(await latest()).toMatchObject({ state: 'answered', forwarded_to: BOB, outcome: null })
    expect(await newEvents()).toEqual([])
    await world.advance(61_500)
    await call.tell({ end: { outcome: 'COMPLETED', at: now() } })
    const [{ id }] = await call.row()
    expect(await latest()).toEqual({
      call_id: id,
      direction: 'inbound',
      line: LINE,
      from_number: ADA,
      to_number: LINE,
      forwarded_to: BOB,
      state: 'ended',
      outcome: 'COMPLETED',
      voicemail: false,
      sent_by: null,
      duration_seconds: 61,
      created_at: new Date(startedAt).toISOString(),
      answered_at: new Date(startedAt + 4000).toISOString(),
      ended_at: new Date(startedAt + 65_500).toISOString(),
    })
    expect(await newEvents()).toEqual([
      {
        eventId: `inbound_call_${id}`,
        accountEmail: 'dev@trunkline.local',
        callId: id,
        fromNumber: ADA,
        toNumber: LINE,
        forwardedTo: BOB,
        direction: 'inbound',
        status: 'COMPLETED',
        answered: true,
        duration: 61,
        provider: 'twilio',
        companyId: (await world.get('/account')).body.company_id,
        createdAt: startedAt,
        endedAt: startedAt + 65_500,
      },
    ])
  })

  it('are stored once, whatever the number and order of their reports', async () => {
    const call = begin()
    const at = now()
    const routes = await Promise.all(Array.from({ length: 8 }, () => call.tell()))
    expect(routes).toEqual(Array(8).fill({ forwardTo: BOB }))
    await forward(CLEO)
    expect(await call.tell()).toEqual({ forwardTo: BOB })
    await world.advance(9000)
    const end = { outcome: 'NO_ANSWER', at: now() } as const
    await Promise.all([call.tell({ end }), call.tell({ end }), call.tell()])
    await call.tell({ answeredAt: now() })
    await call.tell({ end: { outcome: 'BUSY', at: now() } })
    expect(await call.tell()).toEqual({ forwardTo: null })
    expect(await call.row()).toMatchObject([{ state: 'ended', outcome: 'NO_ANSWER', created_at: at }])
    expect(await newEvents()).toMatchObject([{ status: 'NO_ANSWER', duration: null, endedAt: at + 9000 }])
  })

  it('keep the times of the carrier, corrected where they cannot be', async () => {
    const call = begin({ startedAt: now() + HOUR })
    await call.tell()
    const at = now()
    await world.advance(60_000)
    await call.tell({ answeredAt: at - HOUR, end: { outcome: 'FAILED', at: now() + HOUR } })
    expect(await newEvents()).toMatchObject([
      { status: 'COMPLETED', createdAt: at, duration: 60, endedAt: at + 60_000 },
    ])
    expect((await callEvents()).at(-1)).toMatchObject({ at: at + 60_000 })
  })

  it('are rejected without an event: a blocked caller, and no number, also if that changes later', async () => {
    const block = `/admin/accounts/${accountId}/blocked-callers/${EVE}`
    await world.call('PUT', block, { as: 'admin' })
    const blocked = begin({ from: EVE })
    expect(await blocked.tell()).toEqual({ forwardTo: null })
    await world.call('DELETE', block, { as: 'admin' })
    await forward(null)
    const nowhere = begin()
    expect(await nowhere.tell()).toEqual({ forwardTo: null })
    await forward(BOB)
    for (const call of [blocked, nowhere]) {
      expect(await call.tell()).toEqual({ forwardTo: null })
      await call.tell({ end: { outcome: 'BUSY', at: now() } })
      expect(await call.row()).toMatchObject([{ state: 'turned_away', account_id: accountId }])
    }
    expect(await newEvents()).toEqual([])
  })

  it('end at once if the number is a line or the caller', async () => {
    for (const [number, status] of [
      [OTHER_LINE, 'FAILED'],
      [ADA, 'BUSY'],
    ] as const) {
      await forward(number)
      const call = begin()
      expect(await call.tell()).toEqual({ forwardTo: null })
      expect(await call.tell()).toEqual({ forwardTo: null })
      expect((await newEvents()).at(-1)).toMatchObject({ status, forwardedTo: number, duration: null })
    }
    expect(await newEvents()).toHaveLength(2)
  })

  it('that nobody asked about were missed, and are told once with their outcome', async () => {
    const startedAt = now() - 2 * HOUR
    const missed = begin({ startedAt, end: { outcome: 'FAILED', at: startedAt + 5000 } })
    const taken = begin({
      startedAt,
      answeredAt: startedAt + 3000,
      end: { outcome: 'COMPLETED', at: startedAt + 10_000 },
      forwardedTo: CLEO,
    })
    for (const call of [missed, taken, missed, taken]) expect(await call.tell()).toEqual({ forwardTo: null })
    expect(await newEvents()).toMatchObject([
      { status: 'FAILED', forwardedTo: null, createdAt: startedAt, endedAt: startedAt + 5000 },
      { status: 'COMPLETED', forwardedTo: CLEO, duration: 7 },
    ])
    // The log is in the order of writing.
    expect((await callEvents()).at(-1)).toMatchObject({ at: now() })
    await forward(null)
    await begin({ end: { outcome: 'FAILED', at: now() } }).tell()
    expect(await newEvents()).toHaveLength(2)
  })

  it('on a shared line belong to the account that talks with the caller; a stranger leaves no number', async () => {
    await world.call('PATCH', `/admin/accounts/${accountId}`, {
      as: 'admin',
      body: { default_forwarding_number: CLEO },
    })
    const stranger = begin({ from: EVE }, SHARED)
    expect(await stranger.tell()).toEqual({ forwardTo: null })
    expect(await stranger.row()).toMatchObject([{ account_id: null, caller: '' }])
    await world.send({ from_number: SHARED, number: EVE })
    await world.settle()
    await stranger.tell({ end: { outcome: 'FAILED', at: now() } })
    expect(await newEvents()).toEqual([])
    const call = begin({ from: EVE }, SHARED)
    expect(await call.tell()).toEqual({ forwardTo: CLEO })
    await call.tell({ end: { outcome: 'CANCELLED', at: now() } })
    expect(await newEvents()).toMatchObject([{ status: 'CANCELLED', toNumber: SHARED }])
    expect((await world.get('/v3/calls', other.live)).body.data).toEqual([])
  })

  it('are not calls of virtual phones, and cannot be taken in the console', async () => {
    const call = begin()
    await call.tell()
    const [{ id }] = await call.row()
    for (const phone of [ADA, BOB]) {
      const { data } = (await world.get(`/sim/phones/${phone}/calls`)).body
      expect(data.filter((one: Json) => one.id === id)).toEqual([])
      expect((await world.post(`/sim/phones/${phone}/calls/${id}/hangup`, undefined)).status).toBe(404)
    }
    expect((await world.post(`/sim/phones/${BOB}/calls/${id}/answer`, undefined)).status).toBe(404)
    expect((await world.post(`/sim/calls/${id}/answer`, undefined)).status).toBe(409)
    expect(await call.row()).toMatchObject([{ state: 'ringing' }])
    await call.tell({ end: { outcome: 'CANCELLED', at: now() } })
  })

  it('whose reports stop end by themselves, over restarts', async () => {
    const [rings, talks] = [begin(), begin()]
    await rings.tell()
    await talks.tell({ answeredAt: now() })
    await world.restart(now() + 4 * HOUR)
    expect(await newEvents()).toEqual([])
    expect(await talks.row()).toMatchObject([{ state: 'answered' }])
    await world.restart(now() + 301_000)
    expect(await newEvents()).toMatchObject([
      { status: 'FAILED', duration: null },
      { status: 'COMPLETED', answered: true },
    ])
    await rings.tell({ end: { outcome: 'NO_ANSWER', at: now() } })
    expect(await newEvents()).toHaveLength(2)
  })

  it('end with their line, and a line that is gone takes none', async () => {
    const number = '+12025550175'
    const lineId = await addLine(number)
    await forward(BOB, number)
    const { host } = puppet.on(number)
    const report = { providerId: 'CA-gone', from: ADA, startedAt: now() }
    expect(await host.call(report)).toEqual({ forwardTo: BOB })
    expect((await world.call('DELETE', `/admin/lines/${lineId}`, { as: 'admin' })).status).toBe(204)
    expect(await newEvents()).toMatchObject([{ status: 'FAILED', toNumber: number }])
    await host.call({ ...report, end: { outcome: 'COMPLETED', at: now() } })
    expect(await host.call({ ...report, providerId: 'CA-late' })).toEqual({ forwardTo: null })
    expect(await newEvents()).toHaveLength(1)
  })

  it('of an account that is removed cause no event', async () => {
    const account = await world.addAccount('gone@example.com', '+12025550178')
    const number = '+12025550177'
    await addLine(number, { account_id: account.id })
    await world.call('PATCH', `/admin/accounts/${account.id}`, {
      as: 'admin',
      body: { default_forwarding_number: CLEO },
    })
    const { host } = puppet.on(number)
    const report = { providerId: 'CA-removed', from: ADA, startedAt: now() }
    expect(await host.call(report)).toEqual({ forwardTo: CLEO })
    expect((await world.call('DELETE', `/admin/accounts/${account.id}`, { as: 'admin' })).status).toBe(204)
    await host.call({ ...report, end: { outcome: 'COMPLETED', at: now() } })
    const rows = await world.app.ctx.db.all<Json>("select state from calls where provider_id = 'CA-removed'")
    expect(rows).toMatchObject([{ state: 'ended' }])
    const events = await world.app.ctx.db.all<Json>(
      "select type from events where account_id = $1 and type like 'call%'",
      [account.id],
    )
    expect(events).toEqual([])
  })
})
