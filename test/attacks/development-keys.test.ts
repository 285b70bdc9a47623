import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, createApp } from '../../src/app.js'
import { type Config, loadConfig } from '../../src/config.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { KeysMissing } from '../../src/services/accounts/exposure.js'
import { createLine } from '../../src/services/lines/lines.js'
import { listRows } from '../../src/storage/audit/audit.js'
import { createPuppet } from '../support/puppet.js'
import { eventually, temporaryDirectory, temporaryStorage } from '../support/server.js'
import { createSink } from '../support/web/sink.js'
import {
  createWorld,
  credentials,
  ENGINES,
  type Json,
  LINE,
  memoryLog,
  type Reply,
  type World,
} from '../support/world.js'

const CONSOLE = { 'x-trunkline-console': '1' }
const { admin, live } = DEFAULT_WORLD.keys
const NUMBER = '+13105550140'
/** The row of the audit log about the end of the development keys. */
const ENDED = {
  actor: 'server',
  action: 'end development keys',
  object: 'dev-admin-key/dev-live-key/dev-test-key',
  status: 200,
}

async function signIn(world: World, { id, secret }: { id: string; secret: string }): Promise<string> {
  const reply = await world.post('/console/session', { key_id: id, secret }, null, CONSOLE)
  return String(reply.headers['set-cookie']).split(';')[0]!
}

