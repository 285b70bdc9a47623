import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { spawnServer, temporaryStorage } from '../support/server.js'
import { ADA, createWorld, credentials, ENGINES, type Json, LINE, type World } from '../support/world.js'

const DAY = 86_400_000

describe.each(ENGINES)('the budget daily on %s', (engine) => {
  let world: World
  let id: string
  beforeAll(async () => {
    world = await createWorld(engine)
    id = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  })
  beforeEach(() => world.reset())
  afterAll(() => world.close())

  const set = (daily: number | null) =>
    world.call('PATCH', `/admin/accounts/${id}`, { as: 'admin', body: { budgets: { daily } } })
  const post = (fields: Json = {}, headers = {}) =>
    world.post(
      '/api/send-message',
      { from_number: LINE, number: ADA, content: 'x', ...fields },
      'live',
      headers,
    )
  const used = async () =>
    (await world.get('/v3/usage')).body.data.find((one: Json) => one.name === 'daily').used

  it('accepts as many as allowed, however they come, and again after midnight UTC', async () => {
    await set(3)
    const replies = await Promise.all(Array.from({ length: 8 }, () => post()))
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 202, 202, 429, 429, 429, 429, 429])
    const late = replies.find(({ status }) => status === 429)!
    expect(late.body.error).toBe('budget_daily')
    expect(late.headers['x-should-retry']).toBe('false')
    const midnight = Math.ceil(world.app.ctx.clock.now() / DAY) * DAY
    const wait = Number(late.headers['retry-after'])
    expect(wait).toBe(Math.ceil((midnight - world.app.ctx.clock.now()) / 1000))
    expect(await used()).toBe(3)
    const send_at = new Date(world.app.ctx.clock.now() + 2 * DAY).toISOString()
    expect((await post({ send_at })).status).toBe(429)
    const group = { from_number: LINE, numbers: [ADA, '+12025550102'], content: 'x' }
    expect((await world.post('/api/send-group-message', group)).status).toBe(429)
    await world.advance(wait * 1000)
    expect(await used()).toBe(0)
    expect((await post()).status).toBe(202)
    await set(null)
  })

  // On SQLite one process stores everything.
  it.runIf(engine === 'postgres')(
    'a process that stops while it counts stops this account only',
    async () => {
      const other = (await world.post('/admin/accounts', { email: 'other@example.com' }, 'admin')).body
      const key = (await world.post('/admin/keys', { account_id: other.id }, 'admin')).body
      const number = '+12025550177'
      await world.post('/admin/lines', { account_id: other.id, number }, 'admin')
      await world.settle()
      await set(100)
      // Holds the account's lock as a process does that stops in its transaction.
      let isHeld = true
      const held = world.app.ctx.db
        .all('select pg_advisory_xact_lock(hashtextextended($1, 0)), pg_sleep(5)', [`daily ${id}`])
        .finally(() => {
          isHeld = false
        })
      const limited = post().then(({ status }) => ({ status, isHeld }))
      const seen: number[] = []
      for (let i = 0; i < 5; i++) {
        const message = { from_number: number, number: ADA, content: 'x' }
        seen.push((await world.post('/api/send-message', message, key)).status)
      }
      expect([...seen, isHeld]).toEqual([202, 202, 202, 202, 202, true])
      // Its own sends count one after the other: none is accepted while another process counts.
      expect(await limited).not.toEqual({ status: 202, isHeld: true })
      await held
      expect((await post()).status).toBe(202)
      await set(null)
    },
  )

  it('a deleted message still counts, and a repeated request is not refused', async () => {
    await set(1)
    const first = await post({}, { 'idempotency-key': 'k1' })
    await world.advance(60_000)
    await world.call('DELETE', `/api/v2/messages/${first.body.message_handle}`)
    expect((await post()).status).toBe(429)
    expect((await post({}, { 'idempotency-key': 'k2' })).status).toBe(429)
    const again = await post({}, { 'idempotency-key': 'k1' })
    expect([again.status, again.body.message_handle]).toEqual([202, first.body.message_handle])
    await set(null)
    expect((await post()).status).toBe(202)
  })
})

it('two processes together accept as many as allowed', async () => {
  const storage = await temporaryStorage('postgres')
  const env = { ...storage, LOG_LEVEL: 'warn' }
  const servers = await Promise.all([spawnServer({ env }), spawnServer({ env })])
  const ask = (url: string, as: 'live' | 'admin', method: string, path: string, body?: object) =>
    fetch(url + path, {
      method,
      headers: { ...credentials(as), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const { data } = (await (await ask(servers[0]!.url, 'admin', 'GET', '/admin/accounts')).json()) as Json
  await ask(servers[0]!.url, 'admin', 'PATCH', `/admin/accounts/${data[0].id}`, { budgets: { daily: 25 } })
  const message = { from_number: LINE, number: ADA, content: 'x' }
  const replies = await Promise.all(
    Array.from({ length: 80 }, (_, i) =>
      ask(servers[i % 2]!.url, 'live', 'POST', '/api/send-message', message),
    ),
  )
  expect(replies.filter(({ status }) => status === 202)).toHaveLength(25)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(55)
  await Promise.all(servers.map((server) => server.kill()))
})
