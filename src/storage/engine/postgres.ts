import { createHash } from 'node:crypto'
import type { Writable } from 'node:stream'
import pg from 'pg'
import { createFailpoint } from '../../base/failpoint.js'
import { createFairTurns } from '../../base/turns.js'
import { createAnnouncer } from './announce.js'
import { CommitUnknown, type Db, type Param, type Sql } from './db.js'
import { isConnectionLoss, isStalePlan, translate } from './postgres-errors.js'
import { listenOn, type Subscription } from './postgres-listen.js'
import {
  arrayText,
  bulkInsert,
  dropSurplusStatements,
  named,
  transpose,
  unnest,
  value,
} from './postgres-statements.js'
import { createTxGuard } from './tx-guard.js'

pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

const CHANNEL = 'trunkline'
/** Fewer than `poolSize`, so that lock holders leave connections for other work. */
const LOCK_CONNECTIONS = 4
/** For long reads; the other connections stay free for short work. */
const ASIDE_CONNECTIONS = 3
const POOL_SIZE = 10
const DEADLOCK = '40P01'
const DISK_FULL = '53100'
const DEADLOCK_TRIES = 5

/** PostgreSQL through a connection pool. A bulk operation is one statement, regardless of the number of rows. */
export async function openPostgres(
  url: string,
  options: { guardTx?: boolean; poolSize?: number; failpoint?: string | null; listenRetryMs?: number } = {},
): Promise<Db> {
  const pool = openPool(url, 'trunkline', options.poolSize ?? POOL_SIZE)
  // A separate pool: a lock, held or awaited, must not take the connection that the work under it needs.
  const locks = openPool(url, 'trunkline-lock', LOCK_CONNECTIONS)
  const guard = createTxGuard(options.guardTx ?? false)
  const failpoint = createFailpoint(options.failpoint ?? null)
  const durable = new WeakSet<pg.PoolClient>()
  let trouble: string | undefined
  let open = 0
  let begun = 0
  const waiting: (() => void)[] = []
  const nextEnd = () => new Promise<void>((resolve) => waiting.push(resolve))
  const subscriptions: Subscription[] = []

  async function connect(from: pg.Pool): Promise<pg.PoolClient> {
    const client = await from.connect()
    if (!durable.has(client)) {
      try {
        await assertDurable(client)
      } catch (error) {
        client.release(true)
        throw error
      }
      durable.add(client)
    }
    return client
  }

  async function withClient<T>(use: (client: pg.PoolClient) => Promise<T>, from = pool): Promise<T> {
    open++
    begun++
    let client: pg.PoolClient | undefined
    try {
      client = await connect(from)
      await dropSurplusStatements(client)
      const result = await use(client)
      client.release()
      return result
    } catch (error) {
      const { code, cause } = error as { code?: string; cause?: { code?: string } }
      if ((code ?? cause?.code) === DISK_FULL) trouble = 'The disk of the database is full.'
      client?.release(isConnectionLoss(error) || isStalePlan(error) || error instanceof CommitUnknown)
      throw translate(error)
    } finally {
      open--
      for (const wake of waiting.splice(0)) wake()
    }
  }

  /** Runs a transaction or statement, and again if PostgreSQL has rolled it back for a reason that passes. */
  async function inTx<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let left = DEADLOCK_TRIES; ; left--) {
      try {
        return await withClient(run)
      } catch (error) {
        // Each connection of the pool may have an old plan; a new connection has none.
        if (isStalePlan(error) && left > -POOL_SIZE) continue
        if ((error as { code?: string }).code !== DEADLOCK || left <= 1) throw error
      }
    }
  }

  const announcer = createAnnouncer()
  const ask: Query = (query) => inTx((client) => client.query(query))
  const inTurn = createFairTurns(ASIDE_CONNECTIONS)
  const db: Db = {
    ...statements((query) => guard.outside(() => ask(query)), announcer.announce),
    aside: (owner) =>
      statements((query) => guard.outside(() => inTurn(owner, () => ask(query))), announcer.announce),
    tx: (fn) =>
      guard.outside(() =>
        inTx(async (client) => {
          await client.query('begin')
          const news = announcer.collect()
          try {
            const result = await guard.inside(() => fn(statements(inSequence(client), news.announce)))
            failpoint('storage.before_commit')
            await commit(client)
            trouble = undefined
            news.publish()
            return result
          } catch (error) {
            if (!(error instanceof CommitUnknown) && !isConnectionLoss(error)) await client.query('rollback')
            throw error
          }
        }),
      ),
    write: (fn) =>
      guard.outside(async () => {
        const plan: pg.QueryConfig[] = []
        const news = announcer.collect()
        await guard.inside(() => fn(collectInto(plan, news.announce)))
        if (plan.length === 0) return
        failpoint('storage.before_commit')
        await inTx((client) => runPlan(client, plan))
        trouble = undefined
        news.publish()
      }),
    lock: (name, fn) =>
      withClient(async (client) => {
        const key = createHash('sha256').update(`trunkline:${name}`).digest().readInt32BE()
        await client.query('select pg_advisory_lock($1)', [key])
        try {
          return await fn()
        } finally {
          await client.query('select pg_advisory_unlock($1)', [key])
        }
      }, locks),
    script: (text, record) =>
      withClient(async (client) => {
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
    notify: (payload) =>
      withClient(async (client) => void (await client.query('select pg_notify($1, $2)', [CHANNEL, payload]))),
    onAnnounce: announcer.onAnnounce,
    trouble: () => trouble,
    onNotify(handler) {
      subscriptions.push(listenOn(url, CHANNEL, options.listenRetryMs ?? 1000, handler))
    },
    activity: () => ({ open, begun, nextEnd }),
    async close() {
      await Promise.all(subscriptions.map((one) => one.close()))
      await Promise.all([pool.end(), locks.end()])
      guard.end()
    },
  }
  return db
}

function openPool(url: string, name: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5000,
    application_name: name,
    pipeline: true,
    // Transactions must be short: the event stream's one-minute overlap depends on it.
    idle_in_transaction_session_timeout: 30_000,
  })
  // The pool replaces an idle connection that breaks; without a handler the error would end the process.
  pool.on('error', () => {})
  // A connection that breaks in use fails its query, so its error event adds nothing.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

