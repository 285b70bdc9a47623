import pg from 'pg'
import { inRunningTime, startDeadline } from '../../../base/in-time.js'
import { CommitUnknown } from '../db.js'
import { codeOf, type DatabaseFaults, isConnectionLoss, isServersWord, isStalePlan } from './faults.js'
import type { Hosts } from './hosts.js'
import { createSeats } from './seats.js'
import { dropSurplusStatements } from './statements.js'
import { createWatch, type WatchedClient } from './watch.js'

/**
 * How long a session may keep others waiting, in milliseconds. A process may stop in the middle of a transaction
 * (SIGSTOP, a frozen machine): PostgreSQL ends its session after `idle_in_transaction_session_timeout`. Waits for locks
 * end before that, else the sessions of the stopped process would get the lock one after the other.
 */
export const TIMEOUTS = {
  idle_in_transaction_session_timeout: 1500,
  lock_timeout: 1000,
  statement_timeout: 30_000,
} as const

/**
 * Every statement reads by an index. PostgreSQL would plan for the small table that it last counted, and keep reading
 * the whole table while it grows: 2.7 of 7.0 ms of processor time for a message in the first minute of a new database.
 */
const PLANS = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' } as const

/** For a host to answer, not counting time in which this process stood still. */
export const CONNECT_MS = 3000
/** For a free connection: as long as a statement may take. */
const WAIT_MS = TIMEOUTS.statement_timeout
/**
 * SQLSTATE of a session that PostgreSQL ended in a transaction because this process paused: nothing was stored, and its
 * other sessions are well.
 */
const PAUSED = '25P03'
/** For a host to close a connection. */
const END_MS = 1000
/** Time without traffic before the kernel asks whether the other side is there. */
const KEEPALIVE_MS = 5000

export interface PoolOptions {
  hosts: Hosts
  name: string
  max: number
  /** A pooler such as pgbouncer gives each transaction another session: a connection has no settings of its own. */
  isPooled: boolean
  /** For migrations and the locks around them: no time limits. */
  mayTakeLong?: boolean
  /** Fails if the URL leads to a pooler. */
  refusesPooler: boolean
  /** How long work waits for a free connection. */
  waitMs?: number
  /** Runs on every new connection before its first use: a promoted or restored database is reached by new ones only. */
  onSession?: (client: pg.PoolClient) => Promise<void>
  /** Runs when a connection is lost. */
  onLost?: () => void
  faults: DatabaseFaults
}

export interface Pool {
  /** Lends a connection; one that is lost meanwhile is thrown away, with those that were made before. */
  use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  end(): Promise<void>
}

