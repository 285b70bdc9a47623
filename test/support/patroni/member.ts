import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../postgres.js'
import { eventually } from '../server.js'
import { endAllInAfterUs, endWithUs } from '../watchdog.js'
import { postgresUser } from './installed.js'
import { processesIn } from './processes-in.js'
import { settingsOf } from './settings.js'

/** One machine of the cluster: Patroni, and the PostgreSQL server that Patroni starts. */
export interface Member {
  name: string
  /** The PostgreSQL server. */
  url: string
  /** Patroni's REST API. */
  api: string
  /** Starts Patroni, which starts PostgreSQL, makes it follow the leader and repairs its files first if needed. */
  start(): void
  /** The server alone ends at once, with its sessions. */
  killServer(): Promise<void>
  /** The whole machine is gone at once. */
  kill(): Promise<void>
  /** The whole machine stands still. */
  pause(): void
  wake(): void
  stop(): Promise<void>
  /** Resolves when Patroni prints this next. */
  untilSaid(words: RegExp): Promise<void>
  /** The last of what Patroni and PostgreSQL have printed. */
  readonly output: string
}

export async function createMember(parent: string, name: string, etcd: string): Promise<Member> {
  const directory = join(parent, name)
  const data = join(directory, 'data')
  const [postgres, api] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const user = postgresUser()
  const file = join(directory, 'patroni.yml')
  mkdirSync(directory)
  writeFileSync(file, settingsOf({ name, directory, postgres, api, etcd }))
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid!)
  endAllInAfterUs(directory)

  let patroni: ChildProcess | undefined
  let output = ''
  const listeners = new Set<(text: string) => void>()
  const signal = (pids: number[], name: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, name)
      } catch {
        // The process ended after it was listed.
      }
    }
  }
  /** Stopped processes start no others, so that the list is complete in the end. */
  const halt = (where: string) => {
    for (let before = -1, pids: number[] = []; pids.length !== before; signal(pids, 'SIGSTOP')) {
      before = pids.length
      pids = processesIn(where)
    }
  }
  const untilEmpty = (where: string) =>
    eventually(
      async () => processesIn(where),
      (pids) => pids.length === 0,
    )
  const killAll = async (where: string) => {
    halt(where)
    signal(processesIn(where), 'SIGKILL')
    await untilEmpty(where)
  }
  return {
    name,
    url: `postgres://trunkline:trunkline@${postgres}/postgres`,
    api: `http://${api}`,
    start() {
      patroni = endWithUs(
        spawn('patroni', [file], {
          ...user,
          cwd: directory,
          env: { PATH: process.env.PATH, LC_ALL: 'C' },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      )
      for (const stream of [patroni.stdout!, patroni.stderr!])
        stream.setEncoding('utf8').on('data', (text) => {
          output = (output + text).slice(-20_000)
          for (const listen of listeners) listen(text)
        })
    },
    killServer: () => killAll(data),
    kill: () => killAll(directory),
    pause: () => halt(directory),
    wake: () => signal(processesIn(directory), 'SIGCONT'),
    async stop() {
      patroni?.kill('SIGKILL')
      signal(processesIn(directory), 'SIGCONT')
      // Unlike a killed server, this one removes its shared memory.
      const pids = processesIn(data)
      if (pids.length > 0) {
        const postmaster = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)
        signal(
          pids.filter((pid) => pid === postmaster),
          'SIGQUIT',
        )
      }
      await untilEmpty(directory)
    },
    untilSaid: (words) =>
      new Promise((resolve) => {
        const listen = (text: string) => {
          if (!words.test(text)) return
          listeners.delete(listen)
          resolve()
        }
        listeners.add(listen)
      }),
    get output() {
      return output
    },
  }
}
