import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../directory.js'
import { freePort } from '../postgres.js'
import { eventually } from '../server.js'
import { endWithUs } from '../watchdog.js'

export const HAS_PGBOUNCER = spawnSync('pgbouncer', ['--version']).status === 0

/** A pgbouncer in transaction mode in front of a database, with fewer sessions than Trunkline has connections. */
export async function startPgbouncer(databaseUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, username, password } = new URL(databaseUrl)
  const directory = makeDirectory('trunkline-pgbouncer-')
  chmodSync(directory, 0o755) // as root, it runs as another user
  const url = new URL(databaseUrl)
  url.port = String(await freePort())
  const file = join(directory, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${url.port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 100
server_login_retry = 1
server_connect_timeout = 3
`,
  )
  const child = spawn('pgbouncer', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file])
  endWithUs(child)
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await eventually(
    async () => output,
    (text) => /process up/.test(text),
  )
  return {
    url: url.href,
    async stop() {
      child.kill('SIGKILL')
      await exited
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
