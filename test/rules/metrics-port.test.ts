import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.js'
import { runCli } from '../support/cli.js'
import { spawnCli, spawnServer, temporaryStorage } from '../support/server.js'
import { createWorld, ENGINES } from '../support/world.js'

const PUBLIC = { TRUNKLINE_PUBLIC_URL: 'https://sms.example.com' }
const PORTS = /Metrics +(http:\S+)\/metrics/

describe.each(ENGINES)('the port of the metrics on %s', (engine) => {
  it('serves metrics and health without a key, and nothing else', async () => {
    const storage = await temporaryStorage(engine)
    const env = { ...storage, TRUNKLINE_METRICS_PORT: '0', ...PUBLIC }
    expect((await runCli(['init', '--json'], env)).code).toBe(0)
    const server = await spawnServer({ env })
    const port = PORTS.exec(server.output)![1]!
    expect(port).not.toBe(server.url)
    const ask = (path: string, init: RequestInit = {}) => fetch(port + path, init)

    const scraped = await ask('/metrics', { headers: { 'x-forwarded-for': '192.0.2.1' } })
    expect([scraped.status, scraped.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/plain'),
    ])
    expect(await scraped.text()).toContain('trunkline_lines_driven')
    for (const path of ['/livez', '/readyz']) {
      expect(await (await ask(path)).json()).toEqual({ status: 'ok' })
      expect((await ask(path, { method: 'HEAD' })).status).toBe(200)
    }
    for (const path of ['/', '/api/v2/messages', '/admin/accounts', '/console', '/openapi.json', '/metricsx'])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
    expect((await ask('/metrics', { method: 'POST', body: 'x' })).status).toBe(404)

    expect((await fetch(`${server.url}/metrics`)).status, 'on the port of the API').toBe(401)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    await expect(ask('/livez')).rejects.toThrow()
  })

  it('is not there unless it is set', async () => {
    const server = await spawnServer({ engine })
    expect(server.output).not.toMatch(PORTS)
    await server.kill()
  })
})

describe('TRUNKLINE_METRICS_PORT', () => {
  it('is a port of its own', () => {
    expect(() => loadConfig({ TRUNKLINE_METRICS_PORT: '4040' })).toThrow('must differ from PORT')
    expect(() => loadConfig({ TRUNKLINE_METRICS_PORT: 'on' })).toThrow('whole number from 0 to 65535')
    expect(loadConfig({ TRUNKLINE_METRICS_PORT: '9464' })).toMatchObject({
      metricsPort: 9464,
      metricsHost: '127.0.0.1',
    })
  })

  it('that is taken keeps the server from starting', async () => {
    const first = await spawnServer()
    const { port } = new URL(first.url)
    const refused = await spawnCli(['serve', '--port', '0'], {
      ...(await temporaryStorage('sqlite')),
      TRUNKLINE_METRICS_PORT: port,
    })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(port)])
    await first.kill()
  })
})

describe.each(ENGINES)('metrics on the port of the API, on %s', (engine) => {
  // nginx with HTTP/1.1 to its upstream and no further header leaves no trace.
  it.each([PUBLIC, { TRUNKLINE_METRICS_PORT: '0' }, { TRUNKLINE_TRUST_PROXY: '127.0.0.1' }] as Record<
    string,
    string
  >[])('need an admin key from everybody with %j, because a proxy may leave no trace', async (env) => {
    const world = await createWorld(engine, { env })
    const ask = async (as: 'admin' | null) => (await world.get('/metrics', as)).status
    expect([await ask(null), await ask('admin')]).toEqual([401, 200])
    await world.close()
  })
})
