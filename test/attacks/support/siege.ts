import { existsSync, readFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { createApp } from '../../../src/app.js'
import { loadConfig } from '../../../src/config.js'
import { type Sightings, startBystander } from '../../support/load/bystander.js'
import { spawnServer, temporaryDirectory, temporaryStorage } from '../../support/server.js'
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
  /** Changes a line of the live world, by its number. */
  setLine(number: string, settings: object): Promise<void>
  /** Runs the attack beside the bystander, whom it must not hurt. */
  withstand<T>(attack: () => Promise<T>): Promise<{ seen: Sightings; result: T }>
  url: string
  close(): Promise<void>
}

export async function layDown(engine: Engine): Promise<Siege> {
  const watched = join(temporaryDirectory(), 'blocks')
  const env = {
    TRUNKLINE_DATA: temporaryDirectory(),
    ...(await temporaryStorage(engine)),
    TRUNKLINE_MAX_UNWRITTEN_SENDS: '100',
  }
  const hostile = await prepare(env)
  const watch = { NODE_OPTIONS: `--import=${LOOP_WATCH}`, LOOP_WATCH: watched }
  const server = await spawnServer({ env: { ...env, ...watch } })
  const agent = new Agent({ keepAlive: true, maxSockets: 150 })
  const bystander = await startBystander(server.url, { line: LINE })
  const blocks = () =>
    existsSync(watched) ? readFileSync(watched, 'latin1').trimEnd().split('\n').map(Number) : []

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
    async setLine(number, settings) {
      const { data } = (await siege.ask('GET', '/admin/lines', { as: 'admin' })).body
      const { id } = data.find((one: Json) => one.number === number && one.world === 'live')
      await siege.ask('PATCH', `/admin/lines/${id}`, { as: 'admin', body: settings })
    },
    async withstand(attack) {
      const before = blocks().length
      const { seen, result } = await bystander.during(attack)
      expect(seen).toMatchObject({ refused: [], untold: 0, unanswered: 0 })
      expect(seen.webhooks).toHaveLength(seen.sends.length)
      expect(seen.livez.length).toBeGreaterThan(MIN_LOOKS)
      const turns = blocks().slice(before)
      expect(turns.filter((ms) => ms > LONG_TURN_MS).length, `long turns: ${turns}`).toBeLessThanOrEqual(3)
      expect(Math.max(0, ...turns), 'longest turn').toBeLessThan(MAX_TURN_MS)
      return { seen, result }
    },
    async close() {
      await bystander.close()
      await server.kill('SIGKILL')
      agent.destroy()
    },
  }
  return siege
}

/** Makes the hostile account, with a past, before the server starts. */
async function prepare(env: Record<string, string>): Promise<Siege['hostile']> {
  const app = await createApp(loadConfig({ ...env, LOG_LEVEL: 'silent' }), { seed: true, worker: false })
  try {
    const post = async (url: string, payload: object) => {
      const answer = await app.server.inject({ method: 'POST', url, payload, headers: credentials('admin') })
      return answer.json()
    }
    const { id } = await post('/admin/accounts', { email: 'hostile@example.com', budgets: BUDGETS })
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
