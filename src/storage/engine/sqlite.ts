import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../core/errors.js'
import { type Announcements, createAnnouncer } from './announce.js'
import { type Db, MissingValue, type Param, type Sql, UniqueViolation, type Writes } from './db.js'
import { createStatements, loadSqlite, type OpenSqlite, pack } from './sqlite-statements.js'
import { createWriter, type PlanStep, type WriterData, type WriterReply } from './sqlite-writer.js'
import { createTxGuard } from './tx-guard.js'

/** Transactions that share one commit. More would only lengthen the wait of the first one. */
const GROUP_LIMIT = 256

interface Waiting {
  run: (sql: Sql) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/**
 * SQLite in one process, on two connections. A thread of its own writes, so that a flush to disk stops nobody;
 * this thread reads, and only committed data. Transactions that wait together run in one outer transaction and
 * are acknowledged after its single flush.
 */
export async function openSqlite(
  directory: string,
  options: { guardTx?: boolean; failpoint?: string | null; durable?: boolean } = {},
): Promise<Db> {
  const open = await loadSqlite()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const unlock = lockDirectory(open, directory)
  const file = join(directory, 'trunkline.db')
  const { durable = true } = options
  const writer = startWriter(open, { file, failpoint: options.failpoint ?? null, durable })
  const { journal, synchronous } = (await writer.call('durability')) as {
    journal: string
    synchronous: number
  }
  if (durable && (journal !== 'wal' || synchronous !== 2)) {
    throw new Error(
      'SQLite did not accept WAL with synchronous=FULL: an accepted message could be lost. Not starting.',
    )
  }
  const reader = open(file)
  reader.exec('pragma query_only = on; pragma busy_timeout = 5000; pragma cache_size = -16384')
  const read = createStatements(reader)

  const guard = createTxGuard(options.guardTx ?? false)
  const announcer = createAnnouncer()
  let hints: Announcements = announcer.collect()
  const inside = statementsOf(writer.call, (...hint) => hints.announce(...hint))
  const waiting: Waiting[] = []
  let flushing = false
  let committing = 0
  let writing = 0
  let begun = 0

  /** While one group is being flushed to disk, the next one is already written: the thread has them in order. */
  async function flush() {
    while (waiting.length > 0) {
      const group = waiting.splice(0, GROUP_LIMIT)
      if (!(await writeTogether(group))) for (const one of group) await writeTogether([one])
    }
    flushing = false
  }

  /** False when the group was rolled back because of one of its members. */
  async function writeTogether(group: Waiting[]): Promise<boolean> {
    const results: unknown[] = []
    try {
      writer.call('begin').catch(() => {}) // a failure shows at the next statement
      for (const one of group) results.push(await guard.inside(() => one.run(inside)))
    } catch (error) {
      await writer.call('rollback')
      if (group.length > 1) return false
      group[0]!.reject(translate(error))
      return true
    }
    committing++
    // Hints of the next group wait for the commit of the next group.
    const committed = hints
    hints = announcer.collect()
    writer
      .call('commit')
      .then(
        () => {
          committed.tell()
          for (const [index, one] of group.entries()) one.resolve(results[index])
        },
        (error) => {
          for (const one of group) one.reject(translate(error))
        },
      )
      .finally(() => committing--)
    return true
  }

  function tx<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    return guard.outside(
      () =>
        new Promise<T>((resolve, reject) => {
          waiting.push({ run, resolve: resolve as (value: unknown) => void, reject })
          begun++
          if (flushing) return
          flushing = true
          // After the current turn's sockets have been read: what arrived together is written together.
          setImmediate(flush)
        }),
    )
  }

  async function write(fn: (sql: Writes) => Promise<unknown>): Promise<void> {
    begun++
    const steps: PlanStep[] = []
    const news = announcer.collect()
    const noted = statementsOf(
      async (op, ...args) => void steps.push([op, ...args] as PlanStep),
      news.announce,
    )
    await guard.inside(() => fn(noted))
    writing++
    try {
      await guard.outside(() => writer.call('plan', steps))
      news.tell()
    } catch (error) {
      throw translate(error)
    } finally {
      writing--
    }
  }

  return {
    ...inside,
    all: async <T>(sql: string, params: readonly Param[] = []) =>
      guard.outside(() => read.all(sql, params) as T[]),
    one: async <T>(sql: string, params: readonly Param[] = []) =>
      guard.outside(() => read.one(sql, params) as T | undefined),
    run: (sql, params) => tx((inner) => inner.run(sql, params)),
    insertMany: (...args) => tx((inner) => inner.insertMany(...args)),
    updateMany: (...args) => tx((inner) => inner.updateMany(...args)),
    tx,
    write,
    lock: (_name, fn) => fn(),
    script: (text, record) =>
      tx(async (inner) => {
        await writer.call('script', text)
        await inner.run(record.sql, record.params)
      }),
    notify: async () => {},
    onNotify: () => {},
    onAnnounce: announcer.onAnnounce,
    activity: () => ({ open: waiting.length + committing + writing + (flushing ? 1 : 0), begun }),
    async close() {
      while (flushing || committing + writing > 0) await new Promise((resolve) => setImmediate(resolve))
      reader.close()
      await writer.close()
      guard.end()
      unlock()
    },
  }
}

