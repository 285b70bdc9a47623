import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually, spawnServer, temporaryStorage } from '../support/server.js'
import { createSink } from '../support/web/sink.js'
import { ADA, createWorld, credentials, ENGINES, type Json, LINE, type World } from '../support/world.js'
import { ownId, states, told } from './support.js'

const DAY = 86_400_000

describe.each(ENGINES)('quota.near on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  beforeEach(async () => {
    await world.reset()
    await set(10)
  })
  afterAll(() => world.close())

  const set = async (daily: number | null) =>
    world.call('PATCH', `/admin/accounts/${await ownId(world)}`, {
      as: 'admin',
      body: { budgets: { daily } },
    })
  const send = async (n: number) => {
    for (let i = 0; i < n; i++) await world.send()
    await world.settle()
  }
  const heard = () => states(world, 'quota.near')

  it('begins with the message that makes 80 %, at once and once, and ends at midnight UTC', async () => {
    await send(7)
    expect(await heard()).toEqual([])
    await send(1)
    const since = world.app.ctx.clock.now()
    expect(await told(world, 'quota.near')).toEqual([
      { state: 'began', since, endedAt: null, budget: 'daily', limit: 10, used: 8 },
    ])
    await send(4)
    await world.advance(60_000)
    expect(await heard()).toEqual(['began'])
    const [alert] = (await world.get('/v3/alerts')).body.data
    expect(alert).toMatchObject({ alert: 'quota.near', budget: 'daily', limit: 10, used: 8 })
    await world.advance(Math.ceil(since / DAY) * DAY - world.app.ctx.clock.now() - 1)
    expect(await heard()).toEqual(['began'])
    await world.advance(1)
    await world.advance(60_000)
    expect(await heard()).toEqual(['began', 'ended'])
    await send(9)
    expect(await heard()).toEqual(['began', 'ended', 'began'])
  })

  it('ends when the limit is raised, and begins again at the next one', async () => {
    await send(8)
    await set(20)
    await world.advance(30_000)
    expect(await heard()).toEqual(['began', 'ended'])
    await send(8)
    expect((await told(world, 'quota.near')).at(-1)).toMatchObject({ state: 'began', limit: 20, used: 16 })
    await set(null)
    await world.advance(30_000)
    expect(await heard()).toEqual(['began', 'ended', 'began', 'ended'])
  })

  it('is not told again after a restart', async () => {
    await send(8)
    await world.restart()
    await send(1)
    await world.advance(30_000)
    expect(await heard()).toEqual(['began'])
  })
})

it.skipIf(!ENGINES.includes('postgres'))('two processes tell of an alert once', async () => {
  const sink = await createSink()
  const env = { ...(await temporaryStorage('postgres')), LOG_LEVEL: 'warn' }
  const servers = await Promise.all([spawnServer({ env }), spawnServer({ env })])
  const ask = async (i: number, as: 'live' | 'admin', method: string, path: string, body?: object) => {
    const reply = await fetch(servers[i % 2]!.url + path, {
      method,
      headers: { ...credentials(as), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await reply.json()) as Json
  }
  const [{ id }] = (await ask(0, 'admin', 'GET', '/admin/accounts')).data
  await ask(0, 'live', 'PUT', '/api/account/webhooks', { webhooks: { alert: [`${sink.url}/alert`] } })
  await ask(0, 'admin', 'PATCH', `/admin/accounts/${id}`, { budgets: { daily: 20 } })
  const message = { from_number: LINE, number: ADA, content: 'x' }
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => ask(i, 'live', 'POST', '/api/send-message', message)),
  )
  const posted = await eventually(
    async () => sink.received.map(({ body }) => body),
    (all) => all.length > 0,
  )
  for (let i = 0; i < 2; i++) expect((await ask(i, 'live', 'GET', '/v3/alerts')).data).toHaveLength(1)
  await Promise.all(servers.map((server) => server.kill()))
  await sink.close()
  expect(sink.received).toHaveLength(1)
  expect(posted).toMatchObject([{ alert: 'quota.near', state: 'began', limit: 20 }])
})
