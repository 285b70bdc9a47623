import type { Writable } from 'node:stream'
import type pg from 'pg'
import type { Announcements } from '../announce.js'
import { CommitUnknown, type Db, type Sql } from '../db.js'
import {
  codeOf,
  type DatabaseFaults,
  isConnectionLoss,
  isServersWord,
  isUndone,
  translate,
  troubleOf,
} from './faults.js'
import { type Pool, TIMEOUTS } from './pool.js'
import { type Query, statements } from './sql.js'

/** Tries of a transaction that PostgreSQL has undone, because of a lock or a pause of this process. */
const TRIES = 5
/** Tries after a session was lost before its commit; the second one gets a new session. */
const TRIES_WITHOUT_SESSION = 2

/** A pooled session has no settings of its own, so its transactions bring them along. */
const BEGIN_POOLED = [
  'begin',
  ...Object.entries(TIMEOUTS).map(([name, ms]) => `set local ${name} = ${ms}`),
].join(';')

interface TransactionParts {
  pool: Pool
  faults: DatabaseFaults
  isPooled: boolean
  failpoint: (name: string) => void
  /** Collects the hints of one transaction. */
  collect(): Announcements
  /** Hears what keeps the database from storing, and undefined when it has stored something. */
  tell(trouble: string | undefined): void
  /** Marks code that runs in a transaction. */
  inside<T>(fn: () => T): T
}

/** Statements and transactions on the connections of a pool. */
export interface Transactions extends Pick<Db, 'tx' | 'write'> {
  ask: Query
}

export function createTransactions({
  pool,
  faults,
  isPooled,
  failpoint,
  collect,
  tell,
  inside,
}: TransactionParts): Transactions {
  const begin = { text: isPooled ? BEGIN_POOLED : 'begin' }
  // A named statement stays in its session, and the next transaction may get another session.
  const shape = (query: pg.QueryConfig) => (isPooled ? { text: query.text, values: query.values } : query)
  /** Errors of sessions that were lost before their commit was sent: nothing was stored. */
  const beforeCommit = new WeakSet<object>()

  /** Runs work on a connection, and again if it is certain that nothing of it was stored. */
  async function again<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await pool.use(work)
      } catch (error) {
        const limit = isUndone(error) ? TRIES : beforeCommit.has(error as object) ? TRIES_WITHOUT_SESSION : 1
        const trouble = troubleOf(error)
        if (trouble) tell(trouble)
        if (tries >= limit) throw translate(error)
        faults.repeated_transaction++
      }
    }
  }

  /** Sends statements that end with a commit, all at once. After a failure PostgreSQL refuses the rest. */
  async function finish(client: pg.PoolClient, plan: readonly pg.QueryConfig[]): Promise<void> {
    // One packet instead of one for each statement.
    const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
    stream.cork()
    const all = [...plan, { text: 'commit' }].map((query) => client.query(query))
    stream.uncork()
    const answers = await Promise.allSettled(all)
    const index = answers.findIndex(({ status }) => status === 'rejected')
    if (index < 0) {
      const { command } = (answers.at(-1) as PromiseFulfilledResult<pg.QueryResult>).value
      if (command !== 'COMMIT') throw new Error('A statement failed, so the transaction was not stored.')
      tell(undefined)
      return
    }
    const error = (answers[index] as PromiseRejectedResult).reason
    if (!isConnectionLoss(error)) throw error
    // PostgreSQL works in order: once it has refused an earlier statement, it does not see the commit.
    const isCertain = isServersWord(error) && (index < plan.length || codeOf(error) === '25P03')
    if (!isCertain) throw new CommitUnknown(error)
    beforeCommit.add(error)
    throw error
  }

  return {
    ask: (query) => again((client) => client.query(shape(query))),
    tx: (fn) =>
      again(async (client) => {
        const news = collect()
        const tail: pg.QueryConfig[] = []
        const sql = statements(inSequence(client), collector(tail, news.announce), news.announce)
        let result: Awaited<ReturnType<typeof fn>>
        try {
          await client.query(begin)
          result = await inside(() => fn(sql))
          failpoint('storage.before_commit')
        } catch (error) {
          if (isConnectionLoss(error)) beforeCommit.add(error as object)
          else await client.query('rollback')
          throw error
        }
        await finish(client, tail)
        news.publish()
        return result
      }),
    async write(fn, check) {
      const news = collect()
      const plan: pg.QueryConfig[] = []
      const tail: pg.QueryConfig[] = []
      const later = collector(tail, news.announce)
      await inside(() => fn(statements(into(plan), later, news.announce)))
      if (plan.length + tail.length === 0) return
      failpoint('storage.before_commit')
      await again((client) => {
        check?.()
        return finish(client, [begin, ...plan, ...tail])
      })
      news.publish()
    },
  }

  /** Runs statements in order; after a failure, the rest are not sent. */
  function inSequence(client: pg.PoolClient): Query {
    let last: Promise<unknown> = Promise.resolve()
    return (query) => {
      const result = last.then(() => {
        failpoint('storage.in_transaction')
        return client.query(shape(query))
      })
      last = result
      return result
    }
  }

  /** Collects statements instead of running them. */
  function into(plan: pg.QueryConfig[]): Query {
    return async (query) => {
      plan.push(shape(query))
      return { rows: [], rowCount: 0 } as unknown as pg.QueryResult
    }
  }

  function collector(tail: pg.QueryConfig[], announce: Sql['announce']): Sql['atCommit'] {
    const sql: Sql = statements(into(tail), (work) => work(sql), announce)
    return (work) => work(sql)
  }
}
