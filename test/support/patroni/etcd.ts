import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from '../postgres.js'
import { eventually } from '../server.js'
import { endWithUs } from '../watchdog.js'

/** Where Patroni keeps who leads: one etcd on free ports. */
export interface Etcd {
  /** Host and port for clients. */
  address: string
  /** Ends the process at once. */
  kill(): Promise<void>
  /** Starts the process, with what it had stored before. */
  start(): Promise<void>
}

export async function startEtcd(directory: string): Promise<Etcd> {
  const address = `127.0.0.1:${await freePort()}`
  const client = `http://${address}`
  const peer = `http://127.0.0.1:${await freePort()}`
  let child: ChildProcess
  const etcd: Etcd = {
    address,
    async kill() {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await exited
    },
    async start() {
      const settings = {
        'data-dir': join(directory, 'etcd'),
        'listen-client-urls': client,
        'advertise-client-urls': client,
        'listen-peer-urls': peer,
        'initial-advertise-peer-urls': peer,
        'initial-cluster': `default=${peer}`,
        'log-level': 'error',
      }
      const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
      child = endWithUs(spawn('etcd', flags, { env: { PATH: process.env.PATH }, stdio: 'ignore' }))
      await eventually(
        () => fetch(`${client}/health`).then(({ status }) => status, String),
        (status) => status === 200,
      )
    },
  }
  await etcd.start()
  return etcd
}