export function openPool(options: PoolOptions): Pool {
  const { hosts, isPooled, mayTakeLong = false } = options
  const made = new WeakMap<pg.PoolClient, number>()
  /** What the server or the network said first when a connection ended between two statements. */
  const ends = new WeakMap<pg.PoolClient, Error>()
  /**
   * Sessions whose last commit no standby has confirmed, because the wait was cancelled: PostgreSQL says COMMIT with
   * a warning, and a failover may lose what was committed.
   */
  const unconfirmed = new WeakMap<pg.PoolClient, unknown>()
  const seats = createSeats(options.max, options.waitMs ?? WAIT_MS)
  let count = 0
  /** Connections with this number and lower ones are not used any more. */
  let condemned = 0

  /** After a failover or a break of the network, every older connection leads to the same dead end. */
  function condemn(url: string) {
    condemned = count
    hosts.leave(url)
    options.onLost?.()
  }

  class HostClient extends pg.Client {
    readonly url: string
    constructor(config: pg.ClientConfig) {
      const url = hosts.current()
      super({ ...config, connectionString: url })
      this.url = url
      // The pool connects it at once.
      const done = startDeadline(CONNECT_MS, () => asWatched(this).connection.stream.destroy(noAnswer(this)))
      this.once('connect', done).once('end', done)
    }

    /** An orderly end waits for the server, which may never answer, and an open socket keeps a stopping process. */
    override end(...callback: []): Promise<void> {
      const { stream } = asWatched(this).connection
      const late = setTimeout(() => stream.destroy(), END_MS).unref()
      stream.once('close', () => clearTimeout(late))
      return super.end(...callback)
    }
  }
  const pool = new pg.Pool({
    Client: HostClient,
    // The seats count; the pool itself would not tell a wait for a free connection from a host that is gone.
    max: options.max,
    application_name: options.name,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    async onConnect(client: pg.PoolClient) {
      made.set(client, ++count)
      client.once('error', (error) => ends.set(client, error)).on('error', () => {})
      client.on('notice', (notice) => {
        if (notice.file === 'syncrep.c') unconfirmed.set(client, notice)
      })
      try {
        await inRunningTime(prepare(client, options), CONNECT_MS, () => noAnswer(client))
      } catch (error) {
        asWatched(client).connection.stream.destroy()
        throw error
      }
    },
  } as object)
  // The pool replaces an idle connection that breaks; without a handler the error would end the process.
  pool.on('error', () => options.onLost?.())
  const watch = createWatch(mayTakeLong, (url) => {
    options.faults.silent_connection++
    condemn(url)
  })

  async function connect(): Promise<pg.PoolClient> {
    for (let left = hosts.count; ; ) {
      const url = hosts.current()
      try {
        const client = await pool.connect()
        if (made.get(client)! > condemned) return client
        client.release(true)
      } catch (error) {
        hosts.leave(url)
        if (--left > 0) continue
        if (isConnectionLoss(error) && !isServersWord(error)) seats.refuse(error)
        throw error
      }
    }
  }

  return {
    async use(work) {
      let client: pg.PoolClient | undefined
      await seats.take()
      try {
        client = await connect()
        watch.add(asWatched(client))
        if (!isPooled) await dropSurplusStatements(client)
        const result = await work(client)
        const warning = unconfirmed.get(client)
        if (warning) throw new CommitUnknown(warning)
        watch.delete(asWatched(client))
        client.release()
        return result
      } catch (failure) {
        if (!client) throw failure
        const end = ends.get(client)
        // A session that ended between two statements says why; the next statement only says that it is gone.
        const error = codeOf(end) === PAUSED ? end : failure
        watch.delete(asWatched(client))
        const isLost = isConnectionLoss(error) || error instanceof CommitUnknown
        const isStale = isStalePlan(error)
        if (isLost) options.faults.lost_session++
        if (isLost && codeOf(error) !== PAUSED) condemn(asWatched(client).url)
        if (isStale) condemned = count
        client.release(isLost || isStale)
        throw error
      } finally {
        seats.free()
      }
    },
    async end() {
      // Until then it watches: work that nobody awaited, such as a hint, may be under way on a silent connection.
      await pool.end().finally(watch.close)
    },
  }
}

function asWatched(client: pg.ClientBase): WatchedClient {
  return client as unknown as WatchedClient
}

function noAnswer(client: pg.ClientBase): Error {
  const { host, port } = client as unknown as pg.Client
  const text = `${host}:${port} did not answer within ${CONNECT_MS / 1000} s`
  return Object.assign(new Error(text), { code: 'ETIMEDOUT' })
}

/** Settings of a new session, and what it must have: durable commits, and a server that writes. */
async function prepare(client: pg.PoolClient, options: PoolOptions): Promise<void> {
  const hasSettings = !options.isPooled && !options.mayTakeLong
  const settings = hasSettings ? Object.entries({ ...TIMEOUTS, ...PLANS }) : []
  const { rows } = await client.query(
    `select pg_backend_pid() as pid, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as synchronous_commit,
       current_setting('transaction_read_only') as read_only
       ${settings.map(([name, setting]) => `, set_config('${name}', '${setting}', false)`).join('')}`,
  )
  const session = rows[0] as Record<'fsync' | 'synchronous_commit' | 'read_only', string> & { pid: number }
  for (const setting of ['fsync', 'synchronous_commit'] as const) {
    if (session[setting] === 'off')
      throw new Error(`PostgreSQL runs with ${setting}=off: an accepted message could be lost. Set it to on.`)
  }
  if (session.read_only === 'on')
    throw Object.assign(new Error('the server can only be read: it is a standby'), { code: '25006' })
  // A pooler does not know the process that PostgreSQL will take for the next transaction, so it makes up a number.
  if (options.refusesPooler && session.pid !== (client as unknown as { processID: number }).processID)
    throw new PoolerFound()
  asWatched(client).pid = options.isPooled ? 0 : session.pid
  await options.onSession?.(client)
}

/** A pooler was found where the database itself was expected. */
class PoolerFound extends Error {
  constructor() {
    super(
      'DATABASE_URL leads to a connection pooler such as pgbouncer. ' +
        'Set TRUNKLINE_DATABASE_DIRECT_URL to the URL of the database itself, and keep DATABASE_URL as it is.',
    )
  }
}
