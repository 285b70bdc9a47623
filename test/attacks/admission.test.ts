import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, type Json, SHARED_LINE, type Who, type World } from '../support/world.js'

const B_LINE = '+12025550150'

/** Found: 500 connections left 170,000 messages waiting, and nobody was told to slow down. */
describe.each(ENGINES)('a queue that is full on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((one: Json) => one.number === SHARED_LINE && one.world === 'live')
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
    for (const line of [B_LINE, SHARED_LINE]) await world.setLine(line, { pace: 1 })
    await set({ queued: 5 })
  })
  afterAll(() => world.close())

  const set = (budgets: Json) =>
    world.call('PATCH', `/admin/accounts/${b.id}`, { as: 'admin', body: { budgets } })
  const send = (content: string, headers = {}, from = B_LINE, as: Who = b.live) =>
    world.post('/api/send-message', { from_number: from, number: ADA, content }, as, headers)
  const stored = async () =>
    (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from messages where account_id = $1', [
      b.id,
    ]))!.n

  it('refuses with 503 before anything is stored, and says how long the queue is', async () => {
    // Takes the only place of this second; the clock stands still.
    expect((await send('first')).headers).toMatchObject({ 'x-queue-length': '1', 'x-queue-wait-ms': '1000' })
    await world.settle()
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) => send(`text ${i}`, { 'idempotency-key': `key-${i}` })),
    )
    const taken = replies.filter(({ status }) => status === 202)
    expect(taken.map(({ headers }) => Number(headers['x-queue-length']))).toEqual([1, 2, 3, 4, 5])
    const refused = replies.find(({ status }) => status === 503)!
    expect(replies.filter(({ status }) => status === 503)).toHaveLength(25)
    expect(refused.body.message).toMatch(/budget "queued".*at most 5 messages on each line.*Retry-After/)
    expect(refused.headers).toMatchObject({
      'x-queue-length': '5',
      'x-queue-wait-ms': '5000',
      'x-should-retry': 'true',
    })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(await stored()).toBe(6)
    const group = { from_number: B_LINE, numbers: [ADA, '+12025550103'], content: 'hello, both' }
    expect((await world.post('/api/send-group-message', group, b.live)).status).toBe(503)
    expect(await world.app.ctx.db.all('select 1 from group_chats where account_id = $1', [b.id])).toEqual([])
  })

  it('answers a repeated request of an accepted message as before', async () => {
    const again = await send('text 0', { 'idempotency-key': 'key-0' })
    expect([again.status, again.headers['x-idempotent-replay']]).toEqual([202, 'true'])
    expect((await send('text 1', { 'x-stainless-retry-count': '1' })).status).toBe(202)
    expect((await send('text 0', { 'idempotency-key': 'another' })).status).toBe(503)
    expect((await send('not yet', { 'x-stainless-retry-count': '1' })).status).toBe(503)
    expect(await stored()).toBe(6)
  })

  it("leaves other accounts alone, also on a shared line, and the account's scheduled messages", async () => {
    for (let i = 0; i < 7; i++) await send(`shared ${i}`, {}, SHARED_LINE)
    expect((await send('one too many', {}, SHARED_LINE)).status).toBe(503)
    expect((await send('hello', {}, SHARED_LINE, 'live')).status).toBe(202)
    const send_at = new Date(world.app.ctx.clock.now() + 3_600_000).toISOString()
    const later = { from_number: B_LINE, number: ADA, content: 'later', send_at }
    expect((await world.post('/api/send-message', later, b.live)).status).toBe(202)
  })

  it('another process, or this one after a restart, knows how long the queue is', async () => {
    await world.restart()
    expect((await send('after the restart')).headers['x-queue-length']).toBe('5')
  })

  it('has room again when messages have gone out, or when the limit is raised', async () => {
    await set({ queued: 6 })
    expect((await send('room for one')).status).toBe(202)
    expect((await send('but not for two')).status).toBe(503)
    await world.advance(20_000)
    expect((await send('later')).headers['x-queue-length']).toBe('1')
  })
})

describe.each(ENGINES)('a database that is behind on %s', (engine) => {
  it('refuses the account that keeps it busy and takes the message of another', async () => {
    const world = await createWorld(engine, { env: { TRUNKLINE_MAX_UNWRITTEN_SENDS: '10' } })
    try {
      const b = await world.addAccount('b@example.com', B_LINE)
      const send = (from_number: string, as: Who) =>
        world.post('/api/send-message', { from_number, number: ADA, content: 'hello' }, as)
      const flood = Array.from({ length: 60 }, () => send(B_LINE, b.live))
      const neighbour = await send('+12025550100', 'live')
      const replies = await Promise.all(flood)
      const refused = replies.filter(({ status }) => status === 503)
      expect(refused.length).toBeGreaterThan(0)
      expect(refused[0]!.body.message).toMatch(/database writes more slowly.*Nothing was stored/)
      expect(refused[0]!.headers['retry-after']).toBe('1')
      expect(neighbour.status).toBe(202)
      await world.settle()
      expect((await send(B_LINE, b.live)).status).toBe(202)
    } finally {
      await world.close()
    }
  })
})
