import { existsSync, readFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { createApp } from '../../../src/app.js'
import { loadConfig } from '../../../src/config.js'
import { loadSqlite } from '../../../src/storage/engine/sqlite-statements.js'
import { type Sightings, startBystander } from '../../support/load/bystander.js'
import { spawnServer, temporaryDirectory, temporaryStorage } from '../../support/server.js'
import { onServer } from '../../support/template.js'
import { credentials, type Engine, type Json, LINE, SHARED_LINE, type Who } from '../../support/world.js'
import { findOwner, insertEvents, insertPast } from './history.js'

const LOOP_WATCH = fileURLToPath(new URL('../../support/load/loop-watch.js', import.meta.url))
export const HOSTILE_LINE = '+12025550160'
export const EVENTS = 10_000
const MESSAGES = 5000

/** An attack that the budgets do not already refuse. */
const BUDGETS = { requests: 100_000, lists: 10_000 }

/**
 * Work of one turn of the server's event loop. The promise is 50 ms on a quiet machine. A busy one takes twice as long,
 * and garbage collection may prolong a few turns.
 */
const LONG_TURN_MS = 100
const MAX_TURN_MS = 300
const MIN_LOOKS = 20
/** What `/livez` may take. */
const LATE_MS = 50

export interface Answer {
  status: number
  body: Json
  headers: IncomingHttpHeaders
}

/** A server in a process of its own, a bystander in another, and a hostile account that this process plays. */
export interface Siege {
  hostile: { id: string; live: Exclude<Who, null> }
  pid: number
  ask(method: string, path: string, options?: { as?: Who; body?: unknown; headers?: object }): Promise<Answer>
  send(fields: object, as?: Who): Promise<Answer>
  /** The hostile account's messages in the database, without asking the server. */
  countMessages(): Promise<number>
  /** Changes a line of the live world, by its number. */
  setLine(number: string, settings: object): Promise<void>
  /** Like `late` of an attack, over all attacks so far. */
  lateShare(): number
  /**
   * Runs the attack beside the bystander, whom it must not hurt. `late` is the share of the time at which a question to
   * `/livez` would have waited for more than 50 ms of work: less than a hundredth means a p99 under 50 ms, whatever
   * else the machine did.
   */
  withstand<T>(attack: () => Promise<T>): Promise<{ seen: Sightings; late: number; result: T }>
  url: string
  close(): Promise<void>
}

export async function layDown(engine: Engine): Promise<Siege> {
  const watched = join(temporaryDirectory(), 'blocks')
  const storage = await temporaryStorage(engine)
  const env = {
    TRUNKLINE_DATA: temporaryDirectory(),
    ...storage,
    TRUNKLINE_MAX_UNWRITTEN_SENDS: '100',
  }
  const hostile = await prepare(env)
  const watch = { NODE_OPTIONS: `--import=${LOOP_WATCH}`, LOOP_WATCH: watched }
  const server = await spawnServer({ env: { ...env, ...watch } })
  const agent = new Agent({ keepAlive: true, maxSockets: 150 })
  const bystander = await startBystander(server.url, { line: LINE })
  const blocks = () =>
    existsSync(watched) ? readFileSync(watched, 'latin1').trimEnd().split('\n').map(Number) : []

  let lateMs = 0
  let attackedMs = 0

  const siege: Siege = {
    hostile,
    pid: server.pid,
    url: server.url,
    ask(method, path, { as = hostile.live, body, headers = {} } = {}) {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const type = text === undefined ? {} : { 'content-type': 'application/json' }
      return new Promise((resolve) => {
        const asked = request(server.url + path, {
          method,
          agent,
          headers: {
            ...credentials(as),
            ...type,
            'content-length': Buffer.byteLength(text ?? ''),
            ...headers,
          },
        })
        asked.on('error', (error) => resolve({ status: 0, body: error.message, headers: {} }))
        asked.on('response', (answer) => {
          let whole = ''
          answer.setEncoding('utf8').on('data', (piece) => (whole += piece))
          const { statusCode: status, headers } = answer
          answer.on('end', () => resolve({ status: status!, body: whole && JSON.parse(whole), headers }))
        })
        asked.end(text)
      })
    },
    send: (fields, as) =>
      siege.ask('POST', '/api/send-message', {
        as,
        body: { from_number: HOSTILE_LINE, content: 'Hello', ...fields },
      }),
    countMessages: () => countMessages(storage, hostile.id),
    async setLine(number, settings) {
      const { data } = (await siege.ask('GET', '/admin/lines', { as: 'admin' })).body
      const { id } = data.find((one: Json) => one.number === number && one.world === 'live')
      await siege.ask('PATCH', `/admin/lines/${id}`, { as: 'admin', body: settings })
    },
    async withstand(attack) {
      const before = blocks().length
      const began = performance.now()
      const { seen, result } = await bystander.during(attack)
      expect(seen).toMatchObject({ refused: [], untold: 0, unanswered: 0 })
      expect(seen.webhooks).toHaveLength(seen.sends.length)
      expect(seen.livez.length).toBeGreaterThan(MIN_LOOKS)
      const turns = blocks().slice(before)
      // Who asks during a turn waits for its rest.
      const late = turns.reduce((sum, ms) => sum + Math.max(0, ms - LATE_MS), 0)
      const took = performance.now() - began
      lateMs += late
      attackedMs += took
      expect(turns.filter((ms) => ms > LONG_TURN_MS).length, `long turns: ${turns}`).toBeLessThanOrEqual(3)
      expect(Math.max(0, ...turns), 'longest turn').toBeLessThan(MAX_TURN_MS)
      return { seen, late: late / took, result }
    },
    lateShare: () => lateMs / attackedMs,
    async close() {
      await bystander.close()
      await server.kill('SIGKILL')
      agent.destroy()
    },
  }
  return siege
}

async function countMessages(storage: Record<string, string>, accountId: string): Promise<number> {
  const text = `select count(*) as n from messages where account_id = '${accountId}'`
  if (storage.DATABASE_URL) return Number((await onServer(storage.DATABASE_URL, text))[0]![0]!.n)
  const database = (await loadSqlite())(join(storage.TRUNKLINE_DATA!, 'trunkline.db'))
  try {
    return (database.prepare(text).get() as { n: number }).n
  } finally {
    database.close()
  }
}

/** Makes the hostile account, with a past, before the server starts. */
async function prepare(env: Record<string, string>): Promise<Siege['hostile']> {
  const app = await createApp(loadConfig({ ...env, LOG_LEVEL: 'silent' }), { seed: true, worker: false })
  try {
    const ask = async (method: 'POST' | 'PATCH', url: string, payload: object) => {
      const answer = await app.server.inject({ method, url, payload, headers: credentials('admin') })
      if (answer.statusCode >= 300) throw new Error(answer.body)
      return answer.json()
    }
    const post = (url: string, payload: object) => ask('POST', url, payload)
    const { id } = await post('/admin/accounts', { email: 'hostile@example.com' })
    await ask('PATCH', `/admin/accounts/${id}`, { budgets: BUDGETS })
    const live = await post('/admin/keys', { account_id: id })
    await post('/admin/lines', { account_id: id, number: HOSTILE_LINE })
    const { db } = app.ctx
    await post(`/admin/lines/${(await findOwner(db, SHARED_LINE)).id}/members`, { account_id: id })
    const owner = await findOwner(db, HOSTILE_LINE)
    await insertPast(db, owner, MESSAGES)
    await insertEvents(db, owner, EVENTS)
    return { id, live }
  } finally {
    await app.stop()
  }
}