type Call = (op: string, ...args: unknown[]) => Promise<unknown>

/** The port's statement operations, carried out by the writing thread. */
function statementsOf(call: Call, announce: Sql['announce']): Sql {
  return {
    engine: 'sqlite',
    announce,
    all: <T>(sql: string, params: readonly Param[] = []) => call('all', sql, params) as Promise<T[]>,
    one: <T>(sql: string, params: readonly Param[] = []) =>
      call('one', sql, params) as Promise<T | undefined>,
    run: (sql, params = []) => call('run', sql, params) as Promise<number>,
    insertMany: async (table, columns, rows, tail = '') => {
      if (rows.length === 0) return
      const packed = pack(rows)
      await call('insertMany', table, columns, packed.rows, tail, packed.alike)
    },
    updateMany: async (table, keys, set, rows, guard = '') =>
      rows.length > 0 ? ((await call('updateMany', table, keys, set, rows, guard)) as boolean[]) : [],
    inList: (position, values) => ({
      sql: `(select value from json_each($${position}))`,
      param: JSON.stringify(values),
    }),
    listTable: (position, values) => ({ sql: `json_each($${position}) as j`, param: JSON.stringify(values) }),
    inIds: (position, ids) => ({
      sql: `(select value from json_each($${position}))`,
      param: JSON.stringify(ids),
    }),
  }
}

interface Writer {
  call: Call
  close(): Promise<void>
}

/** Where the requests are carried out: in a thread, or here when nothing has to reach the disk. */
function startWriter(open: OpenSqlite, data: WriterData): Writer {
  const calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let nextId = 0
  const take = (reply: string) => {
    const { id, result, error } = JSON.parse(reply) as WriterReply
    const { resolve, reject } = calls.get(id)!
    calls.delete(id)
    if (error !== undefined) reject(new Error(error))
    else resolve(result)
  }
  const { send, end } = data.durable
    ? startThread(data, take)
    : { send: createWriter(open, data, take), end: async () => {} }
  const call: Call = (op, ...args) =>
    new Promise((resolve, reject) => {
      const id = nextId++
      calls.set(id, { resolve, reject })
      send(JSON.stringify([id, op, ...args]))
    })
  return {
    call,
    async close() {
      await call('close')
      await end()
    },
  }
}

function startThread(workerData: WriterData, take: (reply: string) => void) {
  // Tests run the TypeScript sources; a thread needs the compiled file.
  const script = import.meta.url.endsWith('.ts')
    ? '../../../dist/storage/engine/sqlite-thread.js'
    : './sqlite-thread.js'
  // It needs nothing of how this process was started, and not every way suits a thread.
  const worker = new Worker(new URL(script, import.meta.url), { workerData, execArgv: [] })
  worker.on('message', take)
  // Without its writer the process can promise nothing: it ends, and a restart finds everything committed.
  worker.on('error', (error) => {
    throw error
  })
  return {
    send: (request: string) => worker.postMessage(request),
    end: async () => void (await worker.terminate()),
  }
}

/** One process per data directory: the operating system drops this lock when the process dies, however it dies. */
function lockDirectory(open: OpenSqlite, directory: string): () => void {
  const lock = open(join(directory, 'lock.db'))
  try {
    lock.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive')
  } catch (cause) {
    lock.close()
    throw new Error(
      `The data directory ${directory} is in use by another Trunkline. Stop it, or set TRUNKLINE_DATA to another directory.`,
      { cause },
    )
  }
  return () => {
    lock.exec('rollback')
    lock.close()
  }
}

function translate(error: unknown): unknown {
  const text = error instanceof Error ? error.message : ''
  if (/UNIQUE constraint failed/i.test(text)) return new UniqueViolation(error)
  if (/NOT NULL constraint failed/i.test(text)) return new MissingValue(error)
  if (/disk I\/O error/i.test(text)) {
    // After a failed flush the page cache cannot be trusted: end here, and let a restart read what is on disk.
    setImmediate(() => {
      throw error
    })
  }
  if (/database or disk is full|readonly database|disk I\/O error/i.test(text)) {
    return new AppError('unavailable', 'The storage cannot be written right now; try again later.', {
      retryAfterMs: 5000,
    })
  }
  return error
}
