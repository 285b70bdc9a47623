// Ten million messages on PostgreSQL: lists, removal by policy beside the sends, dead rows and vacuum, sizes.
// ROWS=1000000 makes it short. `bench/partitions.js` compares with partitions by time.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createApp } from '../dist/app.js'
import { createClock } from '../dist/base/clock.js'
import { loadConfig } from '../dist/config.js'
import { fillMessages } from './fill.js'
import { measureLists, SPAN_MS, START } from './list.js'
import { load, message } from './load.js'
import { comparePartitions } from './partitions.js'
import { startPostgres } from './postgres.js'
import { cpuOf } from './processor.js'
import { ADMIN, LIVE, startTrunkline } from './servers.js'
import { median, percentile, round } from './stats.js'

const ROWS = Number(process.env.ROWS ?? 10_000_000)
const FEW = 10_000
const TURNS = 3
const DAY_MS = 86_400_000
const WINDOW_S = 20
const CONNECTIONS = 16
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export async function retention(_runs, say) {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-retention-'))
  const database = await startPostgres(home)
  const data = join(home, 'server')
  try {
    const lists = await measureGrowth(database.url, data, say)
    const sizes = await tell(database.url, say)
    const removal = await measureRemoval(database, data, say)
    await comparePartitions(database.url, Math.min(ROWS, 1_000_000), say)
    return { retention_list_growth: lists, ...sizes, ...removal }
  } finally {
    await database.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

/** The worst p99 of the lists at `ROWS` rows against the same list at `FEW`, measured in turns. */
async function measureGrowth(databaseUrl, data, say) {
  const few = await createFew(databaseUrl)
  const [small, large] = [await openWorld(few, `${data}-few`), await openWorld(databaseUrl, data)]
  try {
    await small.fill(FEW, say)
    await large.fill(ROWS, say)
    const p99s = [small, large].map(() => [])
    for (let turn = 0; turn < TURNS; turn++)
      for (const [i, world] of [small, large].entries()) p99s[i].push(await world.measure())
    const ratios = Object.keys(p99s[0][0]).map((name) => {
      const [before, after] = p99s.map((turns) => median(turns.map((figures) => figures[name])))
      const ratio = round(after / before, 2)
      say(
        `retention, list by ${name}: p99 ${round(before, 2)} ms at ${FEW}, ${round(after, 2)} ms at ${ROWS} rows = ${ratio}`,
      )
      return ratio
    })
    return Math.max(...ratios)
  } finally {
    await small.app.stop()
    await large.app.stop()
  }
}

async function createFew(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('create database few')
  await client.end()
  return Object.assign(new URL(databaseUrl), { pathname: '/few' }).href
}

/** A server in this process, on a clock of its own. */
async function openWorld(databaseUrl, data) {
  const clock = createClock(START + SPAN_MS + 3_600_000)
  const config = loadConfig({ TRUNKLINE_DATA: data, LOG_LEVEL: 'error', DATABASE_URL: databaseUrl })
  const app = await createApp(config, { clock, seed: true, worker: true })
  const { db } = app.ctx
  const lines = await db.all(
    "select id, number, account_id from lines where network = 'live' order by number",
  )
  return {
    app,
    fill: (size, say) =>
      fillMessages(databaseUrl, { from: 0, to: size, size, accountId: lines[0].account_id, lines, say }),
    measure: () => measureLists(app, clock, db),
  }
}

/** Sizes in the database, and what autovacuum has done so far. */
async function tell(url, say) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const figures = {}
  const { rows } = await client.query(
    `select relname as name, n_live_tup::int as live, n_dead_tup::int as dead, autovacuum_count::int as vacuums,
       pg_relation_size(relid)::float8 as heap, pg_indexes_size(relid)::float8 as indexes
     from pg_stat_user_tables where relname in ('messages', 'attempts', 'message_counts') order by relname`,
  )
  for (const { name, live, dead, vacuums, heap, indexes } of rows) {
    say(
      `retention, ${name}: ${live} rows, ${dead} dead, ${vacuums} autovacuums, ${round(heap / live, 0)} + ${round(indexes / live, 0)} bytes a row (heap + indexes), ${round((heap + indexes) / 1e6, 0)} MB`,
    )
    figures[`${name}_bytes_a_row`] = round((heap + indexes) / live, 0)
  }
  await client.end()
  return figures
}

/** Removes the oldest tenth, first alone, then beside sends as fast as they go. */
async function measureRemoval(database, data, say) {
  const line = { pace: 0, config: { latency_ms: 0 } }
  const server = await startTrunkline({ databaseUrl: database.url, data, line })
  const { id } = (await server.request('/admin/accounts', { headers: ADMIN })).data[0]
  const change = (body) =>
    server.request(`/admin/accounts/${id}`, { method: 'PATCH', headers: ADMIN, body: JSON.stringify(body) })
  const metric = async (name) => {
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    return Number(
      new RegExp(`^trunkline_retention_${name}\\{data="messages"\\} (.*)$`, 'm').exec(text)?.[1] ?? 0,
    )
  }
  const lists = async () => {
    const times = []
    for (let i = 0; i < 330; i++) {
      const startedAt = performance.now()
      const reply = await fetch(`http://127.0.0.1:${server.port}/api/v2/messages?limit=50`, { headers: LIVE })
      await reply.text()
      if (reply.status !== 200) throw new Error(`a list was answered with ${reply.status}`)
      if (i >= 30) times.push(performance.now() - startedAt)
    }
    return round(percentile(times, 99), 1)
  }
  const send = () => load({ port: server.port, seconds: WINDOW_S, connections: CONNECTIONS, body: message })
  /** What is removed during some work, and the processor time of everything. */
  const during = async (work) => {
    const [removed, cpu, startedAt] = [
      await metric('removed_total'),
      cpuOf([server.pid, database.pid]),
      performance.now(),
    ]
    const result = await work()
    const rows = (await metric('removed_total')) - removed
    const seconds = (performance.now() - startedAt) / 1000
    return { result, rows, rate: rows / seconds, cpu: cpuOf([server.pid, database.pid]) - cpu }
  }
  try {
    await change({ budgets: { lists: 1_000_000 } })
    const before = await lists()
    const alone = await during(send)
    await pause(5000)
    const days = Math.floor((Date.now() - START - SPAN_MS / 10) / DAY_MS)
    await change({ retention: { messages: days } })
    while ((await metric('removed_total')) === 0) await pause(100)
    const removing = await during(() => pause(WINDOW_S * 1000))
    const lag = await metric('lag_seconds')
    const both = await during(send)
    await change({ retention: { messages: null } })
    await pause(3000)
    const withDead = await lists()
    await tell(database.url, say)
    const vacuum = await vacuumMs(database.url)
    await tell(database.url, say)
    const after = await lists()
    const removeUs = (removing.cpu * 1e6) / removing.rows
    say(
      `retention: removes ${round(removing.rate, 0)} messages a second alone (${round(removeUs, 0)} µs of processor time each, lag ${round(lag / 3600, 0)} h), ${round(both.rate, 0)} beside ${round(both.result.rate, 0)} sends a second (${round(alone.result.rate, 0)} without removal, ${both.result.failed} failed)`,
    )
    say(
      `retention: lists over HTTP p99 ${before} ms before, ${withDead} ms with dead rows, ${after} ms after a vacuum of ${round(vacuum / 1000, 1)} s`,
    )
    return {
      retention_removed_a_second: round(removing.rate, 0),
      retention_us_a_row: round(removeUs, 0),
      retention_removed_beside_sends: round(both.rate, 0),
      retention_sends_beside_removal: round(both.result.rate / alone.result.rate, 2),
      retention_vacuum_s: round(vacuum / 1000, 1),
    }
  } finally {
    await server.leave()
  }
}

async function vacuumMs(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const startedAt = performance.now()
  await client.query('vacuum messages, attempts, message_counts')
  await client.end()
  return performance.now() - startedAt
}
