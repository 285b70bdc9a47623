import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { topics } from '../../src/core/topics.js'
import { createDatabase } from '../support/database.js'
import { eventually, spawnServer } from '../support/server.js'
import { startProxy } from '../support/web/proxy.js'
import { createSink } from '../support/web/sink.js'
import {
  ADA,
  BOB,
  createWorld,
  credentials,
  ENGINES,
  EVE,
  type Json,
  LINE,
  type World,
} from '../support/world.js'

const CONTENT = 'the vault opens with marmalade'

/** Numbers of the default world, secrets and texts: what no log and no metric may show. */
const PRIVATE = /202-?555-?01\d\d|dev-(live|test|admin)-(key|secret)|vault|marmalade|wrong-secret/

describe.each(ENGINES)('operations on %s', (engine) => {
  let world: World
  afterEach(() => world.close())

  const metrics = async () => {
    const { body } = await world.get('/metrics', null)
    const lines = (body as string).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    return {
      text: body as string,
      values: new Map(
        lines.map((line) => [
          line.slice(0, line.lastIndexOf(' ')),
          Number(line.slice(line.lastIndexOf(' '))),
        ]),
      ),
    }
  }

  it('says that it lives and is ready, without credentials', async () => {
    world = await createWorld(engine)
    for (const path of ['/livez', '/readyz']) {
      expect(await world.get(path, null)).toMatchObject({ status: 200, body: { status: 'ok' } })
    }
  })

  it('answers HEAD like GET, without a body', async () => {
    world = await createWorld(engine)
    for (const path of ['/livez', '/readyz', '/readyz?verbose']) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => world.call(method, path, { as: null })),
      )
      expect([head!.status, head!.body]).toEqual([200, ''])
      for (const name of ['content-type', 'content-length', 'cache-control'])
        expect([name, head!.headers[name]]).toEqual([name, get!.headers[name]])
    }
    const stopped = world.restart()
    expect((await world.call('HEAD', '/readyz', { as: null })).status).toBe(503)
    await stopped
  })

  it('is alive but not ready while it stops, and refuses in words what comes meanwhile', async () => {
    world = await createWorld(engine, { line: { config: { fault: 'silence' } } })
    await world.send()
    await world.settle() // one send is on the wire and keeps the stop waiting
    const restarted = world.restart()
    expect(await world.get('/readyz', null)).toMatchObject({ status: 503, body: { status: 'unavailable' } })
    expect((await world.get('/livez', null)).status).toBe(200)
    const body = { from_number: LINE, number: BOB, content: CONTENT }
    const late = await world.post('/api/send-message', body)
    expect([late.status, late.headers['retry-after'], late.headers['x-should-retry']]).toEqual([
      503,
      '1',
      'true',
    ])
    await restarted
    expect((await world.get('/readyz', null)).status).toBe(200)
    expect((await world.post('/api/send-message', body)).status).toBe(202)
  })

  it.runIf(engine === 'postgres')(
    'is not ready without its database, and asks to be tried again',
    async () => {
      const database = await createDatabase()
      const network = await startProxy(database.url, [])
      const url = new URL(database.url)
      url.port = new URL(network.url).port
      world = await createWorld(engine, { env: { DATABASE_URL: url.href } })
      await network.cut()
      expect((await world.get('/readyz', null)).status).toBe(503)
      expect((await world.get('/livez', null)).status).toBe(200)
      const refused = await world.post('/api/send-message', {
        from_number: LINE,
        number: ADA,
        content: CONTENT,
      })
      expect([refused.status, refused.headers['x-should-retry']]).toEqual([503, 'true'])
      await network.mend()
      expect((await world.get('/readyz', null)).status).toBe(200)
      expect((await world.send()).status).toBe('QUEUED')
      expect(world.logs.join('\n')).not.toMatch(PRIVATE)
      onTestFinished(async () => {
        await network.close()
        await database.release()
      })
    },
  )

  it('counts what it does', async () => {
    world = await createWorld(engine)
    const before = await metrics()
    for (const number of [ADA, ADA, EVE]) await world.send({ number, content: CONTENT })
    await world.text(ADA, CONTENT)
    await world.advance(1000)
    await world.get('/api/status?handle=none')
    await world.get('/api/v2/messages', { id: 'dev-live-key', secret: 'wrong-secret' })
    await world.get('/no/such/path')
    const after = await metrics()
    const grown = (name: string) => (after.values.get(name) ?? 0) - (before.values.get(name) ?? 0)
    expect(grown('trunkline_messages_accepted_total')).toBe(3)
    expect(grown('trunkline_messages_received_total{result="new"}')).toBe(1)
    expect(grown('trunkline_send_attempts_total{driver="simulator",outcome="accepted"}')).toBe(2)
    expect(grown('trunkline_send_attempts_total{driver="simulator",outcome="refused"}')).toBe(1)
    expect(grown('trunkline_send_seconds_count{driver="simulator"}')).toBe(3)
    expect(grown('trunkline_receipts_total{driver="simulator",status="DELIVERED"}')).toBe(2)
    expect(before.values.get('trunkline_send_attempts_total{driver="simulator",outcome="unknown"}')).toBe(0)
    expect(grown('trunkline_auth_failures_total')).toBe(1)
    const requests = (method: string, route: string, status: number) =>
      grown(`trunkline_http_requests_total{method="${method}",route="${route}",status="${status}"}`)
    expect(requests('POST', '/api/send-message', 202)).toBe(3)
    expect(requests('GET', '/api/status', 404)).toBe(1)
    expect(requests('GET', '/api/v2/messages', 401)).toBe(1)
    expect(requests('POST', '/sim/phones/:number/messages', 201)).toBe(1)
    expect(requests('GET', 'none', 404)).toBe(1)
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    expect(after.values.get('trunkline_lines_driven')).toBe(lines.length)
    expect(after.values.get('trunkline_lease_changes_total{change="taken"}')).toBe(lines.length)
    expect(after.values.get('trunkline_lease_changes_total{change="lost"}')).toBe(0)
    expect(after.values.has('process_resident_memory_bytes')).toBe(true)
    expect(after.text).not.toMatch(PRIVATE)
  })

  it('counts the lines it drives, down as well as up', async () => {
    world = await createWorld(engine)
    const driven = async () => (await metrics()).values.get('trunkline_lines_driven')
    const before = await driven()
    const { id } = await world.addAccount('more@example.com', '+12025550120')
    expect(await driven(), 'a line and its twin in the test world').toBe(before! + 2)
    await world.call('DELETE', `/admin/accounts/${id}`, { as: 'admin' })
    await world.settle()
    expect(await driven()).toBe(before)
  })

  it.runIf(engine === 'postgres')('counts the lines that it lost to another process', async () => {
    world = await createWorld(engine)
    const changes = async (change: string) =>
      (await metrics()).values.get(`trunkline_lease_changes_total{change="${change}"}`)
    const taken = (await changes('taken'))!
    const { db, wakes } = world.app.ctx
    await db.tx((sql) => sql.run("update line_leases set node_id = 'another', epoch = epoch + 1", []))
    wakes.wake(topics.nodes)
    await expect.poll(() => changes('lost')).toBe(taken)
    // The other process is not alive.
    await expect.poll(() => changes('taken')).toBe(2 * taken)
  })

  it('shows what waits, by the id of its line', async () => {
    world = await createWorld(engine, { line: { config: { fault: 'unreachable' } } })
    await world.send()
    await world.send({ number: BOB })
    await world.settle()
    const line = (await world.get('/admin/lines', 'admin')).body.data.find(
      (one: Json) => one.number === LINE && one.world === 'live',
    )
    const age = async () => (await metrics()).values.get(`trunkline_queue_age_seconds{line="${line.id}"}`)
    expect((await metrics()).values.get(`trunkline_queue_messages{line="${line.id}"}`)).toBe(2)
    const before = await age()
    await world.advance(20_000)
    expect(await age(), 'an attempt that failed does not make it young').toBe(before! + 20)
    await world.setLine(LINE, { config: {} })
    await world.advance(60_000)
    expect((await metrics()).values.get(`trunkline_queue_messages{line="${line.id}"}`) ?? 0).toBe(0)
    expect(await age()).toBeUndefined()
  })

  it('measures webhooks from the event to the acknowledgement, without replays', async () => {
    world = await createWorld(engine)
    const sink = await createSink()
    let posts = 0
    sink.answer(() => (++posts === 1 ? 503 : 200))
    await world.post('/api/account/webhooks', { webhooks: [sink.url] })
    await world.text(ADA, CONTENT)
    await world.advance(600_000)
    const lag = async (what: string) => (await metrics()).values.get(`trunkline_webhook_lag_seconds_${what}`)
    expect([posts, await lag('count')]).toEqual([2, 1])
    const sum = (await lag('sum'))!
    expect(sum).toBeGreaterThan(1)
    await world.post('/v3/webhook-deliveries/replay', { status: 'delivered' })
    await world.advance(1000)
    expect([posts, await lag('count'), await lag('sum')]).toEqual([3, 1, sum])
    await sink.close()
  })
})

