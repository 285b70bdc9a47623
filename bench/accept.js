// Accepted sends a second, durable, against a server that only parses and echoes, in turns in one run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load, message } from './load.js'
import { startBare, startTrunkline } from './servers.js'
import { median, round } from './stats.js'

const SECONDS = 4
const WARM_UP = 6

async function compare(name, options, runs, say) {
  const bare = await startBare()
  const trunkline = await startTrunkline(options)
  const ratios = []
  try {
    await load({ port: bare.port, seconds: 2, body: message })
    await load({ port: trunkline.port, seconds: WARM_UP, body: message })
    for (let run = 1; run <= runs; run++) {
      const yardstick = await load({ port: bare.port, seconds: SECONDS, body: message })
      const ours = await load({ port: trunkline.port, seconds: SECONDS, body: message })
      if (ours.failed > 0) throw new Error(`${name}: ${ours.failed} sends failed`)
      ratios.push(ours.rate / yardstick.rate)
      say(
        `${name} run ${run}: ${Math.round(ours.rate)}/s of ${Math.round(yardstick.rate)}/s bare = ${round(ratios.at(-1))}`,
      )
    }
    return { ratio: round(median(ratios)), rssMb: Math.round(trunkline.rssMb()) }
  } finally {
    await bare.stop()
    await trunkline.stop()
  }
}

export async function acceptSqlite(runs, say) {
  const { ratio, rssMb } = await compare('accept_sqlite', {}, runs, say)
  say(`rss_mb at the end: ${rssMb}`)
  return { accept_sqlite: ratio, rss_mb: rssMb }
}

export async function acceptPostgres(runs, say) {
  const { startPostgres } = await import('./postgres.js')
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-bench-pg-'))
  const postgres = await startPostgres(directory)
  try {
    const { ratio } = await compare('accept_postgres', { databaseUrl: postgres.url }, runs, say)
    return { accept_postgres: ratio }
  } finally {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
