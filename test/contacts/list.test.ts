import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, LINE, SHARED_LINE, START, type World } from '../support/world.js'

const MINUTE = 60_000
const at = (ms: number) => new Date(START + ms).toISOString()

describe.each(ENGINES)('the list of contacts on %s', (engine) => {
  let world: World
  let people: Json[]
  beforeAll(async () => {
    world = await createWorld(engine)
    // One a minute, and three of them in one call.
    const add = (contacts: Json[]) => world.post('/api/v2/contacts/bulk', { contacts })
    await add([{ phone: '+12025550105', first_name: 'Eve', last_name: 'adams', sendblue_number: LINE }])
    await world.advance(MINUTE)
    await add([
      { phone: '+12025550101', first_name: 'Ada', last_name: 'Young', sendblue_number: SHARED_LINE },
      { phone: '+442079460001', first_name: 'Zoe', last_name: 'Young' },
      { phone: '+12025550103', first_name: 'Ada', last_name: 'Zed', sendblue_number: LINE },
    ])
    await world.advance(MINUTE)
    await add([{ phone: '+12025550104' }])
    people = (await world.get('/api/v2/contacts?order_direction=asc')).body
  })
  afterAll(() => world.close())

  const phones = async (query: string) => {
    const reply = await world.get(`/api/v2/contacts?${query}`)
    expect([query, reply.status]).toEqual([query, 200])
    return reply.body.map((contact: Json) => contact.phone.slice(-3)).join(' ')
  }

  it('is a bare array, newest first', async () => {
    const { body } = await world.get('/api/v2/contacts')
    expect(Array.isArray(body)).toBe(true)
    expect(body).toEqual([...people].reverse())
    expect(await phones('')).toBe('104 103 001 101 105')
  })

  it.each([
    ['order_by=created_at&order_direction=asc', '105 101 001 103 104'],
    ['order_by=createdAt', '104 103 001 101 105'],
    ['order_by=firstName&order_direction=asc', '104 101 103 105 001'],
    ['order_by=first_name', '001 105 103 101 104'],
    ['order_by=lastName&order_direction=asc', '104 101 001 103 105'],
    ['order_by=last_name', '105 103 001 101 104'],
    ['order_by=phone&order_direction=asc', '101 103 104 105 001'],
    ['order_by=phone', '001 105 104 103 101'],
    ['limit=2', '104 103'],
    ['limit=2&offset=2', '001 101'],
    ['limit=2&offset=2&order_by=firstName&order_direction=asc', '103 105'],
    ['limit=100000', '104 103 001 101 105'],
    ['offset=5', ''],
    ['offset=999999999', ''],
    ['phone_number=%2B12025550101', '101'],
    ['phone_number=+12025550101', '101'],
    ['phone_number=%2B12025550199', ''],
    ['cid=nonsense', ''],
    ["cid='%20or%20''='", ''],
    [`created_at_gte=${at(0)}`, '104 103 001 101 105'],
    [`created_at_gte=${at(1)}`, '104 103 001 101'],
    [`created_at_gte=${at(MINUTE)}`, '104 103 001 101'],
    [`created_at_gte=${at(MINUTE + 1)}`, '104'],
    [`created_at_gte=${at(MINUTE)}&order_by=created_at&order_direction=asc`, '101 001 103 104'],
    [`created_at_gte=${at(MINUTE)}&order_by=phone&order_direction=asc`, '101 103 104 001'],
    [`created_at_gte=${at(3 * MINUTE)}`, ''],
    ['limit=', '104 103 001 101 105'],
  ])('%s', async (query, expected) => {
    expect(await phones(query)).toBe(expected)
  })

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'offset=-1',
    'offset=x',
    'order_by=tags',
    'order_by=phone;drop',
    'order_direction=up',
    'created_at_gte=yesterday',
    'created_at_gte=2026-02-30',
    'created_at_gte=1700000000',
    'phone_number=%25',
    'phone_number=*',
    "phone_number='",
    'limit=1&limit=2',
    'cid=%00',
  ])('refuses %s', async (query) => {
    const reply = await world.get(`/api/v2/contacts?${query}`)
    expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
    expect(reply.body.message).toContain(query.split('=')[0])
  })

  it('pages through everything exactly once, in every order', async () => {
    const rows = Array.from({ length: 250 }, (_, i) => ({
      phone: `+1415${2_000_000 + ((i * 7919) % 100_000)}`,
      first_name: `Name ${i % 3}`,
    }))
    const other = await world.addAccount('pages@example.com', '+12025550161')
    expect((await world.post('/api/v2/contacts/bulk', { contacts: rows }, other.live)).status).toBe(200)
    for (const order of ['created_at', 'firstName', 'lastName', 'phone']) {
      for (const direction of ['asc', 'desc']) {
        const seen: string[] = []
        for (let offset = 0; offset < 280; offset += 40) {
          const query = `order_by=${order}&order_direction=${direction}&limit=40&offset=${offset}`
          const { body } = await world.get(`/api/v2/contacts?${query}`, other.live)
          seen.push(...body.map((contact: Json) => contact.phone))
        }
        expect([order, direction, seen.length, new Set(seen).size]).toEqual([order, direction, 250, 250])
      }
    }
    const page = (await world.get('/api/v2/contacts', other.live)).body
    expect(page).toHaveLength(100)
    expect((await world.get('/api/v2/contacts?limit=1000', other.live)).body).toHaveLength(250)
    expect((await world.get('/api/v2/contacts/count', other.live)).body).toEqual({ count: 250 })
  })

  it('caps the limit at 1000 and the offset at 10000', async () => {
    const other = await world.addAccount('caps@example.com', '+12025550162')
    for (let part = 0; part < 2; part++) {
      const contacts = Array.from({ length: 5200 }, (_, i) => ({
        phone: `+1425${2_000_000 + part * 5200 + i}`,
      }))
      expect((await world.post('/api/v2/contacts/bulk', { contacts }, other.live)).status).toBe(200)
    }
    const read = async (query: string) => (await world.get(`/api/v2/contacts?${query}`, other.live)).body
    expect(await read('limit=5000')).toHaveLength(1000)
    const deep = await read('limit=1000&offset=10000')
    expect(deep).toHaveLength(400)
    expect(await read('limit=1000&offset=123456')).toEqual(deep)
    expect((await world.get('/api/v2/contacts/count', other.live)).body.count).toBe(10_400)
  })
})
