import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { eventually, type SpawnedServer, spawnServer, temporaryStorage } from '../support/server.js'
import { ENGINES, type Engine } from '../support/world.js'
import { get, PHONES, post } from './ledger.js'

/** Every step of an inbound message's life, early and late in the life of a process. */
const POINTS = [
  'inbound.before_commit@1',
  'inbound.before_commit@3',
  'inbound.before_commit@7',
  'inbound.after_commit@1',
  'inbound.after_commit@2',
  'inbound.after_commit@5',
  'carrier.before_thanks@1',
  'carrier.before_thanks@4',
  'carrier.after_thanks@1',
  'carrier.after_thanks@3',
  'storage.before_commit@12',
  'storage.before_commit@18',
  'storage.before_commit@24',
  'storage.before_commit@30',
]
const RANDOM_KILLS = 6
const PER_LIFE = 24

/** Carriers of every kind that the rules are about, each with a line of its own. */
const TEMPERS: Record<string, unknown>[] = [
  {},
  { ids: false },
  { duplicate: 'same-id' },
  { part_chars: 4, part_order: 'backward' },
  { echo: 'mirror' },
]

describe.concurrent.each(ENGINES)('kill -9 while messages come in, on %s', (engine) => {
  it(`what a carrier believes delivered is stored once, at ${POINTS.length + RANDOM_KILLS} moments`, async () => {
    const storage = await temporaryStorage(engine)
    const env = { ...storage, TRUNKLINE_LEASE_MS: '600', LOG_LEVEL: 'silent', TRUNKLINE_LOOP_LIMIT: '0' }
    let n = 0
    let deaths = 0

    const first = await spawnServer({ env })
    const [account] = (await get(first.url, '/admin/accounts', 'admin')).data
    for (const [i, temper] of TEMPERS.entries()) {
      const line = {
        account_id: account.id,
        number: lineOf(i),
        pace: 0,
        config: { latency_ms: 1, ...temper },
      }
      expect((await post(first.url, '/admin/lines', line, {}, 'admin')).status).toBe(201)
    }
    await first.kill('SIGTERM')

    /** People write until the server dies. What they typed is the network's business from then on. */
    const type = async (server: SpawnedServer, lane: number): Promise<boolean> => {
      const content = n % 7 === 0 ? 'yes' : `text ${n}`
      n++
      const path = `/sim/phones/${encodeURIComponent(PHONES[lane]!)}/messages`
      const typed = post(server.url, path, { to: lineOf(lane), content })
      return typed.then(({ status }) => status === 201).catch(() => false)
    }
    const live = async (server: SpawnedServer, killAfter = Number.POSITIVE_INFINITY) => {
      let accepted = 0
      const lanes = PHONES.map(async (_phone, lane) => {
        for (let i = 0; i < PER_LIFE / PHONES.length; i++) {
          if (!(await type(server, lane))) return
          if (++accepted === killAfter) void server.kill('SIGKILL')
        }
      })
      await Promise.all(lanes)
    }

    for (const point of POINTS) {
      const server = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: point } }).catch(() => undefined)
      deaths++
      if (!server) continue
      await live(server)
      // Slowly: until the lease of the dead process ends, nothing arrives, and hundreds would have to be made up for.
      await eventually(async () => !(await type(server, n % PHONES.length)), Boolean, 30_000, 25)
      expect(await server.exited, point).toMatchObject({ signal: 'SIGKILL' })
    }
    for (let i = 0; i < RANDOM_KILLS; i++) {
      const server = await spawnServer({ env })
      await live(server, 1 + Math.round((i / RANDOM_KILLS) * (PER_LIFE - PHONES.length)))
      await server.kill('SIGKILL')
      deaths++
    }

    const last = await spawnServer({ env })
    await live(last)
    // Everything that people typed is at the line when every phone says so.
    const waiting = async () => {
      const inboxes = await Promise.all(
        PHONES.map((phone) => get(last.url, `/sim/phones/${encodeURIComponent(phone)}/inbox?limit=1000`)),
      )
      return inboxes.flatMap(({ data }) => data).filter((one) => one.direction === 'out' && !one.arrived_at)
        .length
    }
    await eventually(waiting, (left) => left === 0, 60_000, 200)
    expect(await last.kill('SIGTERM')).toMatchObject({ code: 0 })

    const db = await open(engine, storage)
    try {
      const typed = await db.all<{ content: string; phone: string; n: number }>(
        'select phone, content, count(*) as n from phone_messages where from_phone = 1 group by phone, content order by phone, content',
      )
      const stored = await db.all<{ content: string; phone: string; n: number }>(
        'select contact as phone, content, count(*) as n from messages where is_outbound = 0 group by contact, content order by contact, content',
      )
      expect(stored).toEqual(typed)
      expect(typed.length).toBeGreaterThan(40)
      // Each has its one event, and the log has no gap.
      const doubtful = await db.all(
        `select handle from messages m where is_outbound = 0 and
           (select count(*) from events e where e.account_id = m.account_id and e.subject = m.handle) <> 1`,
      )
      expect(doubtful).toEqual([])
      const gaps = await db.all(
        'select c.account_id from event_counters c where c.last_seq <> (select count(*) from events e where e.account_id = c.account_id)',
      )
      expect(gaps).toEqual([])
      expect(deaths).toBeGreaterThanOrEqual(20)
    } finally {
      await db.close()
    }
  })
})

function open(engine: Engine, storage: Record<string, string>) {
  const config = loadConfig(storage)
  return engine === 'postgres' ? openPostgres(config.databaseUrl!) : openSqlite(config.data)
}

function lineOf(i: number): string {
  return `+1202555440${i % TEMPERS.length}`
}
