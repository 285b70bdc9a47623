import { loadConfig } from '../../src/config.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { type SmscCarrier, smscCarrier } from '../faults/carriers/smsc-carrier.js'
import { get, post, tuneLine } from '../faults/ledger.js'
import { type Chance, createChance } from '../simulation/chance.js'
import { temporaryDirectory } from '../support/server.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, credentials, LINE, LOOPBACK_RECEIVERS, makeRealWorld } from '../support/world.js'
import { countOpen, describeOpen, type Evidence, judge } from './books.js'
import { createClients } from './clients.js'
import { type Servers, startCluster } from './cluster.js'
import { startFleet } from './fleet.js'
import { createReader } from './readers.js'
import { createRecoveryTimes } from './recovery.js'

/** A line at the SMSC; LINE is simulated. */
const REAL_LINE = '+12025557700'
const PERSON = '+12025558800'
const SIZE = 3
const ENV = {
  ...LOOPBACK_RECEIVERS,
  TRUNKLINE_LEASE_MS: '2000',
  TRUNKLINE_WIRE_TIMEOUT_MS: '1500',
  TRUNKLINE_DRAIN_MS: '2000',
  LOG_LEVEL: 'silent',
}

export interface Report {
  /** Broken promises, in words. */
  broken: string[]
  sends: number
  texts: number
  events: number
  /** How often each fault struck. */
  faults: Record<string, number>
  /** Milliseconds from the database's recovery to the first accepted send of each process. */
  recovery: Record<string, { n: number; median: number; worst: number }>
  /** Seconds until all was done after the last fault. */
  peace: number
}

export interface TormentOptions {
  /** Names of faults; empty means all. */
  only?: readonly string[]
  /** How long everything may take to come to rest after the last fault. */
  peaceMs: number
  startServers(chance: Chance): Promise<Servers>
}

/**
 * Three processes on a PostgreSQL with a standby, an SMSC, a receiver, readers of the event stream, clients that retry
 * and people who text. One hand strikes processes and the carrier, another one the database, both by seed. Then
 * all is left in peace and the books must agree.
 */
export async function torment(
  seed: number,
  ms: number,
  say: (line: string) => void,
  { only = [], peaceMs, startServers }: TormentOptions,
): Promise<Report> {
  let chances = 0
  const newChance = () => createChance(seed * 1000 + chances++)
  const cleanups: (() => Promise<unknown>)[] = []
  let end = Number.POSITIVE_INFINITY
  const until = async (work: () => Promise<unknown>, pauseMs: () => number) => {
    while (performance.now() < end) {
      await work().catch((error) => {
        end = 0
        throw error
      })
      await new Promise((resolve) => setTimeout(resolve, pauseMs()))
    }
  }
  try {
    const [carrier, sink, cluster] = await Promise.all([
      smscCarrier(),
      createSink(),
      startCluster(startServers, newChance()),
    ])
    cleanups.push(carrier.close, sink.close, cluster.stop)
    const data = { TRUNKLINE_DATA: temporaryDirectory() }
    await makeRealWorld({ ...data, DATABASE_URL: cluster.url })
    await cluster.prepareDisk()
    const envOf = (place: number) => ({ ...data, ...ENV, ...cluster.settingsOf(place) })
    const fleet = await startFleet(SIZE, envOf, newChance())
    cleanups.unshift(fleet.stop)
    await setUp(fleet.anyUrl(), carrier, sink)

    const clients = createClients(fleet, newChance())
    const readers = [createReader(fleet, 0), createReader(fleet, 0)]
    const brought = new Map<string, boolean>()
    const evidence: Evidence = { carrier, sink, clients, brought, readers }
    const recovery = createRecoveryTimes(fleet, clients, LINE, say)
    const bring = async () => {
      for (const [content, isTaken] of brought)
        if (!isTaken) brought.set(content, await carrier.text(PERSON, REAL_LINE, content))
    }
    const counts = new Map<string, number>()
    const hand = (
      faults: Record<string, () => Promise<void>>,
      restMs: number,
      after = async (_fault: string) => {},
    ) => {
      const chance = newChance()
      const names = Object.keys(faults).filter((name) => only.length === 0 || only.includes(name))
      if (names.length === 0) return Promise.resolve()
      const strike = async () => {
        const name = chance.pick(names)
        counts.set(name, (counts.get(name) ?? 0) + 1)
        const startedAt = performance.now()
        await faults[name]!()
        say(`${new Date().toISOString()} ${name}: ${Math.round(performance.now() - startedAt)} ms`)
        await after(name)
      }
      return until(strike, () => restMs / 4 + chance.below(restMs))
    }
    const outage = async () => {
      await carrier.die()
      await new Promise((resolve) => setTimeout(resolve, 1000))
      await carrier.revive()
    }
    const chance = newChance()
    let isOver = false
    const reading = Promise.all(readers.map((reader) => reader.read(() => isOver)))
    cleanups.unshift(async () => {
      isOver = true
      await reading
    })
    end = performance.now() + ms
    await Promise.all([
      ...Array.from({ length: 4 }, (_, i) =>
        until(
          () => clients.send(i === 0 ? LINE : REAL_LINE),
          () => 20 + chance.below(100),
        ),
      ),
      until(
        () => clients.text(ADA, LINE),
        () => 100 + chance.below(300),
      ),
      until(clients.poll, () => 50),
      until(
        () => bring().finally(() => brought.set(`answer ${brought.size}`, false)),
        () => chance.below(300),
      ),
      until(
        () => carrier.report().catch(() => {}),
        () => 200,
      ),
      hand({ ...fleet.faults, 'carrier gone': outage }, 2000),
      hand(cluster.faults, 4000, (fault) => recovery.measure(fault, () => performance.now() > end + 60_000)),
    ])

    const db = await openPostgres(loadConfig({ DATABASE_URL: cluster.url }).databaseUrl!)
    cleanups.unshift(() => db.close())
    const peaceAt = performance.now()
    const unrest: string[] = []
    for (;;) {
      await bring()
      const open = await countOpen(db, evidence)
      if (Object.values(open).every((n) => n === 0)) break
      say(JSON.stringify(open))
      if (performance.now() > peaceAt + peaceMs) {
        unrest.push(`not at rest: ${JSON.stringify([open, await describeOpen(db)])}`)
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 2000))
    }
    const peace = Math.round((performance.now() - peaceAt) / 1000)
    const broken = await judge(db, evidence)
    await fleet.stop()
    return {
      broken: [...unrest, ...broken, ...fleet.lingering],
      sends: clients.sent.size,
      texts: brought.size + clients.texted.size,
      events: readers[0]!.seen.length,
      faults: Object.fromEntries(counts),
      recovery: recovery.figures(),
      peace,
    }
  } finally {
    end = 0
    for (const cleanup of cleanups) await cleanup().catch((error) => say(String(error)))
  }
}

async function setUp(url: string, { driver, config }: SmscCarrier, sink: Sink): Promise<void> {
  await tuneLine(url, { pace: 0, settle_ms: 1000 })
  const [account] = (await get(url, '/admin/accounts', 'admin')).data
  const line = { account_id: account.id, number: REAL_LINE, driver, pace: 0, settle_ms: 1000, config }
  const made = await post(url, '/admin/lines', line, {}, 'admin')
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const hook = { url: `${sink.url}/hook`, retry_schedule: 'extended' }
  await fetch(`${url}/api/account/webhooks`, {
    method: 'PUT',
    headers: { ...credentials('live'), 'content-type': 'application/json' },
    body: JSON.stringify({ webhooks: { receive: [hook], outbound: [hook] } }),
  })
}
