import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually, temporaryDirectory } from '../support/server.js'
import { endWithUs } from '../support/watchdog.js'

it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'a run that ends by %s leaves no process and no folder behind',
  async (signal) => {
    const directory = temporaryDirectory()
    chmodSync(directory, 0o755) // as root, PostgreSQL runs as another user
    const pidFile = join(directory, 'pids')
    const run = spawn(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/support/interrupted/config.ts'],
      {
        env: { ...process.env, STARTED_PIDS: pidFile, TRUNKLINE_TEST_FOLDER: directory },
        stdio: 'ignore',
      },
    )
    endWithUs(run)
    const isStarted = () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== ''
    await eventually(async () => isStarted() || run.exitCode !== null, Boolean, 60_000)
    expect(run.exitCode, 'the run ended by itself').toBeNull()
    const pids: number[] = JSON.parse(readFileSync(pidFile, 'utf8'))
    const folders = () => readdirSync(directory).filter((name) => name.startsWith('trunkline-'))
    const postgres = folders().find((name) => name.startsWith('trunkline-pg-'))!
    pids.push(Number.parseInt(readFileSync(join(directory, postgres, 'data', 'postmaster.pid'), 'utf8'), 10))
    expect(pids.filter(isRunning)).toEqual(pids)
    run.kill(signal)
    await eventually(
      async () => [...pids.filter(isRunning), ...folders()],
      (left) => left.length === 0,
      60_000,
    )
  },
  120_000,
)

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
