// Processor time from a send to its DELIVERED with one, two and three processes on one PostgreSQL, in turns. Each
// process has the same number of clients, so that a further process is further load and not a smaller share of it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { load } from './load.js'
import { startPostgres } from './postgres.js'
import { cpuOf } from './processor.js'
import { ADMIN, startTrunkline } from './servers.js'
import { median, round } from './stats.js'

const FLEETS = [1, 2, 3]
const CONNECTIONS = 32
const WARM_UP = 3000
/** Messages of one turn at each process. */
const MESSAGES = 4000
/** Lines of all accounts together, at least: every process drives some. */
const LINES = 6
const LOOK_MS = 100

/** Accounts with a key and unpaced lines, and a database that all processes share. */
async function startFleet(size, accounts, database) {
  const nodes = [await startTrunkline({ databaseUrl: database.url })]
  while (nodes.length < size) nodes.push(await startTrunkline({ databaseUrl: database.url }))
  const make = async (path, body, method = 'POST') => {
    const reply = await nodes[0].request(path, { method, headers: ADMIN, body: JSON.stringify(body) })
    if (reply.error_message || reply.status === 'ERROR') throw new Error(`${path}: ${JSON.stringify(reply)}`)
    return reply
  }
  const senders = []
  for (let i = 0; i < accounts; i++) {
    const { id } = await make('/admin/accounts', { email: `sender-${i}@example.com` })
    const budgets = { requests: 1_000_000, queued: 10_000_000, memory: 1_000_000_000 }
    await make(`/admin/accounts/${id}`, { budgets }, 'PATCH')
    const key = await make('/admin/keys', { account_id: id })
    for (let j = 0; j < Math.max(1, LINES / accounts); j++) {
      const number = `+1202555${4000 + senders.length}`
      await make('/admin/lines', { account_id: id, number, pace: 0, config: { latency_ms: 0 } })
      senders.push({ key, number })
    }
  }
  const db = new pg.Client(database.url)
  await db.connect()
  const count = async (text) => Number((await db.query(text)).rows[0].n)
  const until = async (isReached) => {
    while (!(await isReached())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  await until(
    async () => (await count("select count(*) n from line_states where state = 'ONLINE'")) >= senders.length,
  )
  let sent = 0
  /** The same number of messages through each process; processor time of each message until all are delivered. */
  const turn = async (each) => {
    const first = sent
    sent += each * size
    const roots = [database.pid, ...nodes.map(({ pid }) => pid)]
    const before = cpuOf(roots)
    const answers = await Promise.all(
      nodes.map(({ port }, n) =>
        load({
          port,
          count: each,
          connections: CONNECTIONS,
          request: (i) => requestOf(senders, first + n * each + i),
        }),
      ),
    )
    if (answers.some(({ failed }) => failed > 0)) throw new Error('cost_per_message: sends failed')
    const delivered = "select count(*) n from messages where status = 'DELIVERED'"
    await until(async () => (await count(delivered)) >= sent)
    return ((cpuOf(roots) - before) * 1e6) / (each * size)
  }
  return {
    turn,
    async stop() {
      await db.end()
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

function requestOf(senders, i) {
  const { key, number } = senders[i % senders.length]
  const body = JSON.stringify({
    number: `+1202${2_000_000 + ((i * 7919) % 10_000) * 131}`,
    from_number: number,
    content: `Hello, this is message ${i} of usual length.`,
  })
  return `POST /api/send-message HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nsb-api-key-id: ${key.id}\r\nsb-api-secret-key: ${key.secret}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

async function costOf(size, accounts) {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-cost-'))
  const database = await startPostgres(home)
  try {
    const fleet = await startFleet(size, accounts, database)
    try {
      await fleet.turn(WARM_UP)
      return await fleet.turn(MESSAGES)
    } finally {
      await fleet.stop()
    }
  } finally {
    await database.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

export async function costPerMessage(runs, say) {
  const figures = {}
  for (const accounts of (process.env.BENCH_ACCOUNTS ?? '1,32').split(',').map(Number)) {
    const costs = FLEETS.map(() => [])
    for (let run = 1; run <= runs; run++) {
      for (const [i, size] of FLEETS.entries()) costs[i].push(await costOf(size, accounts))
      const now = costs.map((values) => `${round(values.at(-1), 0)} µs`).join(', ')
      say(`cost_per_message run ${run}, ${accounts} accounts, 1, 2 and 3 processes: ${now}`)
    }
    const [one, two, three] = costs.map(median)
    const suffix = accounts === 1 ? '' : `_${accounts}_accounts`
    figures[`cost_per_message_us${suffix}`] = round(one, 0)
    figures[`cost_per_message_2${suffix}`] = round(two / one, 2)
    figures[`cost_per_message${suffix}`] = round(three / one, 2)
  }
  return figures
}