describe.each(ENGINES)('development keys behind a proxy, on %s', (engine) => {
  let world: World
  let own: { id: string; secret: string }
  let token: string
  let cookie: string
  beforeAll(async () => {
    world = await createWorld(engine)
    own = (await world.post('/admin/keys', { kind: 'admin' }, 'admin')).body
    token = (await world.post('/v3/auth/tokens', {})).body.token
    cookie = await signIn(world, admin)
  })
  afterAll(() => world.close())

  /** Every way in with a development key: [answer without a proxy, answer to the given request]. */
  const waysIn = (headers: Record<string, string>) =>
    Promise.all([
      world.call('GET', '/admin/accounts', { as: 'admin', headers }),
      world.call('POST', '/admin/keys', { as: 'admin', headers, body: { kind: 'admin' } }),
      world.call('GET', '/api/v2/messages', { headers }),
      world.call('GET', '/api/v2/messages', { as: 'test', headers }),
      world.call('GET', '/api/v2/messages', { as: { token }, headers }),
      world.call('GET', '/admin/accounts', { as: null, headers: { ...CONSOLE, cookie, ...headers } }),
      // With an invalid query, because a stream that is let in would never end.
      world.call('GET', '/api/v2/events?since=x', {
        headers: { ...headers, host: headers.host ?? 'evil.example' },
      }),
      world.call('POST', '/console/session', {
        as: null,
        headers: { ...CONSOLE, ...headers },
        body: { key_id: live.id, secret: live.secret },
      }),
    ])

  it.each([
    ['forwarded', 'for=203.0.113.9'],
    ['x-forwarded-for', '203.0.113.9'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-anything', ''],
    ['via', '1.1 proxy'],
    ['x-real-ip', '127.0.0.1'],
  ])('a request with %s is refused with words, a key of one’s own is not', async (name, value) => {
    const headers = { [name]: value, host: '127.0.0.1' }
    for (const reply of await waysIn(headers)) {
      expect(reply.status).toBe(403)
      const words = JSON.stringify(reply.body)
      expect(words).toContain(`the header ${name}`)
      expect(words).toContain('trunkline init')
    }
    const session = await world.call('GET', '/console/session', {
      as: null,
      headers: { ...CONSOLE, cookie, ...headers },
    })
    expect(session.body).toMatchObject({ signed_in: false, keys: [], development: false })
    expect((await world.call('GET', '/admin/accounts', { as: own, headers })).status).toBe(200)
  })

  it('a request from another address is refused', async () => {
    const ask = async (remoteAddress: string, as: typeof own) => {
      const headers = { host: '127.0.0.1', ...credentials(as) }
      const { statusCode } = await world.app.server.inject({ url: '/admin/accounts', headers, remoteAddress })
      return statusCode
    }
    for (const address of ['203.0.113.9', '10.0.0.1', '172.17.0.1', '::ffff:10.0.0.1', '2001:db8::1'])
      expect([address, await ask(address, admin), await ask(address, own)]).toEqual([address, 403, 200])
    for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
      expect([address, await ask(address, admin)]).toEqual([address, 200])
  })

  it('a request in HTTP/1.0, as nginx sends it to its upstream, is refused', async () => {
    const { hostname, port } = new URL(world.app.url())
    const ask = async (version: string, key: typeof own) => {
      const socket = connect(Number(port), hostname)
      const headers = { host: 'x', connection: 'close', ...credentials(key) }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET /admin/accounts HTTP/${version}\r\n${lines.join('')}\r\n`)
      return Number((await text(socket)).split(' ')[1])
    }
    expect([await ask('1.0', admin), await ask('1.0', own), await ask('1.1', admin)]).toEqual([403, 200, 200])
  })
})

describe.each(ENGINES)('development keys and a line that reaches real phones, on %s', (engine) => {
  let world: World
  let accountId: string
  const puppet = createPuppet()
  beforeAll(async () => {
    world = await createWorld(engine, { drivers: [puppet], isReal: false })
    accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  })
  afterAll(() => world.close())
  const add = (number: string, driver = 'puppet'): Promise<Reply> =>
    world.post('/admin/lines', { account_id: accountId, number, driver }, 'admin')

  it('end together with its transaction, for every process, and so do loopback URLs', async () => {
    const sink = await createSink()
    const webhooks = { webhooks: { outbound: [`${sink.url}/hook`] } }
    const own = (await world.post('/admin/keys', { kind: 'live', account_id: accountId }, 'admin')).body
    expect((await world.call('PUT', '/api/account/webhooks', { as: own, body: webhooks })).status).toBe(200)
    await world.send()
    await world.settle()
    expect(sink.received.length).toBeGreaterThan(0)
    const { token } = (await world.post('/v3/auth/tokens', {})).body
    const cookie = await signIn(world, admin)
    const other = engine === 'postgres' ? await another(world.config) : undefined

    // A line that is not added ends nothing, and neither does a simulated one.
    expect((await add(LINE)).status).toBe(409)
    expect(await add('+13105550141', 'simulator')).toMatchObject({ status: 201, body: { notice: null } })
    expect((await world.get('/admin/lines', 'admin')).status).toBe(200)
    expect(await other?.ask()).toBe(other && 200)

    // Nor one whose transaction is taken back.
    const { ctx } = world.app
    const undone = ctx.db.tx(async (sql) => {
      const line = { number: NUMBER, kind: 'dedicated', accountId, driver: 'puppet', config: {} } as const
      expect(await createLine(ctx, sql, line)).toMatchObject({ hasEndedKeys: true })
      throw new Error('taken back')
    })
    await expect(undone).rejects.toThrow('taken back')
    expect((await world.get('/admin/lines', 'admin')).status).toBe(200)

    const added = await add(NUMBER)
    expect(added.status).toBe(201)
    expect(added.body.notice).toContain('The development keys have ended')
    expect(added.body.notice).toContain(`trunkline init --account ${accountId}`)
    expect(world.logs.some((line) => line.includes('The development keys have ended'))).toBe(true)
    const refused = await world.get('/admin/lines', 'admin')
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      401,
      expect.stringContaining('trunkline init'),
    ])
    expect((await world.get('/api/v2/messages', { token })).status).toBe(401)
    const headers = { ...CONSOLE, cookie }
    expect((await world.call('GET', '/admin/lines', { as: null, headers })).status).toBe(401)
    if (other) {
      await eventually(other.ask, (status) => status === 401)
      await other.app.stop()
    }

    const log = await listRows(world.app.ctx.db, { action: ENDED.action }, 'asc', undefined, 10)
    expect(log).toMatchObject([{ ...ENDED, seq: expect.any(Number) }])

    const again = await world.call('PUT', '/api/account/webhooks', { as: own, body: webhooks })
    expect([again.status, JSON.stringify(again.body)]).toEqual([400, expect.stringContaining('https')])
    await world.send({ content: 'Later' }, own)
    await world.settle()
    expect(sink.received.filter(({ body }) => body.content === 'Later')).toEqual([])
    await sink.close()
  })

  /** A second process on the database that has just seen that the key works. */
  async function another(config: Config): Promise<{ app: App; ask: () => Promise<number> }> {
    const app = await createApp(config, { log: world.app.ctx.log, drivers: [createPuppet()] })
    await app.start()
    const ask = async () => {
      const request = { url: '/admin/lines', headers: credentials('admin') }
      return (await app.server.inject(request)).statusCode
    }
    expect(await ask()).toBe(200)
    return { app, ask }
  }
})

describe.each(ENGINES)('development keys and settings that expose the server, on %s', (engine) => {
  it.each([
    ['TRUNKLINE_PUBLIC_URL', 'https://sms.example.org'],
    ['HOST', '0.0.0.0'],
  ])(
    '%s=%s: the server refuses to start without keys of one’s own, and ends the others',
    async (name, value) => {
      const storage = await temporaryStorage(engine)
      const logs: string[] = []
      const boot = (env: Record<string, string> = {}) =>
        createApp(loadConfig({ TRUNKLINE_DATA: temporaryDirectory(), PORT: '0', ...storage, ...env }), {
          seed: true,
          log: memoryLog(logs),
        })
      const ENDED_WORDS =
        /The development keys have ended, because .*Create your own keys with: trunkline init/
      const isValid = async (app: App, id: string) => (await app.ctx.directory.key(id)) !== undefined
      const empty = await boot({ [name]: value })
      const start = empty.start()
      await expect(start).rejects.toThrow(KeysMissing)
      await expect(start).rejects.toThrow(/The development keys end here, because .*\n.*\n *trunkline init/)
      expect(await isValid(empty, live.id)).toBe(false)
      await empty.stop()

      const local = await boot()
      expect(await isValid(local, live.id)).toBe(true)
      const made = await local.server.inject({
        ...{ method: 'POST', url: '/admin/keys', payload: { kind: 'admin' } },
        headers: credentials('admin'),
      })
      await local.stop()
      expect(logs.join('\n')).not.toMatch(ENDED_WORDS)

      const open = await boot({ [name]: value })
      await open.start()
      const words = logs.filter((line) => ENDED_WORDS.test(line))
      expect(words).toEqual([expect.stringContaining(value)])
      expect(await isValid(open, made.json().id)).toBe(true)
      for (const { id } of Object.values(DEFAULT_WORLD.keys)) expect(await isValid(open, id)).toBe(false)
      const headers = credentials(made.json())
      const { data } = (await open.server.inject({ url: '/admin/audit', headers })).json()
      expect(data.filter((row: Json) => row.actor === 'server')).toMatchObject([ENDED])
      await open.stop()
      // For good: a later start on loopback does not bring them back.
      const back = await boot()
      expect(await isValid(back, admin.id)).toBe(false)
      await back.stop()
    },
  )
})
