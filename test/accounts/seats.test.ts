import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, LINE, START, type World } from '../support/world.js'

describe.each(ENGINES)('seats and the account on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let accountId: string
  const made: Json[] = []
  let foreign: Json

  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', '+12025550150')
    accountId = (await world.get('/admin/accounts', 'admin')).body.data.find(
      (one: Json) => one.id !== b.id,
    ).id
    const seat = async (body: object) => (await world.post('/admin/seats', body, 'admin')).body
    for (const n of [1, 2, 3, 4, 5]) {
      await world.advance(1000)
      made.push(
        await seat({
          account_id: accountId,
          email: `seat${n}@example.com`,
          subject: `subject-${n}`,
          ...(n === 1 ? { first_name: 'Ada', last_name: 'Byron', forwarding_number: '2025550102' } : {}),
        }),
      )
    }
    foreign = await seat({ account_id: b.id, email: 'seat1@example.com', subject: 'subject-b' })
  })
  afterAll(() => world.close())

  const emails = async (query: string) =>
    (await world.get(`/api/v2/seats${query}`)).body.map((seat: Json) => seat.email)
  const all = ['seat1', 'seat2', 'seat3', 'seat4', 'seat5'].map((name) => `${name}@example.com`)

  it('lists a bare array with every field', async () => {
    const { status, body } = await world.get('/api/v2/seats')
    expect(status).toBe(200)
    expect(body).toHaveLength(5)
    expect(body[0]).toEqual({
      seat_id: made[0].id,
      email: 'seat1@example.com',
      first_name: 'Ada',
      last_name: 'Byron',
      forwarding_number: '+12025550102',
      account: 'Default world',
      created_at: new Date(START + 1000).toISOString(),
    })
    expect(body[1]).toMatchObject({ first_name: null, last_name: null, forwarding_number: null })
  })

  it('filters by exact e-mail address and pages', async () => {
    expect(await emails('')).toEqual(all)
    expect(await emails('?limit=2')).toEqual(all.slice(0, 2))
    expect(await emails('?limit=2&offset=4')).toEqual(all.slice(4))
    expect(await emails('?offset=5')).toEqual([])
    expect(await emails('?offset=99999999999')).toEqual([])
    expect(await emails('?limit=99999999999')).toEqual(all)
    expect(await emails('?email=seat3@example.com')).toEqual(['seat3@example.com'])
    for (const email of ['seat', '%25', '*', 'SEAT3@EXAMPLE.COM', "'"])
      expect(await emails(`?email=${email}`)).toEqual([])
    const count = async (query: string) => (await world.get(`/api/v2/seats/count${query}`)).body
    expect(await count('')).toEqual({ count: 5 })
    expect(await count('?email=seat3@example.com')).toEqual({ count: 1 })
    expect(await count('?email=none@example.com')).toEqual({ count: 0 })
  })

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'offset=-1',
    'offset=x',
    'limit=1&limit=2',
    'email=%00',
  ])('refuses %s', async (query) => {
    const { status, body } = await world.get(`/api/v2/seats?${query}`)
    expect([status, body.status]).toEqual([400, 'ERROR'])
  })

  it('retrieves by UUID and by outside subject', async () => {
    for (const id of [made[0].id, 'subject-1'])
      expect((await world.get(`/api/v2/seats/${id}`)).body).toEqual({
        status: 'OK',
        seat: (await world.get('/api/v2/seats')).body[0],
      })
  })

  it("another account's, the other world's, a removed and an unknown seat are absent in the same words", async () => {
    const removed = (
      await world.post('/admin/seats', { account_id: accountId, email: 'gone@example.com' }, 'admin')
    ).body
    await world.call('DELETE', `/admin/seats/${removed.id}`, { as: 'admin' })
    const absent = await world.get('/api/v2/seats/none')
    expect([absent.status, absent.body.status]).toEqual([404, 'ERROR'])
    for (const id of [foreign.id, 'subject-b', removed.id, '%25', `${'x'.repeat(500)}`, "'"]) {
      const { status, body } = await world.get(`/api/v2/seats/${id}`)
      expect([status, body]).toEqual([404, absent.body])
    }
    expect((await world.get(`/api/v2/seats/${made[0].id}`, 'test')).body).toEqual(absent.body)
    expect((await world.get('/api/v2/seats', 'test')).body).toEqual([])
    expect((await world.get('/api/v2/seats/count', b.live)).body).toEqual({ count: 1 })
    expect((await world.get('/api/v2/seats', null)).status).toBe(401)
    expect((await world.get('/api/v2/seats', 'admin')).status).toBe(403)
  })

  it('a seat from the list can send', async () => {
    const [seat] = (await world.get('/api/v2/seats')).body
    expect(await world.send({ from_number: LINE, seat_id: seat.seat_id })).toMatchObject({
      seat_id: seat.seat_id,
      sender_email: seat.email,
    })
  })

  it('GET /account says whose keys these are', async () => {
    const live = (await world.get('/account')).body
    expect(live).toEqual({
      status: 'OK',
      email: 'dev@trunkline.local',
      name: 'Default world',
      plan: 'dedicated',
      world: 'live',
      company_id: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
      default_forwarding_number: null,
      created_at: new Date(START).toISOString(),
    })
    expect((await world.get('/account', 'test')).body).toMatchObject({ email: live.email, world: 'test' })
    expect((await world.get('/account', b.live)).body).toMatchObject({ email: 'b@example.com' })
    expect((await world.get('/account', null)).status).toBe(401)
    expect((await world.get('/account', 'admin')).status).toBe(403)
  })
})
