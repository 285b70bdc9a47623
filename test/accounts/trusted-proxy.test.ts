import { afterEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.js'
import { createWorld, credentials, ENGINES, type Json, type World } from '../support/world.js'

const PROXY = '10.42.0.9'
const CLIENT = '203.0.113.7'

describe.each(ENGINES)('addresses of clients behind a proxy, on %s', (engine) => {
  let world: World
  afterEach(() => world.close())
  const start = async (env: Record<string, string>) => {
    world = await createWorld(engine, { isReal: true, env })
  }
  const through = (forwardedFor: string, request: Json = {}, remoteAddress = PROXY) =>
    world.app.server.inject({
      url: '/api/v2/messages',
      remoteAddress,
      ...request,
      headers: { 'x-forwarded-for': forwardedFor, ...request.headers },
    })
  /** What the audit log has as the address of a change. */
  const addressOf = async (forwardedFor: string, remoteAddress = PROXY): Promise<Json> => {
    const create = { method: 'POST', url: '/admin/keys', payload: { kind: 'admin' } }
    const made = await through(forwardedFor, { ...create, headers: credentials('admin') }, remoteAddress)
    expect(made.statusCode).toBe(201)
    const [row] = (await world.get('/admin/audit?limit=1', 'admin')).body.data
    return [row.address, row.forwarded_for]
  }

  it('are those of the connection, unless the proxy is trusted', async () => {
    await start({})
    expect(await addressOf(CLIENT)).toEqual([PROXY, CLIENT])
  })

  it('are what a trusted proxy says, and no client can forge one', async () => {
    await start({ TRUNKLINE_TRUST_PROXY: '127.0.0.1, 10.42.0.0/16' })
    expect(await addressOf(CLIENT)).toEqual([CLIENT, CLIENT])
    // The client sent the first address itself; the proxy appended the other one.
    expect(await addressOf(`192.0.2.1, ${CLIENT}`)).toEqual([CLIENT, `192.0.2.1, ${CLIENT}`])
    expect(await addressOf(`${CLIENT}, 10.42.3.3`), 'two proxies').toEqual([CLIENT, `${CLIENT}, 10.42.3.3`])
    expect(await addressOf(CLIENT, '198.51.100.4'), 'not through the proxy').toEqual(['198.51.100.4', CLIENT])
    const [address] = await addressOf('x'.repeat(5000))
    expect(address.length).toBeLessThan(1000)
  })

  it('have a limit of wrong credentials each', async () => {
    const env = { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '2' }
    const tries = async () => {
      const statuses = []
      for (const client of [CLIENT, CLIENT, CLIENT, '203.0.113.8'])
        statuses.push((await through(client)).statusCode)
      return statuses
    }
    await start({ ...env, TRUNKLINE_TRUST_PROXY: PROXY })
    expect(await tries()).toEqual([401, 401, 429, 401])
    await world.close()
    await start(env)
    expect(await tries(), 'without trust they share one').toEqual([401, 401, 429, 429])
  })

  it('do not make a request local: metrics and development keys stay closed behind a trusted proxy', async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_TRUST_PROXY: '127.0.0.1' } })
    const metrics = await through('127.0.0.1', { url: '/metrics' }, '127.0.0.1')
    expect(metrics.statusCode).toBe(401)
    const keyed = await through('127.0.0.1', { headers: credentials('live') }, '127.0.0.1')
    expect(keyed.statusCode).toBe(403)
  })
})

describe('TRUNKLINE_TRUST_PROXY', () => {
  it('is checked when the server starts', () => {
    expect(() => loadConfig({ TRUNKLINE_TRUST_PROXY: '1' })).toThrow(
      'TRUNKLINE_TRUST_PROXY has "1", a number. Name the addresses of your proxies, not how many there are.',
    )
    expect(loadConfig({}).trustProxy).toEqual([])
  })
})
