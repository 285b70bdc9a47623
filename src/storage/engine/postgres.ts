import { createHash } from 'node:crypto'
import pg from 'pg'
import { createFailpoint } from '../../base/failpoint.js'
import { createFairTurns } from '../../base/turns.js'
import type { Incarnation } from '../../core/events/incarnation.js'
import { createAnnouncer } from './announce.js'
import type { Db } from './db.js'
import { LIST, noticeIncarnation } from './incarnations.js'
import { type DatabaseFaults, translate } from './postgres/faults.js'
import { createHosts } from './postgres/hosts.js'
import { listenOn, type Subscription } from './postgres/listen.js'
import { openPool, type Pool } from './postgres/pool.js'
import { statements } from './postgres/sql.js'
import { createTransactions, type Transactions } from './postgres/transactions.js'
import { createTxGuard } from './tx-guard.js'

pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

const CHANNEL = 'trunkline'
const LOCK_CONNECTIONS = 4
/** For long reads; the other connections stay free for short work. */
const ASIDE_CONNECTIONS = 3
/** For leases and health: they must go on while every other connection waits for a lock. */
const UPKEEP_CONNECTIONS = 2

export interface PostgresOptions {
  /** URL of the database itself, if `url` leads to a pooler that works by transactions, such as pgbouncer. */
  directUrl?: string | null
  guardTx?: boolean
  poolSize?: number
  /** How long work waits for one of these connections. */
  waitMs?: number
  failpoint?: string | null
  listenRetryMs?: number
}

/**
 * PostgreSQL through connection pools. A bulk operation is one statement, regardless of the number of rows. Migrations,
 * locks, leases and hints need sessions of their own, so they go to the database directly.
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Db> {
  const { directUrl = null } = options
  const isPooled = directUrl !== null
  const faults: DatabaseFaults = { lost_session: 0, silent_connection: 0, repeated_transaction: 0 }
  const hosts = createHosts(url)
  const directHosts = isPooled ? createHosts(directUrl) : hosts
  const incarnations: Incarnation[] = []
  let isNoticing = false

  async function notice(client: pg.PoolClient, now?: number) {
    await client.query(noticeIncarnation(now))
    const { rows } = await client.query<Incarnation>(LIST)
    incarnations.splice(0, incarnations.length, ...rows)
  }
  const onSession = async (client: pg.PoolClient) => {
    if (isNoticing) await notice(client)
  }

  let losses = 0
  let known = 0
  let looking: Promise<unknown> | undefined
  const onLost = () => {
    losses++
  }
  /**
   * A pooler may lead an open connection to a promoted or restored database. Direct sessions end before that happens:
   * when one was lost, another one looks at the database before the next work goes through the pooler.
   */
  async function lookAfterLoss() {
    while (isNoticing && losses !== known) {
      const seen = losses
      looking ??= upkeep
        .use((client) => notice(client))
        .then(() => {
          known = seen
        })
        .finally(() => {
          looking = undefined
        })
      await looking
    }
  }

  const direct = { hosts: directHosts, isPooled: false, refusesPooler: !isPooled, faults, onSession, onLost }
  const connections = openPool({
    hosts,
    name: 'trunkline',
    max: options.poolSize ?? 10,
    waitMs: options.waitMs,
    isPooled,
    refusesPooler: !isPooled,
    faults,
    onSession,
  })
  const pool: Pool = isPooled
    ? { ...connections, use: async (work) => lookAfterLoss().then(() => connections.use(work)) }
    : connections
  const upkeep = openPool({ ...direct, name: 'trunkline-upkeep', max: UPKEEP_CONNECTIONS })
  // A separate pool: a lock, held or awaited, must not take the connection that the work under it needs.
  const locks = openPool({ ...direct, name: 'trunkline-lock', max: LOCK_CONNECTIONS, mayTakeLong: true })
  const guard = createTxGuard(options.guardTx ?? false)
  const failpoint = createFailpoint(options.failpoint ?? null)
  const announcer = createAnnouncer()
  const subscriptions: Subscription[] = []
  let trouble: string | undefined
  let open = 0
  let begun = 0
  const waiting: (() => void)[] = []
  const nextEnd = () => new Promise<void>((resolve) => waiting.push(resolve))

  /** Counts work under way, and keeps it out of transactions. */
  async function count<T>(work: () => Promise<T>): Promise<T> {
    open++
    begun++
    try {
      return await work()
    } finally {
      open--
      for (const wake of waiting.splice(0)) wake()
    }
  }
  const outside = <T>(work: () => Promise<T>) => guard.outside(() => count(work))
  const withLock = <T>(work: (client: pg.PoolClient) => Promise<T>) =>
    count(() =>
      locks.use(work).catch((error) => {
        throw translate(error)
      }),
    )

  function transactionsOn(from: Pool, isPooled: boolean) {
    const on = createTransactions({
      pool: from,
      faults,
      isPooled,
      failpoint,
      collect: announcer.collect,
      tell: (text) => {
        trouble = text
      },
      inside: guard.inside,
    })
    const write: Transactions['write'] = (fn, check) => outside(() => on.write(fn, check))
    const tx: Transactions['tx'] = (fn) => outside(() => on.tx(fn))
    return {
      ...statements((query) => outside(() => on.ask(query)), write, announcer.announce),
      ask: (query: pg.QueryConfig) => count(() => on.ask(query)),
      tx,
      write,
    }
  }

  const { ask, ...main } = transactionsOn(pool, isPooled)
  const inTurn = createFairTurns(ASIDE_CONNECTIONS)
  const db: Db = {
    ...main,
    incarnations,
    async noticeIncarnation(now) {
      await withLock((client) => notice(client, now))
      isNoticing = true
    },
    aside: (owner) =>
      statements(
        (query) => guard.outside(() => inTurn(owner, () => ask(query))),
        main.atCommit,
        announcer.announce,
      ),
    upkeep: transactionsOn(upkeep, false),
    lock: (name, fn) =>
      withLock(async (client) => {
        const key = createHash('sha256').update(`trunkline:${name}`).digest().readInt32BE()
        await client.query('select pg_advisory_lock($1)', [key])
        try {
          return await fn()
        } finally {
          await client.query('select pg_advisory_unlock($1)', [key])
        }
      }),
    script: (text, record) =>
      withLock(async (client) => {
        await client.query('begin')
        try {
          await client.query(text)
          await client.query(record.sql, [...record.params])
          await client.query('commit')
        } catch (error) {
          await client.query('rollback')
          throw error
        }
      }),
    scrub: async () => true,
    notify: async (payload) => void (await main.one('select pg_notify($1, $2)', [CHANNEL, payload])),
    onAnnounce: announcer.onAnnounce,
    onNotify(handler) {
      subscriptions.push(listenOn(directHosts, CHANNEL, options.listenRetryMs ?? 1000, handler))
    },
    trouble: () => trouble,
    faults: () => faults,
    activity: () => ({ open, begun, nextEnd }),
    async close() {
      await Promise.all(subscriptions.map((one) => one.close()))
      await Promise.all([pool.end(), upkeep.end(), locks.end()])
      guard.end()
    },
  }
  return db
}
