import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

describe.each(ENGINES)('a line that is blocked, on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let line: Json
  let seen = new Set<string>()
  const lineOf = async (number: string) =>
    (await world.get('/admin/lines', 'admin')).body.data.find(
      (one: Json) => one.number === number && one.world === 'live',
    )
  const setBlocked = (blocked: unknown, id: string = line.id) =>
    world.call('PATCH', `/admin/lines/${id}`, { as: 'admin', body: { blocked } })
  const events = async () =>
    (await world.app.ctx.db.all('select * from events order by account_id, seq')).map(
      (row): Json => ({ ...row, data: JSON.parse(row.data as string) }),
    )
  const idOf = (event: Json) => `${event.account_id} ${event.seq}`
  const blocks = async () =>
    (await events()).filter((event) => event.type === 'line.blocked' && !seen.has(idOf(event)))
  const state = async (number: string = LINE, as: Who = 'live') =>
    (await world.get('/api/v2/lines/state', as)).body.data.find((one: Json) => one.sendblue_number === number)
  const onPhone = async (phone: string) => (await world.inbox(phone)).map((one: Json) => one.content)

  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', '+12025550150')
    line = await lineOf(LINE)
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await setBlocked(false)
    seen = new Set((await events()).map(idOf))
  })

  it('sends nothing, says so, and is shown as it is; other lines go on', async () => {
    const { body } = await setBlocked(true)
    const now = new Date(world.app.ctx.clock.now()).toISOString()
    expect(body.blocked_at).toBe(now)
    expect((await setBlocked(true)).body.blocked_at, 'a repeat keeps its time').toBe(now)
    expect(await state()).toMatchObject({ status: 'OFFLINE', blocked_at: now, status_changed_at: now })
    expect(await state(LINE, 'test')).toMatchObject({ status: 'ONLINE', blocked_at: null })
    for (const [path, more] of [
      ['/api/send-message', { number: ADA, content: 'x' }],
      [
        '/api/send-carousel',
        { number: ADA, media_urls: ['https://a.example/1.png', 'https://a.example/2.png'] },
      ],
      ['/api/send-group-message', { numbers: [ADA, BOB], content: 'x' }],
      ['/api/send-typing-indicator', { number: ADA }],
    ] as const) {
      const reply = await world.post(path, { from_number: LINE, ...more })
      expect([path, reply.status, reply.body.message]).toEqual([
        path,
        400,
        `from_number: the line ${LINE} is blocked and can send nothing. Use another line.`,
      ])
    }
    expect((await world.post('/sim/calls', { from: LINE, to: ADA })).status).toBe(400)
    expect(await world.send({ from_number: SHARED_LINE })).toMatchObject({ status: 'QUEUED' })
    expect(await world.send({}, 'test')).toMatchObject({ status: 'QUEUED' })
    await setBlocked(false)
    expect(await state()).toMatchObject({ status: 'ONLINE', blocked_at: null })
    expect(await world.send({ content: 'back' })).toMatchObject({ status: 'QUEUED' })
    await world.advance(5000)
    expect(await onPhone(ADA)).toContain('back')
  })

  it('is one event for each account on it, however often it is said', async () => {
    await Promise.all(Array.from({ length: 5 }, () => setBlocked(true)))
    const [event, ...rest] = await blocks()
    expect(rest).toEqual([])
    expect(event).toMatchObject({
      account_id: line.account_id,
      subject: line.id,
      data: { number: LINE, assignment: 'assigned', blockedAt: world.app.ctx.clock.now() },
    })
    const shared = await lineOf(SHARED_LINE)
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
    await setBlocked(true, shared.id)
    const accounts = (await blocks()).filter((one) => one.subject === shared.id).map((one) => one.account_id)
    expect(accounts.sort()).toEqual([line.account_id, b.id].sort())
    expect(await state(SHARED_LINE, b.live)).toMatchObject({ status: 'OFFLINE' })
    await setBlocked(false, shared.id)
  })

  it('comes into its status when it is blocked and when it is no more, and both are told', async () => {
    const told = async () =>
      (await events())
        .filter((event) => event.type === 'line.status.changed' && !seen.has(idOf(event)))
        .map(({ account_id, subject, at, data }) => [
          account_id,
          subject,
          data.status,
          data.statusChangedAt,
          at,
        ])
    await world.advance(1000)
    const blockedAt = world.app.ctx.clock.now()
    await Promise.all([setBlocked(true), setBlocked(true)])
    await world.advance(1000)
    // Whatever its driver says: it is OFFLINE until it may send again.
    await world.setLine(LINE, { config: { state: 'DEGRADED' } })
    await world.setLine(LINE, { config: {} })
    expect(await state()).toMatchObject({
      status: 'OFFLINE',
      status_changed_at: new Date(blockedAt).toISOString(),
    })
    await world.advance(1000)
    const freeAt = world.app.ctx.clock.now()
    await Promise.all([setBlocked(false), setBlocked(false)])
    const time = new Date(freeAt).toISOString()
    expect(await state()).toMatchObject({ status: 'ONLINE', status_changed_at: time, blocked_at: null })
    expect(await told()).toEqual([
      [line.account_id, line.id, 'OFFLINE', blockedAt, blockedAt],
      [line.account_id, line.id, 'ONLINE', freeAt, freeAt],
    ])
    await world.restart()
    expect(await state()).toMatchObject({ status: 'ONLINE', status_changed_at: time })
  })

  it('with a backlog: it ends as an error with the reason and events, and is not sent later', async () => {
    await world.setLine(LINE, { pace: 1 })
    const sent: Json[] = []
    for (let i = 0; i < 12; i++) sent.push(await world.send({ number: BOB, content: `b${i}` }))
    await world.advance(500)
    await setBlocked(true)
    await world.settle()
    const records = await Promise.all(sent.map(({ message_handle }) => world.record(message_handle)))
    const gone = records.filter((record) => record.status === 'ERROR')
    expect(gone.length).toBeGreaterThanOrEqual(10)
    for (const record of gone) {
      expect(record).toMatchObject({ error_code: 10001, error_reason: 'line_blocked' })
      const last = (await events()).filter((event) => event.subject === record.message_handle).at(-1)
      expect(last).toMatchObject({
        type: 'message.updated',
        data: { status: 'ERROR', error: { reason: 'line_blocked' } },
      })
    }
    await setBlocked(false)
    await world.setLine(LINE, { pace: 0 })
    await world.advance(60_000)
    expect(await onPhone(BOB)).toHaveLength(12 - gone.length)
  })

  it('what slipped in behind the block ends the same way', async () => {
    const directory = world.app.ctx.directory
    // As another process would, that has not heard of it yet.
    const usable = (await directory.lineOf(line.account_id, LINE))!
    await setBlocked(true)
    await world.settle()
    const original = directory.lineOf
    directory.lineOf = async () => usable
    const late = await world.send({ content: 'late' })
    directory.lineOf = original
    expect(late).toMatchObject({ status: 'QUEUED' })
    await world.advance(1000)
    expect(await world.record(late.message_handle)).toMatchObject({
      status: 'ERROR',
      error_reason: 'line_blocked',
    })
    expect(await onPhone(ADA)).not.toContain('late')
  })

  it('still asks its carrier about what may be out', async () => {
    await world.setLine(LINE, { config: { fault: 'accept-then-drop', fault_times: 1 } })
    const doubtful = await world.send({ content: 'doubtful' })
    await world.settle()
    await setBlocked(true)
    await world.advance(60_000)
    expect(await world.record(doubtful.message_handle)).toMatchObject({ status: 'DELIVERED' })
    await world.setLine(LINE, { config: {} })
  })

  it('still receives', async () => {
    await setBlocked(true)
    await world.text(ADA, 'hello there')
    await world.settle()
    const received = (await world.get('/api/v2/messages?is_outbound=false&limit=1')).body.data[0]
    expect(received).toMatchObject({ content: 'hello there', status: 'RECEIVED' })
  })

  const refusal = `from_number: the line ${LINE} is blocked and can send nothing. Use another line.`

  it('a contact of it is verified from another line, and from none when all are blocked', async () => {
    const number = '+13035557001'
    const verify = () => world.post('/api/v2/contacts/verify', { number })
    await world.post('/api/v2/contacts', { number, sendblue_number: LINE })
    await setBlocked(true)
    expect((await verify()).body).toEqual({ status: 'OK' })
    await world.advance(1000)
    const shown = (await world.inbox(number)).map((one: Json) => one.line)
    expect(shown).toEqual([SHARED_LINE])
    const shared = await lineOf(SHARED_LINE)
    await setBlocked(true, shared.id)
    const reply = await verify()
    await setBlocked(false, shared.id)
    expect([reply.status, reply.body.message]).toEqual([400, refusal])
    await world.advance(1000)
    expect(await world.inbox(number)).toHaveLength(1)
  })

  it('an App Card it has sent is not continued', async () => {
    const app_card = {
      appName: 'Chess',
      extensionBundleId: 'com.example.chess.messages',
      teamId: 'A1B2C3D4E5',
      layout: {},
      url: 'data:,1',
    }
    const { message_handle } = await world.send({ content: '', app_card })
    await world.advance(1000)
    const update = (as: Who = 'live') =>
      world.post(`/api/messages/${message_handle}/update-app-card`, { url: 'data:,2' }, as)
    await setBlocked(true)
    const reply = await update()
    expect([reply.status, reply.body.message]).toEqual([400, refusal])
    const token = (await world.post('/v3/auth/tokens', { phone_number: SHARED_LINE })).body
    expect((await update(token)).status, 'a token for another line').toBe(404)
    await setBlocked(false)
    expect((await update()).status).toBe(202)
  })

  it('by its carrier, as its driver hears it', async () => {
    await world.setLine(LINE, { config: { fault: 'block' } })
    const refused = await world.send()
    const waiting = await world.send()
    await world.settle()
    await expect.poll(async () => (await blocks()).length).toBe(1)
    await world.settle()
    expect(await world.record(refused.message_handle)).toMatchObject({ status: 'ERROR' })
    // The line starts again for the block, and ends what came behind it.
    await expect.poll(async () => (await world.record(waiting.message_handle)).status).toBe('ERROR')
    expect(
      (await world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'x' })).status,
    ).toBe(400)
    expect(await state()).toMatchObject({ status: 'OFFLINE' })
    await world.setLine(LINE, { config: {} })
    expect(await blocks()).toHaveLength(1)
  })

  it('survives a restart', async () => {
    await setBlocked(true)
    await world.restart()
    expect(
      (await world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'x' })).status,
    ).toBe(400)
    expect(await blocks()).toHaveLength(1)
  })

  it.each([['yes'], [1], [null], ['']])('blocked: %j is refused', async (value) => {
    expect((await setBlocked(value)).status).toBe(400)
    expect(await blocks()).toEqual([])
  })

  it('that does not exist is not found', async () => {
    expect((await setBlocked(true, 'none')).status).toBe(404)
  })
})
