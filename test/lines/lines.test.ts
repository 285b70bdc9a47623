import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  START,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'

describe.each(ENGINES)('lines on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
  })
  afterAll(() => world.close())

  const states = async (as: Parameters<World['get']>[1] = 'live') =>
    (await world.get('/api/v2/lines/state', as)).body
  const stateOf = async (number: string) =>
    (await states()).data.find((one: Json) => one.sendblue_number === number)
  const lineId = async (number: string, network = 'live') =>
    (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === number && line.world === network,
    ).id
  const lineEvents = async (accountId?: string) => {
    const rows = accountId
      ? (
          await world.app.ctx.db.all('select * from events where account_id = $1 order by seq', [accountId])
        ).map((row) => ({ ...row, data: JSON.parse(row.data as string) }) as Json)
      : await world.events()
    return rows.filter((event: Json) => event.type.startsWith('line.'))
  }

  it('lists the numbers to send from', async () => {
    expect((await world.get('/api/lines')).body).toEqual({ numbers: [LINE, SHARED_LINE] })
    expect((await world.get('/api/lines', 'test')).body).toEqual({ numbers: [LINE, SHARED_LINE] })
    expect((await world.get('/api/lines', b.live)).body).toEqual({ numbers: [B_LINE] })
    expect((await world.get('/api/lines', 'admin')).status).toBe(403)
    expect((await world.get('/api/lines', null)).status).toBe(401)
    expect((await world.get('/api/v2/lines/state', null)).status).toBe(401)
    expect((await world.get('/api/v2/lines/state', 'admin')).status).toBe(403)
  })

  it('a token confined to some lines sees those, and not how they are', async () => {
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    const [wide, token] = [await mint({}), await mint({ phone_number: SHARED_LINE })]
    expect((await world.get('/api/lines', wide)).body).toEqual({ numbers: [LINE, SHARED_LINE] })
    expect((await world.get('/api/lines', token)).body).toEqual({ numbers: [SHARED_LINE] })
    expect((await world.get('/api/v2/lines/state', wide)).body.data).toHaveLength(2)
    expect((await world.get('/api/v2/lines/state', token)).status).toBe(403)
    for (const path of ['/api/v2/seats', '/api/v2/seats/count', '/api/v2/seats/x', '/account']) {
      expect([path, (await world.get(path, token)).status]).toEqual([path, 403])
      const status = path.endsWith('/x') ? 404 : 200
      expect([path, (await world.get(path, wide)).status]).toEqual([path, status])
    }
  })

  it('tells how each line is', async () => {
    const start = new Date(START).toISOString()
    const answer = await states()
    expect(answer).toMatchObject({ status: 'OK', snapshot_at: start })
    expect(answer.data).toEqual([
      {
        worker_id: await lineId(LINE),
        sendblue_number: LINE,
        status: 'ONLINE',
        assignment: 'assigned',
        status_changed_at: start,
        degraded_since: null,
        effective_until: null,
        blocked_at: null,
      },
      expect.objectContaining({ sendblue_number: SHARED_LINE, status: 'ONLINE', assignment: 'shared' }),
    ])
    expect((await states(b.live)).data.map((one: Json) => one.sendblue_number)).toEqual([B_LINE])
  })

  it('a line that gets worse and better says so, with the time, and in the log', async () => {
    const before = (await lineEvents()).length
    await world.advance(60_000)
    await world.setLine(LINE, { config: { state: 'DEGRADED' } })
    const degradedAt = new Date(START + 60_000).toISOString()
    expect(await stateOf(LINE)).toMatchObject({
      status: 'DEGRADED',
      status_changed_at: degradedAt,
      degraded_since: degradedAt,
    })
    // A degraded line works.
    const sent = await world.send()
    await world.advance(60_000)
    expect(await world.status(sent.message_handle)).toMatchObject({ status: 'DELIVERED' })

    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    expect(await stateOf(LINE)).toMatchObject({
      status: 'OFFLINE',
      status_changed_at: new Date(START + 120_000).toISOString(),
      degraded_since: null,
    })
    const waiting = await world.send({ content: 'waits' })
    await world.text(ADA, 'waits, too')
    await world.advance(60_000)
    expect(await world.status(waiting.message_handle)).toMatchObject({ status: 'QUEUED' })
    const inbound = async () => (await world.get('/api/v2/messages?is_outbound=false')).body.pagination.total
    expect(await inbound()).toBe(0)

    await world.setLine(LINE, { config: {} })
    await world.advance(1000)
    expect(await world.status(waiting.message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect(await inbound()).toBe(1)
    const events = (await lineEvents()).slice(before)
    expect(events.map((event: Json) => [event.type, event.subject, event.at, event.data])).toEqual(
      [
        ['DEGRADED', 60_000, START + 60_000],
        ['OFFLINE', 120_000, null],
        ['ONLINE', 180_000, null],
      ].map(([status, after, degradedSince]) => [
        'line.status.changed',
        expect.any(String),
        START + Number(after),
        {
          number: LINE,
          assignment: 'assigned',
          status,
          statusChangedAt: START + Number(after),
          degradedSince,
        },
      ]),
    )
    expect(new Set(events.map((event: Json) => event.subject))).toEqual(new Set([await lineId(LINE)]))
  })

  it("a change of the line's other settings is no change of its state", async () => {
    const [before, events] = [await stateOf(LINE), (await lineEvents()).length]
    await world.advance(1000)
    await world.setLine(LINE, { pace: 5 })
    expect(await stateOf(LINE)).toEqual(before)
    expect(await lineEvents()).toHaveLength(events)
  })

  it('a shared line tells all its members, and a member comes and goes', async () => {
    const id = await lineId(SHARED_LINE)
    const path = `/admin/lines/${id}/members`
    await world.post(path, { account_id: b.id }, 'admin')
    await world.post(path, { account_id: b.id }, 'admin')
    await world.settle()
    expect((await world.get('/api/lines', b.live)).body.numbers).toEqual([B_LINE, SHARED_LINE])
    expect((await world.get('/api/lines', b.test)).body.numbers).toEqual([B_LINE, SHARED_LINE])
    await world.setLine(SHARED_LINE, { config: { state: 'OFFLINE' } })
    await world.setLine(SHARED_LINE, { config: {} })
    for (const events of [await lineEvents(), await lineEvents(b.id)]) {
      expect(
        events
          .filter((event: Json) => event.subject === id && event.type === 'line.status.changed')
          .map((event: Json) => [event.data.status, event.data.assignment]),
      ).toEqual([
        ['OFFLINE', 'shared'],
        ['ONLINE', 'shared'],
      ])
    }
    const gone = () => world.call('DELETE', `${path}/${b.id}`, { as: 'admin' })
    expect((await gone()).status).toBe(204)
    expect((await gone()).status).toBe(404)
    expect((await world.get('/api/lines', b.live)).body.numbers).toEqual([B_LINE])
    expect((await world.get('/api/lines', b.test)).body.numbers).toEqual([B_LINE])
    const now = world.app.ctx.clock.now()
    expect(
      (await lineEvents(b.id))
        .filter((event: Json) => event.subject === id && event.type !== 'line.status.changed')
        .map((event: Json) => [event.type, event.data]),
    ).toEqual([
      ['line.assigned', { number: SHARED_LINE, assignment: 'shared', assignedAt: now }],
      [
        'line.unassigned',
        { number: SHARED_LINE, assignment: 'shared', unassignedAt: now, effectiveUntil: null },
      ],
    ])
  })

  it('a line that is made and removed is an event of its owner, in both worlds', async () => {
    const made = (await world.post('/admin/lines', { account_id: b.id, number: '+12025550151' }, 'admin'))
      .body
    await world.settle()
    const answers = await Promise.all(
      [1, 2].map(() => world.call('DELETE', `/admin/lines/${made.id}`, { as: 'admin' })),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([204, 404])
    const of = async (accountId: string) =>
      (await lineEvents(accountId))
        .filter((event: Json) => event.data.number === '+12025550151')
        .map((event: Json) => [event.type, event.data.assignment])
    expect(await of(b.id)).toEqual([
      ['line.assigned', 'assigned'],
      ['line.unassigned', 'assigned'],
    ])
    const twin = (await world.get(`/admin/accounts/${b.id}`, 'admin')).body.test_account_id
    expect(await of(twin)).toEqual([['line.assigned', 'assigned']])
    expect((await states(b.live)).data).toHaveLength(1)
  })

  it('the state survives a restart without a change, and is unknown while nobody drives the line', async () => {
    await world.setLine(LINE, { config: { state: 'DEGRADED' } })
    const [before, events] = [await stateOf(LINE), (await lineEvents()).length]
    await world.advance(5000)
    await world.restart()
    expect(await stateOf(LINE)).toEqual(before)
    expect(await lineEvents()).toHaveLength(events)
    // Its process is gone and the lease has run out.
    await world.app.ctx.db.run('update line_leases set expires_at = 1 where line_id = $1', [before.worker_id])
    expect(await stateOf(LINE)).toMatchObject({
      status: 'UNKNOWN',
      status_changed_at: null,
      degraded_since: null,
    })
  })
})
