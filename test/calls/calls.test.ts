import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  DAN,
  ENGINES,
  EVE,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'

describe.each(ENGINES)('calls to lines on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let account: Json
  let lineId: string
  let seen = 0
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    account = (await world.get('/admin/accounts', 'admin')).body.data.find((one: Json) => one.id !== b.id)
    lineId = (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === LINE && line.world === 'live',
    ).id
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await forward(BOB)
    seen = (await callEvents()).length
  })

  const forward = (number: string | null, as: Who = 'live', line: string = LINE) =>
    number === null
      ? world.call('DELETE', `/api/lines/${line}/call-forwarding`, { as })
      : world.call('PUT', `/api/lines/${line}/call-forwarding`, { as, body: { forwarding_number: number } })
  const dial = async (from: string, to: string = LINE, as: Who = 'live') =>
    (await world.post(`/sim/phones/${from}/calls`, { to }, as)).body
  const act = (phone: string, id: string, action: string, as: Who = 'live') =>
    world.post(`/sim/phones/${phone}/calls/${id}/${action}`, undefined, as)
  const calls = async (phone: string, as: Who = 'live') =>
    (await world.get(`/sim/phones/${phone}/calls`, as)).body.data
  const callEvents = async () => (await world.events()).filter((event: Json) => event.type === 'call.inbound')
  const newEvents = async () => (await callEvents()).slice(seen).map((event: Json) => event.data)

  it('can be answered, declined and hung up in the console, and is then not forwarded', async () => {
    const atConsole = (id: string, action: string, as: Who = 'live') =>
      world.post(`/sim/calls/${id}/${action}`, undefined, as)
    const { id } = await dial(ADA)
    expect((await atConsole(id, 'answer', b.live)).status).toBe(404)
    const answered = await atConsole(id, 'answer')
    expect([answered.status, answered.body]).toMatchObject([
      200,
      { id, direction: 'inbound', from: ADA, to: LINE, state: 'answered', sent_by: null },
    ])
    expect((await calls(BOB)).filter((call: Json) => call.state === 'ringing')).toEqual([])
    expect((await act(BOB, id, 'answer')).status).toBe(404)
    expect((await atConsole(id, 'answer')).status).toBe(409)
    await world.advance(5000)
    expect((await world.get('/v3/calls?limit=1')).body.data).toMatchObject([
      { call_id: id, state: 'answered', forwarded_to: null },
    ])
    expect((await atConsole(id, 'hangup')).body).toMatchObject({ state: 'ended', outcome: 'COMPLETED' })
    expect(await newEvents()).toMatchObject([
      { callId: id, forwardedTo: null, status: 'COMPLETED', answered: true, duration: 5 },
    ])

    const declined = await dial(ADA)
    expect((await atConsole(declined.id, 'hangup')).status).toBe(409)
    expect((await atConsole(declined.id, 'decline')).body).toMatchObject({ outcome: 'BUSY' })
    const elsewhere = await dial(ADA)
    await act(BOB, elsewhere.id, 'answer')
    const refused = await atConsole(elsewhere.id, 'hangup')
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      409,
      expect.stringContaining(`answered at ${BOB}`),
    ])
    await act(BOB, elsewhere.id, 'hangup')
    expect((await newEvents()).map((event) => [event.status, event.forwardedTo])).toEqual([
      ['COMPLETED', null],
      ['BUSY', null],
      ['COMPLETED', BOB],
    ])
    await forward(null)
    const away = await dial(ADA)
    expect([away.state, (await atConsole(away.id, 'answer')).status]).toEqual(['turned_away', 404])
  })

  it('rings the phone it is forwarded to; an answered call is COMPLETED, and one event says everything', async () => {
    const call = await dial(ADA)
    expect(call).toMatchObject({
      direction: 'out',
      number: LINE,
      line: LINE,
      state: 'ringing',
      outcome: null,
    })
    expect((await calls(BOB))[0]).toMatchObject({
      id: call.id,
      direction: 'in',
      number: ADA,
      line: LINE,
      state: 'ringing',
    })
    const startedAt = world.app.ctx.clock.now()
    await world.advance(4000)
    expect((await act(BOB, call.id, 'answer')).body).toMatchObject({ state: 'answered' })
    expect(await newEvents()).toEqual([])
    // Longer than a phone rings.
    await world.advance(61_500)
    expect((await act(ADA, call.id, 'hangup')).body).toMatchObject({ state: 'ended', outcome: 'COMPLETED' })
    expect((await calls(BOB))[0]).toMatchObject({ id: call.id, state: 'ended', outcome: 'COMPLETED' })
    expect(await newEvents()).toEqual([
      {
        eventId: expect.stringContaining(call.id),
        accountEmail: 'dev@trunkline.local',
        callId: call.id,
        fromNumber: ADA,
        toNumber: LINE,
        forwardedTo: BOB,
        direction: 'inbound',
        status: 'COMPLETED',
        answered: true,
        duration: 61,
        provider: 'twilio',
        companyId: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
        createdAt: startedAt,
        endedAt: startedAt + 65_500,
      },
    ])
    const [event] = (await callEvents()).slice(seen)
    expect(event).toMatchObject({ subject: call.id, at: startedAt + 65_500 })
    expect((await world.get('/account')).body.company_id).toBe(event.data.companyId)
  })

  it.each([
    ['CANCELLED when the caller hangs up first', ADA, 'hangup', 'CANCELLED'],
    ['BUSY when the phone declines', BOB, 'decline', 'BUSY'],
  ])('is %s', async (_name, phone, action, status) => {
    const call = await dial(ADA)
    await world.advance(2000)
    expect((await act(phone, call.id, action)).body).toMatchObject({ state: 'ended', outcome: status })
    await world.advance(60_000)
    expect(await newEvents()).toMatchObject([
      { callId: call.id, status, answered: false, duration: null, forwardedTo: BOB },
    ])
  })

  it('is NO_ANSWER when nobody answers for 30 seconds', async () => {
    const call = await dial(ADA)
    await world.advance(29_999)
    expect((await calls(BOB))[0]).toMatchObject({ id: call.id, state: 'ringing' })
    expect(await newEvents()).toEqual([])
    await world.advance(1)
    expect((await calls(BOB))[0]).toMatchObject({ id: call.id, state: 'ended', outcome: 'NO_ANSWER' })
    await world.advance(60_000)
    expect(await newEvents()).toMatchObject([
      { callId: call.id, status: 'NO_ANSWER', answered: false, duration: null },
    ])
  })

  it('FAILED when the phone is off, BUSY when it refuses everything or is the one that calls', async () => {
    for (const [number, status] of [
      [DAN, 'FAILED'],
      [EVE, 'BUSY'],
      [ADA, 'BUSY'],
      [B_LINE, 'FAILED'],
    ] as const) {
      expect((await forward(number)).status, number).toBe(200)
      expect(await dial(ADA), number).toMatchObject({ state: 'ended', outcome: status })
      expect((await newEvents()).at(-1)).toMatchObject({
        status,
        forwardedTo: number,
        answered: false,
        duration: null,
      })
    }
    expect(await newEvents()).toHaveLength(4)
  })

  it('a number nobody knew becomes a phone that rings', async () => {
    await forward('+12025550170')
    const call = await dial(ADA)
    expect(await calls('+12025550170')).toMatchObject([{ id: call.id, state: 'ringing' }])
    await act(ADA, call.id, 'hangup')
  })

  it('no event for a call that was turned away: nothing is configured', async () => {
    await forward(null)
    expect(await dial(ADA)).toMatchObject({ state: 'turned_away', outcome: null })
    await world.advance(60_000)
    expect(await newEvents()).toEqual([])
  })

  it('no event for a call that was turned away: a caller on the block list, which opting out is not', async () => {
    const path = `/admin/accounts/${account.id}/blocked-callers`
    expect((await world.call('PUT', `${path}/${ADA}`, { as: 'admin' })).status).toBe(204)
    expect((await world.call('PUT', `${path}/${ADA}`, { as: 'admin' })).status).toBe(204)
    expect((await world.get(path, 'admin')).body.data).toEqual([
      { number: ADA, blocked_at: new Date(world.app.ctx.clock.now()).toISOString() },
    ])
    const before = (await calls(BOB)).length
    expect(await dial(ADA)).toMatchObject({ state: 'turned_away' })
    expect(await calls(BOB)).toHaveLength(before)
    expect(await newEvents()).toEqual([])
    await world.text(CLEO, 'STOP')
    await world.settle()
    const call = await dial(CLEO)
    expect(call).toMatchObject({ state: 'ringing' })
    await act(CLEO, call.id, 'hangup')
    await world.call('DELETE', `${path}/${ADA}`, { as: 'admin' })
    const again = await dial(ADA)
    expect(again).toMatchObject({ state: 'ringing' })
    await act(ADA, again.id, 'hangup')
    expect(await newEvents()).toHaveLength(2)
    expect(
      (await world.call('PUT', '/admin/accounts/none/blocked-callers/+12025550101', { as: 'admin' })).status,
    ).toBe(404)
    expect((await world.call('PUT', `${path}/x`, { as: 'admin' })).status).toBe(400)
  })

  it('seat first, then line, then company default', async () => {
    const [seatPhone, companyPhone] = ['+12025550171', '+12025550172']
    const rung = async () => {
      const call = await dial(ADA)
      if (call.state === 'ringing') await act(ADA, call.id, 'hangup')
      return (await newEvents()).at(-1)?.forwardedTo
    }
    const patch = (path: string, body: object) => world.call('PATCH', path, { as: 'admin', body })
    const seat = (
      await world.post(
        '/admin/seats',
        {
          account_id: account.id,
          email: 's@example.com',
          subject: 'sub',
          forwarding_number: '(202) 555-0171',
        },
        'admin',
      )
    ).body
    expect(seat.forwarding_number).toBe(seatPhone)
    expect(
      (await patch(`/admin/accounts/${account.id}`, { default_forwarding_number: '202-555-0172' })).body,
    ).toMatchObject({ default_forwarding_number: companyPhone })
    expect(await rung()).toBe(BOB)
    expect((await patch(`/admin/lines/${lineId}`, { seat_id: 'sub' })).body).toMatchObject({
      seat_id: seat.id,
    })
    expect(await rung()).toBe(seatPhone)
    // The line's own record does not change with that.
    expect((await world.get(`/api/lines/${LINE}/call-forwarding`)).body.forwarding_number).toBe(BOB)
    await patch(`/admin/seats/${seat.id}`, { forwarding_number: null })
    expect(await rung()).toBe(BOB)
    await forward(null)
    expect(await rung()).toBe(companyPhone)
    await patch(`/admin/seats/${seat.id}`, { forwarding_number: seatPhone })
    expect(await rung()).toBe(seatPhone)
    await world.call('DELETE', `/admin/seats/${seat.id}`, { as: 'admin' })
    expect(await rung()).toBe(companyPhone)
    await patch(`/admin/lines/${lineId}`, { seat_id: null })
    // The default is the test world's, too.
    await dial(ADA, LINE, 'test')
    expect(await calls(companyPhone, 'test')).toHaveLength(1)
    await patch(`/admin/accounts/${account.id}`, { default_forwarding_number: null })
    const events = (await newEvents()).length
    expect(await dial(ADA)).toMatchObject({ state: 'turned_away' })
    expect(await newEvents()).toHaveLength(events)
  })

  it('a shared line forwards to the company default of the account the caller hears from', async () => {
    const patch = (number: string | null) =>
      world.call('PATCH', `/admin/accounts/${account.id}`, {
        as: 'admin',
        body: { default_forwarding_number: number },
      })
    await patch(CLEO)
    const call = await dial(ADA, SHARED_LINE)
    await act(CLEO, call.id, 'decline')
    await patch(null)
    expect(await newEvents()).toMatchObject([{ toNumber: SHARED_LINE, forwardedTo: CLEO, status: 'BUSY' }])
  })

  it('what a call does not allow is a conflict, and changes nothing', async () => {
    const conflict = async (phone: string, id: string, action: string, words: string) => {
      const reply = await act(phone, id, action)
      expect([reply.status, reply.body.error?.message], `${action} on ${phone}`).toEqual([
        409,
        expect.stringContaining(words),
      ])
    }
    const call = await dial(ADA)
    await conflict(ADA, call.id, 'answer', 'the caller can only hang up')
    await conflict(ADA, call.id, 'decline', 'the caller can only hang up')
    await conflict(BOB, call.id, 'hangup', 'answer it or decline it')
    await world.setPhone(BOB, { power: false })
    expect((await act(BOB, call.id, 'answer')).status).toBe(400)
    await world.setPhone(BOB, { power: true })
    await act(BOB, call.id, 'answer')
    await conflict(BOB, call.id, 'answer', 'can only be hung up')
    await conflict(BOB, call.id, 'decline', 'can only be hung up')
    expect((await act(BOB, call.id, 'hangup')).status).toBe(200)
    for (const phone of [ADA, BOB])
      for (const action of ['answer', 'decline', 'hangup']) await conflict(phone, call.id, action, 'is over')
    expect(await newEvents()).toMatchObject([{ status: 'COMPLETED', duration: 0 }])
  })

  it('of many who end a call at once one does, and there is one event', async () => {
    const call = await dial(ADA)
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => act(BOB, call.id, 'decline')),
      ...Array.from({ length: 5 }, () => act(ADA, call.id, 'hangup')),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
    expect(await newEvents()).toHaveLength(1)
  })

  it('an Idempotency-Key is one call, and one end of it', async () => {
    const key = { 'idempotency-key': 'call-1' }
    const before = (await calls(ADA)).length
    const [first, second] = [
      await world.post(`/sim/phones/${ADA}/calls`, { to: LINE }, 'live', key),
      await world.post(`/sim/phones/${ADA}/calls`, { to: LINE }, 'live', key),
    ]
    expect(second.body).toEqual(first.body)
    expect(await calls(ADA)).toHaveLength(before + 1)
    const hangup = `/sim/phones/${ADA}/calls/${first.body.id}/hangup`
    for (const n of [1, 2])
      expect((await world.post(hangup, undefined, 'live', key)).status, String(n)).toBe(200)
    expect(await newEvents()).toHaveLength(1)
  })

  it('survives a restart: it rings on, is answered or given up, and has one event', async () => {
    const [one, two, three] = [await dial(ADA), await dial(CLEO), await dial('+12025550173')]
    await act(BOB, two.id, 'answer')
    await world.advance(20_000)
    await world.restart()
    expect((await calls(BOB)).find((call: Json) => call.id === one.id)).toMatchObject({ state: 'ringing' })
    await act(BOB, three.id, 'answer')
    await world.advance(10_000)
    expect(await newEvents()).toMatchObject([{ callId: one.id, status: 'NO_ANSWER' }])
    await world.restart()
    await act(BOB, two.id, 'hangup')
    await act(BOB, three.id, 'hangup')
    expect(
      (await newEvents()).map(({ callId, status, duration }: Json) => [callId, status, duration]),
    ).toEqual([
      [one.id, 'NO_ANSWER', null],
      [two.id, 'COMPLETED', 30],
      [three.id, 'COMPLETED', 10],
    ])
  })

  it('what fell due while no process ran is given up at the start of the next', async () => {
    const call = await dial(ADA)
    // As if the machine had slept: the time has come and no timer rang.
    await world.app.ctx.db.run('update calls set due_at = created_at where id = $1', [call.id])
    expect((await act(BOB, call.id, 'answer')).status).toBe(409)
    await world.restart()
    expect(await newEvents()).toMatchObject([{ callId: call.id, status: 'NO_ANSWER' }])
  })

  it('ends with its line', async () => {
    await world.post('/admin/lines', { account_id: account.id, number: '+12025550151' }, 'admin')
    await world.settle()
    await forward(BOB, 'live', '+12025550151')
    const [ringing, talking] = [await dial(ADA, '+12025550151'), await dial(CLEO, '+12025550151')]
    await act(BOB, talking.id, 'answer')
    const line = (await world.get('/admin/lines', 'admin')).body.data.find(
      (one: Json) => one.number === '+12025550151' && one.world === 'live',
    )
    await world.call('DELETE', `/admin/lines/${line.id}`, { as: 'admin' })
    await world.advance(60_000)
    expect((await newEvents()).map(({ callId, status }: Json) => [callId, status])).toEqual([
      [ringing.id, 'FAILED'],
      [talking.id, 'COMPLETED'],
    ])
  })

  it("another account's calls are as absent ones, on both phones", async () => {
    await forward(BOB, b.live, B_LINE)
    const call = await dial(ADA, B_LINE, b.live)
    expect(await calls(BOB, b.live)).toMatchObject([{ id: call.id, line: B_LINE }])
    for (const phone of [ADA, BOB]) {
      expect((await calls(phone)).map((one: Json) => one.id)).not.toContain(call.id)
      for (const action of ['answer', 'decline', 'hangup']) {
        const [foreign, absent] = [await act(phone, call.id, action), await act(phone, 'none', action)]
        expect([foreign.status, foreign.body]).toEqual([404, absent.body])
      }
    }
    expect(await calls(BOB, b.test)).toEqual([])
    // Not a phone of the call.
    expect((await act(CLEO, call.id, 'hangup', b.live)).status).toBe(404)
    const toForeign = await world.post(`/sim/phones/${ADA}/calls`, { to: B_LINE })
    const toNobody = await world.post(`/sim/phones/${ADA}/calls`, { to: '+12025550159' })
    expect(toForeign.status).toBe(400)
    expect(JSON.stringify(toForeign.body).replaceAll(B_LINE, '+12025550159')).toBe(
      JSON.stringify(toNobody.body),
    )
    expect(await newEvents()).toEqual([])
    await act(BOB, call.id, 'decline', b.live)
    expect(await newEvents()).toEqual([])
  })

  it.each([
    ['POST', `/sim/phones/${ADA}/calls`, {}],
    ['POST', `/sim/phones/${ADA}/calls`, { to: '' }],
    ['POST', `/sim/phones/${ADA}/calls`, { to: 42 }],
    ['POST', `/sim/phones/${ADA}/calls`, { to: null }],
    ['POST', `/sim/phones/${ADA}/calls`, { to: 'LINE' }],
    ['POST', '/sim/phones/none/calls', { to: LINE }],
    ['POST', `/sim/phones/${DAN}/calls`, { to: LINE }],
    ['POST', `/sim/phones/none/calls/x/answer`, undefined],
    ['GET', '/sim/phones/none/calls', undefined],
    ['GET', `/sim/phones/${ADA}/calls?limit=0`, undefined],
    ['GET', `/sim/phones/${ADA}/calls?limit=x`, undefined],
  ])('refuses %s %s %j', async (method, path, body) => {
    const reply = await world.call(method, path, { body })
    expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid'])
  })
})
