import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPairedWorld, type PairedWorld, SIM } from '../../support/drivers/paired-world.js'
import { createWorld, ENGINES } from '../../support/world.js'

const OTHER = '+12025550181'

describe.each(ENGINES)('pairing a phone on %s', (engine) => {
  let on: PairedWorld
  beforeAll(async () => {
    on = await createPairedWorld(engine, [SIM, OTHER])
  })
  afterAll(() => on.close())
  const stranger = (authorization: string, ip = '198.51.100.7') =>
    on.world.app.server.inject({
      method: 'POST',
      url: '/mobile/v1/device',
      remoteAddress: ip,
      headers: { authorization, 'content-type': 'application/json' },
      payload: { name: 'x', pushToken: null, simCards: [] },
    })

  it('a code works once, and brings a token that is stored as a hash', async () => {
    const made = await on.pair()
    expect(made).toMatchObject({ code: expect.stringMatching(/^\d{6}$/), paired_at: null })
    expect(made.api_url).toBe('https://trunkline.example/mobile/v1')
    const phone = on.phone()
    expect(await phone.register(made.code)).toBe(201)
    expect(await on.phone().register(made.code)).toBe(401)
    await on.eventually(async () => expect((await on.line()).state).toBe('ONLINE'))
    await on.eventually(async () => {
      const log = (await on.world.get('/admin/audit', 'admin')).body.data
      expect(log).toContainEqual(expect.objectContaining({ action: 'pair a phone', object: made.id }))
    })
    const all = (await on.world.get('/admin/phones', 'admin')).body
    expect(all).toMatchObject({ api_url: made.api_url, notice: null })
    const listed = all.data[0]
    expect(listed).toMatchObject({
      name: 'Google/oriole',
      sims: [{ sim: 1, ends: '0180' }],
      code_expires_at: null,
    })
    expect(listed.code).toBeUndefined()
    const rows = JSON.stringify(await on.world.app.ctx.db.all('select * from paired_phones'))
    expect(rows).not.toContain(phone.token.split('.')[1])
    expect(phone.settings).toMatchObject({
      gateway: { notification_channel: 'SSE_ONLY' },
      messages: { processing_order: 'FIFO' },
      webhooks: { signing_key: expect.stringMatching(/^.{40,}$/) },
    })
  })

  it('notes when a phone last called, to the minute', async () => {
    const phone = on.phone()
    const made = await on.pair([{ line_id: on.lineIds[1] }])
    const seen = async () => (await on.world.get(`/admin/phones/${made.id}`, 'admin')).body.last_seen_at
    expect(await seen()).toBeNull()
    await phone.register(made.code)
    await on.eventually(async () => expect(await seen()).not.toBeNull())
    phone.offline()
    await on.world.advance(3_600_000)
    const now = () => new Date(on.now()).toISOString()
    const before = now()
    expect((await phone.call('GET', '/settings')).status).toBe(200)
    expect(await seen()).toBe(before)
    await on.world.advance(59_000)
    await phone.call('GET', '/settings')
    expect(await seen()).toBe(before)
    await on.world.advance(1000)
    await phone.text('+12025558201', 'Hello')
    expect(await seen()).toBe(now())
    await on.world.call('DELETE', `/admin/phones/${made.id}`, { as: 'admin' })
  })

  it('one line has one phone', async () => {
    const again = await on.world.post('/admin/phones', { lines: [{ line_id: on.lineIds[0] }] }, 'admin')
    expect(again.status).toBe(409)
    expect(again.body.error.message).toContain(SIM)
  })

  it('two lines of a phone need two SIMs, and lines of other drivers have no phone', async () => {
    const lines = on.lineIds.map((line_id) => ({ line_id }))
    expect((await on.world.post('/admin/phones', { lines }, 'admin')).status).toBe(400)
    const simulated = (await on.world.get('/admin/lines', 'admin')).body.data.find(
      ({ driver }: { driver: string }) => driver === 'simulator',
    )
    const foreign = await on.world.post('/admin/phones', { lines: [{ line_id: simulated.id }] }, 'admin')
    expect(foreign.status).toBe(400)
  })

  it('a removed phone loses its access at once, and its line says so', async () => {
    const made = await on.pair([{ line_id: on.lineIds[1] }])
    const phone = on.phone()
    await phone.register(made.code)
    await on.eventually(async () => expect((await on.line(1)).state).toBe('ONLINE'))
    const keys = phone.webhooks
    expect((await on.world.call('DELETE', `/admin/phones/${made.id}`, { as: 'admin' })).status).toBe(204)
    await on.eventually(() => expect(phone.heard.at(-1)).toBe('GET /events 401'))
    expect((await phone.call('GET', '/message')).status).toBe(401)
    expect(keys).not.toEqual([])
    expect(await phone.post('sms:received', {})).toBe(404)
    expect(await on.line(1)).toMatchObject({
      state: 'OFFLINE',
      state_detail: expect.stringMatching(/^No phone is paired/),
    })
  })

  it('another handset takes the place of the first with a new code', async () => {
    const made = await on.pair([{ line_id: on.lineIds[1] }])
    const first = on.phone()
    await first.register(made.code)
    const { body } = await on.world.post(`/admin/phones/${made.id}/code`, {}, 'admin')
    const second = on.phone()
    expect(await second.register(body.code)).toBe(201)
    await on.eventually(() => expect(first.heard.at(-1)).toBe('GET /events 401'))
    expect((await first.call('GET', '/settings')).status).toBe(401)
    expect((await second.call('GET', '/settings')).status).toBe(200)
    await on.world.call('DELETE', `/admin/phones/${made.id}`, { as: 'admin' })
  })

  it('a code ends after ten minutes', async () => {
    const made = await on.pair([{ line_id: on.lineIds[1] }])
    await on.world.advance(10 * 60_000)
    expect(await on.phone().register(made.code)).toBe(401)
    await on.world.call('DELETE', `/admin/phones/${made.id}`, { as: 'admin' })
  })

  it('wrong codes are counted, for each address and in all', async () => {
    const made = await on.pair([{ line_id: on.lineIds[1] }])
    const wrong = made.code === '000000' ? '000001' : '000000'
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) statuses.push((await stranger(`Code ${wrong}`)).statusCode)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
    expect((await stranger(`Code ${made.code}`)).statusCode).toBe(429)
    for (const bad of ['', 'Code', 'Code 12345', 'Code 1234567', 'Bearer x', 'Basic eDp5'])
      expect((await stranger(bad, '198.51.100.8')).statusCode).toBeGreaterThanOrEqual(401)
    for (let i = 0; i < 100; i++) await stranger(`Code ${wrong}`, `198.51.101.${i}`)
    expect((await stranger(`Code ${made.code}`, '198.51.100.9')).statusCode).toBe(429)
  })

  it('without an https address it says what to do instead', async () => {
    const plain = await createWorld(engine)
    try {
      const { status, body } = await plain.post('/admin/phones', { lines: [{ line_id: 'x' }] }, 'admin')
      expect(status).toBe(422)
      expect(body.error.message).toMatch(/https.*TRUNKLINE_PUBLIC_URL.*tunnel.*line add smsgate/)
      const listed = (await plain.get('/admin/phones', 'admin')).body
      expect(listed).toEqual({ data: [], api_url: null, notice: body.error.message })
    } finally {
      await plain.close()
    }
  })
})
