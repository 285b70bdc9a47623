import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  createWorld,
  DAN,
  ENGINES,
  EVE,
  type Json,
  LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'

describe.each(ENGINES)('calls from lines on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let account: Json
  let seen = 0
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    account = (await world.get('/admin/accounts', 'admin')).body.data.find((one: Json) => one.id !== b.id)
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    seen = (await callEvents()).length
  })

  const place = (body: object, as: Who = 'live', headers?: Record<string, string>) =>
    world.post('/sim/calls', body, as, headers)
  const call = async (to: string = ADA) => (await place({ from: LINE, to })).body
  const hangUp = (id: string, as: Who = 'live') => world.post(`/sim/calls/${id}/hangup`, undefined, as)
  const act = (phone: string, id: string, action: string, as: Who = 'live') =>
    world.post(`/sim/phones/${phone}/calls/${id}/${action}`, undefined, as)
  const onPhone = async (phone: string) => (await world.get(`/sim/phones/${phone}/calls`)).body.data
  const callEvents = async () =>
    (await world.events()).filter((event: Json) => event.type.startsWith('call.'))
  const newEvents = async () => (await callEvents()).slice(seen)

  it('ring a phone; an answered call is COMPLETED, and one event says everything', async () => {
    await world.post('/api/v2/contacts', { number: ADA, first_name: 'Ada' })
    const { contact } = (await world.get(`/api/v2/contacts/${ADA}`)).body
    const seat = (
      await world.post(
        '/admin/seats',
        { account_id: account.id, email: 's@example.com', subject: 'sub' },
        'admin',
      )
    ).body
    seen = (await callEvents()).length
    const { body: placed } = await place({ from: LINE, to: ADA, seat_id: 'sub' })
    expect(placed).toMatchObject({ from: LINE, to: ADA, state: 'ringing', outcome: null, sent_by: seat.id })
    expect((await onPhone(ADA))[0]).toMatchObject({
      id: placed.id,
      direction: 'in',
      number: LINE,
      line: LINE,
      state: 'ringing',
    })
    const startedAt = world.app.ctx.clock.now()
    await world.advance(3000)
    expect((await act(ADA, placed.id, 'answer')).body).toMatchObject({ state: 'answered' })
    await world.advance(61_500)
    expect(await newEvents()).toEqual([])
    expect((await hangUp(placed.id)).body).toMatchObject({ state: 'ended', outcome: 'COMPLETED' })
    expect((await onPhone(ADA))[0]).toMatchObject({ id: placed.id, outcome: 'COMPLETED' })
    expect((await world.get('/sim/calls')).body.data[0]).toMatchObject({
      id: placed.id,
      outcome: 'COMPLETED',
    })
    const [event, ...rest] = await newEvents()
    expect(rest).toEqual([])
    expect(event).toMatchObject({ type: 'call.outbound', subject: placed.id, at: startedAt + 64_500 })
    expect(event.data).toEqual({
      callId: placed.id,
      fromNumber: LINE,
      toNumber: ADA,
      direction: 'outbound',
      status: 'COMPLETED',
      duration: 61,
      provider: 'twilio',
      companyId: (await world.get('/account')).body.company_id,
      contactId: contact.contact_id,
      recordingUrl: null,
      transcript: null,
      metadata: {},
      createdAt: startedAt,
      disposition: 'connected',
      origin: 'DASHBOARD',
      sentBy: seat.id,
    })
    expect(event.data.contactId).toMatch(/^[\da-f-]{36}$/)
  })

  it('end in each status, with the disposition that belongs to it', async () => {
    const got: unknown[] = []
    const end = async (deed: (id: string) => Promise<unknown>, to = BOB) => {
      const { id } = await call(to)
      await deed(id)
      const { data } = (await newEvents()).at(-1)!
      expect(data).toMatchObject({ callId: id, toNumber: to, contactId: null, sentBy: 'dev@trunkline.local' })
      got.push([data.status, data.disposition, data.duration])
    }
    await end((id) => act(BOB, id, 'decline'))
    await end((id) => hangUp(id))
    await end(() => world.advance(30_000))
    await end(async (id) => {
      await act(BOB, id, 'voicemail')
      await world.advance(9000)
      await hangUp(id)
    })
    await end(async (id) => {
      await act(BOB, id, 'answer')
      await act(BOB, id, 'hangup')
    })
    await end(async () => {}, DAN)
    await end(async () => {}, EVE)
    await end(async () => {}, B_LINE)
    expect(got).toEqual([
      ['BUSY', 'not_answered', null],
      ['CANCELLED', 'not_answered', null],
      ['NO_ANSWER', 'not_answered', null],
      ['COMPLETED', 'voicemail', 9],
      ['COMPLETED', 'connected', 0],
      ['FAILED', 'not_answered', null],
      ['BUSY', 'not_answered', null],
      ['FAILED', 'not_answered', null],
    ])
    await world.advance(60_000)
    expect((await newEvents()).map((event: Json) => event.type)).toEqual(Array(8).fill('call.outbound'))
  })

  it('inbound calls never trigger it, nor it them', async () => {
    await world.call('PUT', `/api/lines/${LINE}/call-forwarding`, { body: { forwarding_number: BOB } })
    const inbound = (await world.post(`/sim/phones/${ADA}/calls`, { to: LINE })).body
    await act(BOB, inbound.id, 'voicemail')
    expect((await hangUp(inbound.id)).status).toBe(409)
    await act(ADA, inbound.id, 'hangup')
    const outbound = await call()
    await act(ADA, outbound.id, 'decline')
    expect((await newEvents()).map(({ type, subject }: Json) => [type, subject])).toEqual([
      ['call.inbound', inbound.id],
      ['call.outbound', outbound.id],
    ])
    expect((await world.get('/sim/calls')).body.data.map(({ id }: Json) => id)).not.toContain(inbound.id)
  })

  it('of many who end a call at once one does, and there is one event', async () => {
    const { id } = await call()
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => act(ADA, id, 'decline')),
      ...Array.from({ length: 5 }, () => hangUp(id)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
    expect(await newEvents()).toHaveLength(1)
  })

  it('an Idempotency-Key is one call', async () => {
    const key = { 'idempotency-key': 'out-1' }
    const [first, second] = [
      await place({ from: LINE, to: ADA }, 'live', key),
      await place({ from: LINE, to: ADA }, 'live', key),
    ]
    expect(second.body).toEqual(first.body)
    await hangUp(first.body.id)
    expect(await newEvents()).toHaveLength(1)
  })

  it('survive a restart, and end with their line', async () => {
    const { id } = await call()
    await world.restart()
    await world.advance(30_000)
    await world.post('/admin/lines', { account_id: account.id, number: '+12025550151' }, 'admin')
    await world.settle()
    const { body: doomed } = await place({ from: '+12025550151', to: ADA })
    const line = (await world.get('/admin/lines', 'admin')).body.data.find(
      (one: Json) => one.number === '+12025550151' && one.world === 'live',
    )
    await world.call('DELETE', `/admin/lines/${line.id}`, { as: 'admin' })
    expect((await newEvents()).map(({ data }: Json) => [data.callId, data.status])).toEqual([
      [id, 'NO_ANSWER'],
      [doomed.id, 'FAILED'],
    ])
  })

  it("another account's calls are as absent ones", async () => {
    const { body: foreign } = await place({ from: B_LINE, to: ADA }, b.live)
    for (const answer of [
      hangUp,
      (id: string) => act(ADA, id, 'answer'),
      (id: string) => act(ADA, id, 'voicemail'),
    ])
      expect([(await answer(foreign.id)).status, (await answer(foreign.id)).body]).toEqual([
        404,
        (await answer('none')).body,
      ])
    expect((await world.get('/sim/calls')).body.data.map(({ id }: Json) => id)).not.toContain(foreign.id)
    expect((await onPhone(ADA)).map(({ id }: Json) => id)).not.toContain(foreign.id)
    const [toForeign, toNobody] = [
      await place({ from: B_LINE, to: ADA }),
      await place({ from: '+12025550159', to: ADA }),
    ]
    expect(JSON.stringify(toForeign.body).replaceAll(B_LINE, '+12025550159')).toBe(
      JSON.stringify(toNobody.body),
    )
    const seat = (
      await world.post(
        '/admin/seats',
        { account_id: b.id, email: 'x@example.com', subject: 'theirs' },
        'admin',
      )
    ).body
    const [theirs, none] = [
      await place({ from: LINE, to: ADA, seat_id: seat.id }),
      await place({ from: LINE, to: ADA, seat_id: 'none' }),
    ]
    expect([theirs.status, theirs.body]).toEqual([400, none.body])
    await hangUp(foreign.id, b.live)
    expect(await newEvents()).toEqual([])
  })

  it.each([
    [{}],
    [{ from: LINE }],
    [{ to: ADA }],
    [{ from: '', to: ADA }],
    [{ from: LINE, to: '' }],
    [{ from: LINE, to: 'x' }],
    [{ from: LINE, to: null }],
    [{ from: LINE, to: 42 }],
    [{ from: LINE, to: ADA, seat_id: 7 }],
    [{ from: LINE, to: ADA, seat_id: '' }],
    [{ from: ADA, to: LINE }],
    [[]],
  ])('refuse %j', async (body) => {
    const reply = await world.call('POST', '/sim/calls', { body: body as object })
    expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid'])
  })
})