type Query = (query: pg.QueryConfig) => Promise<pg.QueryResult>

function statements(query: Query, announce: Sql['announce']): Sql {
  return {
    engine: 'postgres',
    announce,
    async all<T>(sql: string, params: readonly Param[] = []) {
      return (await query(named(sql, params))).rows as T[]
    },
    async one<T>(sql: string, params: readonly Param[] = []) {
      return (await query(named(sql, params))).rows[0] as T | undefined
    },
    async run(sql, params = []) {
      return (await query(named(sql, params))).rowCount ?? 0
    },
    async insertMany(table, columns, rows, tail = '') {
      if (rows.length === 0) return
      await query(bulkInsert(table, columns, rows, tail))
    },
    async updateMany(table, keys, set, rows, condition = '') {
      if (rows.length === 0) return []
      const columns = { ...keys, ...set }
      const keyNames = Object.keys(keys)
      const where = keyNames.map((name) => `${table}.${name} = v.${name}`)
      if (condition) where.push(`(${condition})`)
      const text =
        `update ${table} set ${Object.keys(set).map((name) => `${name} = ${value(name, set)}`)} ` +
        `from ${unnest(columns)} as v(${Object.keys(columns)}) where ${where.join(' and ')} ` +
        `returning ${keyNames.map((name) => `v.${name}`)}`
      const result = await query(named(text, transpose(Object.keys(columns).length, rows)))
      const found = new Set(result.rows.map((row) => keyNames.map((name) => row[name]).join('\u0000')))
      return rows.map((row) => found.has(row.slice(0, keyNames.length).join('\u0000')))
    },
    inList: (position, values) => ({
      sql: `(select unnest($${position}::text[]))`,
      param: arrayText(values),
    }),
    listTable: (position, values) => ({
      sql: `unnest($${position}::text[]) as j(value)`,
      param: arrayText(values),
    }),
    inIds: (position, ids) => ({
      sql: `(select unnest($${position}::bigint[]))`,
      param: arrayText(ids),
    }),
  }
}

/** Collects statements instead of running them. */
function collectInto(plan: pg.QueryConfig[], announce: Sql['announce']): Sql {
  return statements(async (query) => {
    plan.push(query)
    return { rows: [], rowCount: 0 } as unknown as pg.QueryResult
  }, announce)
}

/**
 * Sends a whole transaction without waiting for an answer between statements. After a failure PostgreSQL refuses
 * the rest and commits nothing.
 */
async function runPlan(client: pg.PoolClient, plan: readonly pg.QueryConfig[]): Promise<void> {
  // One packet instead of one for each statement.
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  stream.cork()
  const all = [{ text: 'begin' }, ...plan, { text: 'commit' }].map((query) => client.query(query))
  stream.uncork()
  const failed = (await Promise.allSettled(all)).find((one) => one.status === 'rejected')
  if (failed) throw isConnectionLoss(failed.reason) ? new CommitUnknown(failed.reason) : failed.reason
}

/** Runs statements in order; after a failure, the rest are not sent. */
function inSequence(client: pg.PoolClient): Query {
  let last: Promise<unknown> = Promise.resolve()
  return (query) => {
    const result = last.then(() => client.query(query))
    last = result
    return result
  }
}

async function commit(client: pg.PoolClient) {
  try {
    await client.query('commit')
  } catch (error) {
    throw isConnectionLoss(error) ? new CommitUnknown(error) : error
  }
}

async function assertDurable(client: pg.PoolClient) {
  for (const setting of ['fsync', 'synchronous_commit']) {
    const value = Object.values((await client.query(`show ${setting}`)).rows[0] as object)[0]
    if (value === 'off') {
      throw new Error(`PostgreSQL runs with ${setting}=off: an accepted message could be lost. Set it to on.`)
    }
  }
}
