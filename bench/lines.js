// Ten thousand lines on one node: what a further line costs, and what all of them cost while nothing happens.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './postgres.js'
import { cpuOf } from './processor.js'
import { ADMIN, startTrunkline } from './servers.js'
import { median, round } from './stats.js'

/** Lines of the large server. Each request adds two: a line and the one of the test world. */
const LINES = Number(process.env.BENCH_LINES ?? 10_000)
const FEW = 10
/** Requests of one turn; their lines are removed again. */
const TURN = 100
/** Two minutes: some work is done once a minute. */
const IDLE_MS = 120_000
/** V8 collects the garbage of the start in several rounds, the last about two minutes after it. */
const SETTLE_MS = 150_000

const { 'content-type': _, ...BARE } = ADMIN
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function startLines(count, postgres) {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-lines-'))
  const database = postgres ? await startPostgres(home) : undefined
  const options = { databaseUrl: database?.url, data: join(home, 'server') }
  let server = await startTrunkline(options)
  const ask = async (method, path, body) => {
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: body ? ADMIN : BARE,
      body: body && JSON.stringify(body),
    })
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return reply.status === 204 ? undefined : reply.json()
  }
  const account = (await ask('GET', '/admin/accounts')).data[0].id
  let n = 0
  const add = async () =>
    (await ask('POST', '/admin/lines', { account_id: account, number: `+1303${2_000_000 + n++}` })).id
  const one = {
    roots: () => [server.pid, ...(database ? [database.pid] : [])],
    add,
    /** Processor time of adding a line, in milliseconds. */
    async turn() {
      const ids = []
      const before = cpuOf(one.roots())
      for (let i = 0; i < TURN; i++) ids.push(await add())
      await one.driven(ids.at(-1))
      const spent = cpuOf(one.roots()) - before
      for (const id of ids) await ask('DELETE', `/admin/lines/${id}`)
      return (spent * 1000) / TURN
    },
    async driven(id) {
      while ((await ask('GET', `/admin/lines/${id}`)).state !== 'ONLINE') await pause(20)
    },
    /** Waits until the process drives that many lines. */
    async drivesAll(lines) {
      const driven = async () => {
        const reply = await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: BARE })
        return Number(/^trunkline_lines_driven (\d+)/m.exec(await reply.text())?.[1])
      }
      while ((await driven()) < lines) await pause(100)
    },
    async restart() {
      await server.leave()
      const before = performance.now()
      server = await startTrunkline(options)
      return performance.now() - before
    },
    rssMb: () => server.rssMb(),
    async stop() {
      await server.stop()
      await database?.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
  let last
  for (let i = 0; i < count / 2; i++) last = await add()
  if (last) await one.driven(last)
  return one
}

export async function linesGrowth(runs, say) {
  const figures = {}
  for (const engine of (process.env.BENCH_ENGINES ?? 'sqlite,postgres').split(',')) {
    const few = await startLines(FEW, engine === 'postgres')
    const many = await startLines(LINES, engine === 'postgres')
    const suffix = engine === 'sqlite' ? '' : '_postgres'
    try {
      // Warm: the small server has run as little code so far as a fresh one.
      for (let i = 0; i < 5; i++) await few.turn()
      await many.turn()
      const ratios = []
      for (let run = 1; run <= runs; run++) {
        const [base, grown] = [await few.turn(), await many.turn()]
        ratios.push(grown / base)
        say(
          `lines_growth${suffix} run ${run}: ${round(grown, 2)} ms of processor time at ${LINES} lines, ${round(base, 2)} ms at ${FEW} = ${round(ratios.at(-1), 2)}`,
        )
      }
      figures[`lines_growth${suffix}`] = round(median(ratios), 2)
      await few.restart()
      const readyMs = await many.restart()
      await many.drivesAll(LINES)
      await pause(SETTLE_MS)
      const before = cpuOf(many.roots())
      await pause(IDLE_MS)
      const idle = (cpuOf(many.roots()) - before) / (IDLE_MS / 1000)
      const lineKb = ((many.rssMb() - few.rssMb()) * 1024) / LINES
      say(
        `${LINES} lines on ${engine}: ready in ${round(readyMs, 0)} ms, idle ${round(idle * 100, 2)} % of a core, ${round(lineKb, 1)} KB a line`,
      )
      figures[`idle_cpu_10000_lines${suffix}`] = round(idle)
      figures[`ready_10000_lines_ms${suffix}`] = round(readyMs, 0)
      figures[`idle_line_kb${suffix}`] = round(lineKb, 1)
    } finally {
      await few.stop()
      await many.stop()
    }
  }
  return figures
}
