// From the start of the built program on an empty folder to the first 200 of /readyz, as a supervisor sees it.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, round } from './stats.js'

const TICKS_PER_SECOND = 100

export async function coldStart(runs, say) {
  const times = []
  for (let run = 1; run <= Math.max(5, runs); run++) {
    const { ms, cpuMs } = await startOnce()
    times.push(ms)
    say(`cold_start_ms run ${run}: ${Math.round(ms)} ms, ${cpuMs} ms of the processor`)
  }
  return { cold_start_ms: round(median(times), 0) }
}

async function startOnce() {
  const data = mkdtempSync(join(tmpdir(), 'trunkline-bench-'))
  const port = await freePort()
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['dist/main.js', 'serve', '--json'], {
    env: { ...process.env, PORT: String(port), TRUNKLINE_DATA: data, TRUNKLINE_DRAIN_MS: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = new Promise((resolve) => child.on('exit', resolve))
  try {
    while ((await statusOf(`http://127.0.0.1:${port}/readyz`)) !== 200) {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
      if (performance.now() - startedAt > 30_000) throw new Error('the server does not get ready')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return { ms: performance.now() - startedAt, cpuMs: cpuMsOf(child.pid) }
  } finally {
    child.kill('SIGTERM')
    await exited
    rmSync(data, { recursive: true, force: true })
  }
}

function statusOf(url) {
  return new Promise((resolve) => {
    get(url, { agent: false }, (answer) => resolve(answer.resume().statusCode)).on('error', () => resolve(0))
  })
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** All its threads, in both modes. */
function cpuMsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return Math.round(((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000)
}
