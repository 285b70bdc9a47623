import { cpSync, rmSync } from 'node:fs'
import type { InjectOptions } from 'fastify'
import { inject } from 'vitest'
import { type App, type AppOptions, createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import type { Log } from '../../src/base/log.js'
import { type Config, loadConfig } from '../../src/config.js'
import type { Driver } from '../../src/drivers/contract.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { createDatabase } from './database.js'
import { makeDirectory } from './directory.js'

export type Engine = 'sqlite' | 'postgres'
/** Every behaviour test runs on both; while writing one, TEST_ENGINES=sqlite saves time. */
export const ENGINES = (process.env.TEST_ENGINES?.split(',') ?? ['sqlite', 'postgres']) as Engine[]

export const LINE = DEFAULT_WORLD.line
export const SHARED_LINE = DEFAULT_WORLD.sharedLine
export const [ADA, BOB, CLEO, DAN, EVE] = DEFAULT_WORLD.phones.map((phone) => phone.number) as [
  string,
  string,
  string,
  string,
  string,
]

/** The moment every frozen world starts at. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

export type Who = 'live' | 'test' | 'admin' | { id: string; secret: string } | { token: string } | null

// biome-ignore lint/suspicious/noExplicitAny: answers are whatever the server sent; tests look into them freely
export type Json = any

export interface Reply {
  status: number
  body: Json
  headers: Record<string, string>
}

/** A whole Trunkline in this process, in a database of its own, with the default world and a clock that stands still. */
export interface World {
  app: App
  engine: Engine
  config: Config
  /** Log lines the server wrote. */
  logs: string[]
  call(
    method: string,
    path: string,
    options?: { as?: Who; body?: unknown; headers?: Record<string, string> },
  ): Promise<Reply>
  get(path: string, as?: Who): Promise<Reply>
  post(path: string, body: unknown, as?: Who, headers?: Record<string, string>): Promise<Reply>
  /** Sends from the default line as the live account; the answer's body. */
  send(fields?: Record<string, unknown>, as?: Who, headers?: Record<string, string>): Promise<Json>
  /** GET /api/status of a handle. */
  status(handle: string, as?: Who): Promise<Json>
  /** The full record of a handle. */
  record(handle: string, as?: Who): Promise<Json>
  /**
   * Records of what a person sent to a line, oldest first. Not by the list, which may be asked only so often: this
   * can be asked again and again.
   */
  arrived(line: string, from: string): Promise<Json[]>
  /** Texts that a phone received, oldest first. */
  inbox(phone: string, as?: Who): Promise<Json[]>
  /** Types on a phone. */
  text(phone: string, content: string, fields?: Record<string, unknown>, as?: Who): Promise<Json>
  setPhone(phone: string, switches: Record<string, unknown>, as?: Who): Promise<Json>
  /** Changes a line's settings (by its number, in the live world). */
  setLine(number: string, settings: Record<string, unknown>): Promise<Json>
  /** A further account with a live key, a test key and a line of its own. */
  addAccount(
    email: string,
    line: string,
  ): Promise<{ id: string; live: { id: string; secret: string }; test: { id: string; secret: string } }>
  /** All events since the start or the last `reset()`. */
  events(as?: 'live' | 'test'): Promise<Json[]>
  settle(): Promise<void>
  advance(ms: number): Promise<void>
  /** Begins the live and the test world anew, as users do between tests: a tenth of the cost of another `createWorld`. */
  reset(): Promise<void>
  /**
   * Stops this process's app and starts another on the same data, as after a restart; at another time if given.
   * `between` runs while no app has the data open.
   */
  restart(at?: number, between?: () => unknown): Promise<void>
  close(): Promise<void>
}

export interface WorldOptions {
  env?: Record<string, string>
  /** Settings of the default line from the start. */
  line?: Record<string, unknown>
  /** Make the API document from the routes. */
  document?: boolean
  /** Let time run by itself. */
  realTime?: boolean
  /** Where its time stands at first, instead of START. */
  startAt?: number
  /** Carriers beside the built-in ones. */
  drivers?: readonly Driver[]
  /** Import of the package that makes images smaller. */
  sharp?: AppOptions['sharp']
  /**
   * Its lines may be real: its keys are its own, under the names of the development keys, and loopback receivers are
   * allowed by TRUNKLINE_ALLOW_HOSTS. Default with drivers, with TRUNKLINE_PUBLIC_URL and with HOST.
   */
  isReal?: boolean
}

/** Makes the default world with keys of its own, for servers that start on the data later. */
export async function makeRealWorld(env: Record<string, string>): Promise<void> {
  const config = loadConfig({ ...env, LOG_LEVEL: 'silent' })
  const app = await createApp(config, { seed: true, keys: DEFAULT_WORLD.keys, worker: false })
  await app.stop()
}

/** Settings for loopback receivers beside real lines. */
export const LOOPBACK_RECEIVERS = { TRUNKLINE_ALLOW_HOSTS: '127.0.0.1,localhost' }

export async function createWorld(engine: Engine, options: WorldOptions = {}): Promise<World> {
  const directory = makeDirectory('trunkline-test-')
  const database = engine === 'postgres' ? await createDatabase() : undefined
  if (!database) cpSync(inject('sqliteTemplate'), directory, { recursive: true })
  const { env } = options
  const isReal = options.isReal ?? Boolean(options.drivers || env?.TRUNKLINE_PUBLIC_URL || env?.HOST)
  const config = loadConfig({
    ...(isReal ? LOOPBACK_RECEIVERS : {}),
    PORT: '0',
    TRUNKLINE_DATA: directory,
    TRUNKLINE_LAME_DUCK_MS: '0',
    TRUNKLINE_DRAIN_MS: '500',
    ...(database ? { DATABASE_URL: database.url } : {}),
    ...env,
  })
  const logs: string[] = []
  const log = memoryLog(logs)
  let app: App
  const seen = { live: 0, test: 0 }
  let time = options.startAt ?? START
  const boot = async () => {
    app = await createApp(config, {
      log,
      // Services are the same on both engines, and watching every promise takes time.
      guardTx: engine === 'sqlite',
      seed: true,
      ...(isReal ? { keys: DEFAULT_WORLD.keys } : {}),
      document: options.document ?? false,
      drivers: options.drivers,
      ...(options.sharp ? { sharp: options.sharp } : {}),
      ...(options.realTime ? {} : { clock: createClock(time) }),
    })
    await app.start()
    await app.settle()
  }
  await boot()

  const world: World = {
    get app() {
      return app
    },
    engine,
    config,
    logs,
    async call(method, path, { as = 'live', body, headers = {} } = {}) {
      const request: InjectOptions = {
        method: method as 'GET',
        url: path,
        headers: { ...credentials(as), ...headers },
        ...(body === undefined ? {} : { payload: body as object }),
      }
      const response = await app.server.inject(request)
      const isJson = String(response.headers['content-type'] ?? '').includes('json')
      return {
        status: response.statusCode,
        body: isJson && response.body !== '' ? JSON.parse(response.body) : response.body,
        headers: response.headers as Record<string, string>,
      }
    },
    get: (path, as) => world.call('GET', path, { as }),
    post: (path, body, as, headers) => world.call('POST', path, { as, body, headers }),
    async send(fields = {}, as, headers) {
      const body = { from_number: LINE, number: ADA, content: 'Hello', ...fields }
      return (await world.post('/api/send-message', body, as, headers)).body
    },
    status: async (handle, as) => (await world.get(`/api/status?handle=${handle}`, as)).body,
    record: async (handle, as) => (await world.get(`/api/v2/messages/${handle}`, as)).body.data,
    async arrived(line, from) {
      const rows = await app.ctx.db.all<{ handle: string }>(
        'select handle from messages where line_number = $1 and contact = $2 and is_outbound = 0 order by id',
        [line, from],
      )
      return Promise.all(rows.map(({ handle }) => world.record(handle)))
    },
    async inbox(phone, as) {
      const reply = await world.get(`/sim/phones/${encodeURIComponent(phone)}/inbox?limit=1000`, as)
      return reply.body.data.filter((message: Json) => message.direction === 'in')
    },
    async text(phone, content, fields = {}, as) {
      return (
        await world.post(
          `/sim/phones/${encodeURIComponent(phone)}/messages`,
          { to: LINE, content, ...fields },
          as,
        )
      ).body
    },
    setPhone: async (phone, switches, as) =>
      (await world.call('PATCH', `/sim/phones/${encodeURIComponent(phone)}`, { as, body: switches })).body,
    async setLine(number, settings) {
      const lines = (await world.get('/admin/lines', 'admin')).body.data
      const line = lines.find((one: Json) => one.number === number && one.world === 'live')
      const reply = await world.call('PATCH', `/admin/lines/${line.id}`, { as: 'admin', body: settings })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      await app.settle()
      return reply.body
    },
    async addAccount(email, line) {
      const account = (await world.post('/admin/accounts', { email }, 'admin')).body
      const live = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
      const test = (await world.post('/admin/keys', { account_id: account.id, kind: 'test' }, 'admin')).body
      await world.post('/admin/lines', { account_id: account.id, number: line }, 'admin')
      await app.settle()
      return { id: account.id, live, test }
    },
    async events(as = 'live') {
      const account = await app.ctx.db.one<{ id: string }>(
        'select id from accounts where email = $1 and world = $2',
        [DEFAULT_WORLD.email, as],
      )
      const rows = await app.ctx.db.all(
        'select * from events where account_id = $1 and seq > $2 order by seq',
        [account!.id, seen[as]],
      )
      return rows.map((row) => ({ ...row, data: JSON.parse(row.data as string) }))
    },
    settle: () => app.settle(),
    advance: async (ms) => {
      await app.advance(ms)
      await app.settle()
    },
    async reset() {
      for (const as of ['live', 'test'] as const) {
        const reply = await world.post('/sim/reset', {}, as)
        if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
        seen[as] = (await world.events(as)).at(-1).seq
      }
      await app.settle()
    },
    async restart(at, between) {
      time = at ?? app.ctx.clock.now()
      await app.stop()
      await between?.()
      await boot()
    },
    async close() {
      await app.stop()
      rmSync(directory, { recursive: true, force: true })
      await database?.release()
    },
  }
  if (options.line) await world.setLine(LINE, options.line)
  return world
}

export function credentials(as: Who): Record<string, string> {
  if (as === null) return {}
  if (typeof as === 'object' && 'token' in as) return { authorization: `Bearer ${as.token}` }
  const key = typeof as === 'string' ? DEFAULT_WORLD.keys[as] : as
  return { 'sb-api-key-id': key.id, 'sb-api-secret-key': key.secret }
}

/** A log that keeps its lines. */
export function memoryLog(lines: string[]): Log {
  const write = (level: string) => (fields: object, text: string) => {
    const shown = Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [
        key,
        value instanceof Error ? (value.stack ?? value.message) : value,
      ]),
    )
    lines.push(JSON.stringify({ level, ...shown, text }))
  }
  return {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    debug: write('debug'),
    isLevelEnabled: () => true,
  }
}
