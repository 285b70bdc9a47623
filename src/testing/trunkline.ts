import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, createApp } from '../app.js'
import { createClock } from '../base/clock.js'
import { createIds } from '../base/ids.js'
import type { Log } from '../base/log.js'
import { loadConfig } from '../config.js'
import type { Account } from '../core/accounts/account.js'
import type { Event } from '../core/events/event.js'
import type { Driver } from '../drivers/contract.js'
import { newKeyPair } from '../services/accounts/accounts.js'
import { DEFAULT_WORLD } from '../services/accounts/default-world.js'
import { listAccounts } from '../storage/accounts/accounts.js'
import type { Db } from '../storage/engine/db.js'
import { listEvents } from '../storage/events/events.js'
import { type Duration, milliseconds } from './duration.js'
import { createPhone, type Phone } from './phone.js'
import { createAsk, type Json, type Key } from './request.js'
import { createWebhooks, type Webhooks } from './webhooks.js'

export type { Phone, PhoneMessage, PhoneSwitches, PhoneText, Tapback, WaitFor } from './phone.js'
export { type Key, TrunklineError } from './request.js'
export type { Webhook, Webhooks, WebhookType } from './webhooks.js'

/** When a fault happens; default always. */
export interface FaultSettings {
  /** Only with this phone. */
  phone?: string
  /** From 0 to 1. */
  probability?: number
  /** How many messages it affects before it ends. */
  count?: number
  /** Seed of its random decisions. */
  seed?: number
  /** Values of its parameters, by name. */
  parameters?: Readonly<Record<string, number>>
}

export interface TrunklineOptions {
  /**
   * Makes ids, codes, secrets and all other random values equal in each run. With a `time`, two runs that do the same
   * have an identical event log.
   */
  seed?: string
  /**
   * The time at which the world's clock is stopped; only `advance()` moves it. Without it, the clock runs in real
   * time, and `advance()` puts it ahead.
   */
  time?: Date | string | number
  /** Carrier faults that are on from the start, by their names in `GET /sim/faults`. */
  faults?: Readonly<Record<string, FaultSettings | true>>
  /** An empty PostgreSQL database instead of SQLite in a temporary folder. It is not removed at the end. */
  databaseUrl?: string
  /** Drivers of your own besides the simulator; add a line to one with `POST /admin/lines`. */
  drivers?: readonly Driver[]
}

