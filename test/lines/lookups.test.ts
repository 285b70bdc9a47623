import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  ENGINES,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'

describe.each(ENGINES)('evaluate-service on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
  })
  afterAll(() => world.close())

  const ask = (number: string, as?: Who) =>
    world.get(`/api/evaluate-service?number=${encodeURIComponent(number)}`, as)

  it('tells by which service a number is reached', async () => {
    expect(await ask(ADA)).toMatchObject({ status: 200, body: { number: ADA, service: 'iMessage' } })
    expect((await ask(BOB)).body).toEqual({ number: BOB, service: 'SMS' })
    expect((await ask(CLEO)).body).toEqual({ number: CLEO, service: 'SMS' })
    await world.setPhone(BOB, { imessage: true })
    expect((await ask(BOB)).body).toEqual({ number: BOB, service: 'iMessage' })
    await world.setPhone(BOB, { imessage: false })
    expect((await ask(BOB)).body).toEqual({ number: BOB, service: 'SMS' })
  })

  it('knows numbers as they are written, and ignores from_number', async () => {
    for (const query of [
      `number=${ADA}`,
      'number=%2B1%20202%20555-0101',
      `number=%2B12025550101&from_number=x`,
    ])
      expect((await world.get(`/api/evaluate-service?${query}`)).body).toEqual({
        number: ADA,
        service: 'iMessage',
      })
  })

  it('knows e-mail addresses of phones, in any case, each network for itself', async () => {
    expect((await ask('ada@example.com')).body).toEqual({ number: 'ada@example.com', service: 'SMS' })
    expect(await world.setPhone(ADA, { email: 'Ada+x@Example.com' })).toMatchObject({
      email: 'ada+x@example.com',
    })
    expect((await ask('ADA+x@example.com')).body).toEqual({
      number: 'ada+x@example.com',
      service: 'iMessage',
    })
    const raw = await world.get('/api/evaluate-service?number=ada+x@example.com')
    expect(raw.body).toEqual({ number: 'ada+x@example.com', service: 'iMessage' })
    expect((await ask('ada+x@example.com', 'test')).body).toMatchObject({ service: 'SMS' })
    await world.setPhone(BOB, { email: 'bob@example.com' })
    expect((await ask('bob@example.com')).body).toMatchObject({ service: 'SMS' })
    await world.setPhone(ADA, { email: null })
    expect((await ask('ada+x@example.com')).body).toMatchObject({ service: 'SMS' })
    for (const email of ['', 'x', 'a b@c', 42])
      expect((await world.call('PATCH', `/sim/phones/${ADA}`, { body: { email } })).status).toBe(400)
  })

  it.each([
    '',
    'x',
    '100',
    '+1',
    '5550101',
    '2025550101',
    'a@b',
    '@example.com',
    'a@',
    'a@@example.com',
    'a@.com',
    `${'x'.repeat(250)}@example.com`,
  ])('refuses %j', async (number) => {
    const { status, body } = await ask(number)
    expect([status, body]).toEqual([400, { status: 'ERROR', message: expect.stringContaining('number') }])
  })

  it('asks another line when one is offline; when none can tell, the answer is 503 and may be retried', async () => {
    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    expect((await ask(ADA)).body).toEqual({ number: ADA, service: 'iMessage' })
    await world.setLine(SHARED_LINE, { config: { state: 'OFFLINE' } })
    const reply = await ask(ADA)
    expect([reply.status, reply.body.status, reply.headers['x-should-retry']]).toEqual([503, 'ERROR', 'true'])
    expect(Number(reply.headers['retry-after-ms'])).toBeGreaterThan(0)
    expect((await ask(ADA, b.live)).status).toBe(200)
    await world.setLine(LINE, { config: { state: 'DEGRADED' } })
    expect((await ask(ADA)).body).toEqual({ number: ADA, service: 'iMessage' })
    for (const line of [LINE, SHARED_LINE]) await world.setLine(line, { config: {} })
  })

  it('a token confined to some lines asks those', async () => {
    const token = (await world.post('/v3/auth/tokens', { phone_number: SHARED_LINE })).body
    expect((await ask(ADA, token)).body).toEqual({ number: ADA, service: 'iMessage' })
    await world.setLine(SHARED_LINE, { config: { services: ['SMS'] } })
    expect((await ask(ADA, token)).status).toBe(422)
    expect((await ask(ADA)).status).toBe(200)
    await world.setLine(SHARED_LINE, { config: {} })
  })

  it('a line without iMessage cannot tell', async () => {
    await world.setLine(B_LINE, { config: { services: ['SMS'] } })
    const reply = await ask(ADA, b.live)
    expect([reply.status, reply.headers['x-should-retry']]).toEqual([422, 'false'])
  })

  it('needs the key of an account', async () => {
    expect((await ask(ADA, null)).status).toBe(401)
    expect((await ask(ADA, 'admin')).status).toBe(403)
  })
})