describe.each(ENGINES)('the log on %s', (engine) => {
  it('writes JSON logs without texts, numbers and secrets', async () => {
    const server = await spawnServer({
      engine,
      args: ['--json'],
      env: { LOG_LEVEL: 'trace', TRUNKLINE_DRAIN_MS: '200' },
    })
    const call = (path: string, method: string, body?: object, headers = credentials('live')) =>
      fetch(server.url + path, {
        method,
        headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    const send = {
      from_number: LINE,
      number: ADA,
      content: CONTENT,
      media_url: 'https://example.com/vault.png',
    }
    const { message_handle: handle } = (await (await call('/api/send-message', 'POST', send)).json()) as Json
    await eventually(
      async () => ((await (await call(`/api/status?handle=${handle}`, 'GET')).json()) as Json).status,
      (status) => status === 'DELIVERED',
    )
    await call('/api/send-message', 'POST', { ...send, number: EVE })
    await call('/api/send-message', 'POST', { ...send, from_number: `${CONTENT} ${ADA}` })
    await call('/api/send-message', 'POST', send, {
      'sb-api-key-id': 'dev-live-key',
      'sb-api-secret-key': 'wrong-secret',
    })
    await call(`/api/v2/messages?number=${encodeURIComponent(ADA)}`, 'GET')
    await call(`/sim/phones/${encodeURIComponent(ADA)}/messages`, 'POST', { to: LINE, content: CONTENT })
    await call(`/no/such/${CONTENT}`, 'GET')
    const lines = (
      (await (await call('/admin/lines', 'GET', undefined, credentials('admin'))).json()) as Json
    ).data
    const line = lines.find((one: Json) => one.number === LINE && one.world === 'live')
    await call(`/admin/lines/${line.id}`, 'PATCH', { config: { fault: 'silence' } }, credentials('admin'))
    await call('/api/send-message', 'POST', send)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })

    const entries = server.output
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    // A warning may come before it: with PostgreSQL, that the keys for sealing are on this machine only.
    const [ready] = entries.splice(
      entries.findIndex((entry) => entry.ready),
      1,
    )
    expect(ready).toMatchObject({ ready: true, url: server.url })
    const requests = entries.filter((entry) => entry.msg === 'request')
    expect(requests.length).toBeGreaterThan(8)
    expect(requests).toContainEqual(
      expect.objectContaining({ method: 'POST', route: '/sim/phones/:number/messages', status: 201 }),
    )
    for (const entry of entries)
      expect(entry).toMatchObject({ level: expect.any(Number), time: expect.any(String) })
    expect(JSON.stringify(entries)).not.toMatch(PRIVATE)
  })
})