/** A whole Trunkline in this process: the API on a free port, a line, and virtual phones. */
export interface Trunkline {
  /** Base URL of the API. */
  readonly url: string
  /** Keys of the account, of its test world, and of the operator. */
  readonly keys: { readonly live: Key; readonly test: Key; readonly admin: Key }
  /** The line to send from. */
  readonly line: string
  /** The environment variables for the published SDK: `Object.assign(process.env, world.env)`. */
  readonly env: Readonly<
    Record<'SENDBLUE_API_BASE_URL' | 'SENDBLUE_API_API_KEY' | 'SENDBLUE_API_API_SECRET', string>
  >
  /** The world's time. */
  now(): Date
  /** A phone of the world. Every number has one; an unknown number has iMessage and accepts everything. */
  phone(number: string): Phone
  /** A receiver for webhooks: `listen()`, then `waitFor()`. */
  readonly webhooks: Webhooks
  /** Moves the world's time forward, like `'2h'` or milliseconds. Everything that falls due happens at its time. */
  advance(time: Duration): Promise<void>
  /** Waits until all work is done: messages have arrived, webhooks have been answered. */
  settle(): Promise<void>
  /** Turns a carrier fault on, or off with `false`, by its name in `GET /sim/faults`. */
  fault(name: string, settings?: FaultSettings | boolean): Promise<void>
  /** Changes settings of the line, as in `PATCH /admin/lines/{id}`: `{ pace: 1, daily_limit: 100 }`. */
  setLine(settings: Record<string, unknown>): Promise<void>
  /** Any request to the API, by default with the live key. Throws a `TrunklineError` when the answer is an error. */
  request(method: string, path: string, body?: unknown, key?: Key): Promise<Json>
  /**
   * Everything that has happened, oldest first, as one JSON object per line: the whole event log of the account
   * and of its test world.
   */
  eventLog(): Promise<string>
  /**
   * Another world on this server, with keys, phones and webhooks of its own and the line under the same number: one
   * for each test that runs at the same time. The time is the server's. `close()` removes it, as does closing the
   * world that it was made from.
   */
  fork(): Promise<Trunkline>
  /** An empty world again: no messages, no webhooks, phones as at the beginning. The time stays. */
  reset(): Promise<void>
  /** Ends everything and removes what was stored. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Boots a world for a test: nothing to install, nothing to configure, nothing left behind.
 *
 * ```ts
 * const world = await createTrunkline()
 * await signUp('+12025550101', { baseURL: world.url })
 * const { extracted } = await world.phone('+12025550101').waitForMessage({ extract: 'otp' })
 * await world.close()
 * ```
 */
export async function createTrunkline(options: TrunklineOptions = {}): Promise<Trunkline> {
  const data = mkdtempSync(join(tmpdir(), 'trunkline-world-'))
  const removeData = () => rmSync(data, { recursive: true, force: true })
  try {
    return await boot(options, data, removeData)
  } catch (error) {
    removeData()
    throw error
  }
}

async function boot(options: TrunklineOptions, data: string, removeData: () => void): Promise<Trunkline> {
  const config = loadConfig({
    PORT: '0',
    TRUNKLINE_DATA: data,
    TRUNKLINE_LAME_DUCK_MS: '0',
    TRUNKLINE_DRAIN_MS: '0',
    // Receivers of a test are on this machine, also beside a line of the test's own driver.
    ...(options.drivers ? { TRUNKLINE_ALLOW_HOSTS: '127.0.0.1,localhost' } : {}),
    ...(options.databaseUrl ? { DATABASE_URL: options.databaseUrl } : {}),
  })
  const { random } = createIds(options.seed === undefined ? undefined : `keys of ${options.seed}`)
  const keys = { live: newKeyPair(random), test: newKeyPair(random), admin: newKeyPair(random) }
  const app = await createApp(config, {
    keys,
    log: SILENT,
    throwaway: true,
    random: options.seed,
    drivers: options.drivers,
    // As fast as possible, so that no test waits, even with a stopped clock.
    seed: { pace: 0, config: { latency_ms: 0 } },
    ...(options.time === undefined ? {} : { clock: createClock(momentOf(options.time)) }),
  })
  try {
    if (!(await app.ctx.directory.key(keys.live.id)))
      throw new Error('databaseUrl: the database is not empty. Give each world an empty one.')
    await app.start()
  } catch (error) {
    await app.stop()
    throw error
  }
  return openWorld(app, options, { keys }, async () => {
    await app.stop()
    removeData()
  })
}

/** Where a world is on its server; a fork has an account id. */
interface WorldKeys {
  keys: Trunkline['keys']
  accountId?: string
}

async function openWorld(
  app: App,
  options: TrunklineOptions,
  { keys, accountId }: WorldKeys,
  end: () => Promise<void>,
): Promise<Trunkline> {
  const { line } = DEFAULT_WORLD
  const ask = createAsk(app.server, keys.live)
  const webhooks = createWebhooks(ask)
  const phones = new Map<string, Phone>()
  const forks = new Set<Trunkline>()
  let closing: Promise<void> | undefined

  const world: Trunkline = {
    url: app.url(),
    keys,
    line,
    env: {
      SENDBLUE_API_BASE_URL: app.url(),
      SENDBLUE_API_API_KEY: keys.live.id,
      SENDBLUE_API_API_SECRET: keys.live.secret,
    },
    now: () => new Date(app.ctx.clock.now()),
    phone(number) {
      const phone = phones.get(number) ?? createPhone(ask, number, line)
      phones.set(number, phone)
      return phone
    },
    webhooks,
    async advance(time) {
      await app.advance(milliseconds(time))
      await app.settle()
    },
    settle: () => app.settle(),
    async fault(name, settings = true) {
      const path = `/sim/faults/${encodeURIComponent(name)}`
      if (settings === false) await ask('DELETE', path)
      else await ask('PUT', path, settings === true ? {} : settings)
      await app.settle()
    },
    async setLine(settings) {
      const query = accountId === undefined ? '' : `?account_id=${accountId}`
      const { data: lines } = await ask('GET', `/admin/lines${query}`, undefined, keys.admin)
      const isOwn = (one: Json) => one.world === (accountId ?? 'live') && one.number === line
      const { id } = lines.find(isOwn)
      await ask('PATCH', `/admin/lines/${id}`, settings, keys.admin)
      await app.settle()
    },
    request: ask,
    eventLog: () => readEventLog(app.ctx.db, accountId),
    async fork() {
      const made = await ask('POST', '/sim/worlds', {}, keys.admin)
      const place = { keys: { ...made.keys, admin: keys.admin }, accountId: made.id }
      const fork = await openWorld(app, options, place, async () => {
        forks.delete(fork)
        await ask('DELETE', `/sim/worlds/${made.id}`, undefined, keys.admin)
      })
      forks.add(fork)
      return fork
    },
    async reset() {
      await ask('POST', '/sim/reset', {})
      phones.clear()
      webhooks.clear()
      await switchOn()
      await app.settle()
    },
    close() {
      closing ??= Promise.all([...forks].map((fork) => fork.close())).then(async () => {
        await Promise.all([end(), webhooks.close()])
      })
      return closing
    },
    [Symbol.asyncDispose]: () => world.close(),
  }
  try {
    await switchOn()
  } catch (error) {
    await world.close()
    throw error
  }
  return world

  async function switchOn() {
    for (const [name, settings] of Object.entries(options.faults ?? {})) await world.fault(name, settings)
  }
}

/** The events of one world, or of the accounts that are not worlds. */
async function readEventLog(db: Db, accountId: string | undefined): Promise<string> {
  const lines: string[] = []
  const isPart = ({ id, twinId, owner }: Account) =>
    accountId === undefined ? owner === null : id === accountId || twinId === accountId
  for (const { id } of (await listAccounts(db)).filter(isPart)) {
    for (let page: Event[] = [], seq = 0; seq === 0 || page.length === PAGE; seq = page.at(-1)?.seq ?? -1) {
      page = await listEvents(db, id, seq, PAGE)
      lines.push(...page.map((event) => `${JSON.stringify(event)}\n`))
    }
  }
  return lines.join('')
}

function momentOf(time: Date | string | number): number {
  const at = new Date(time).getTime()
  if (Number.isNaN(at)) throw new TypeError(`time: not a moment: ${time}`)
  return at
}

const PAGE = 1000

const SILENT: Log = {
  info() {},
  warn() {},
  error() {},
  debug() {},
  isLevelEnabled: () => false,
}
