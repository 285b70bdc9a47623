import { join } from 'node:path'
import { makePrivateDatabase, makePrivateFolder } from '../../base/private-files.js'
import { AppError } from '../../core/errors.js'
import type { Incarnation } from '../../core/events/incarnation.js'
import { type Announcements, createAnnouncer } from './announce.js'
import { type Db, MissingValue, type Param, type Sql, UniqueViolation, type Writes } from './db.js'
import { listIncarnations } from './incarnations.js'
import { noticeIncarnation } from './sqlite/incarnation.js'
import { statementsOf } from './sqlite/sql.js'
import { callHere, callThread } from './sqlite-calls.js'
import { lockDirectory } from './sqlite-lock.js'
import { createReader } from './sqlite-reader.js'
import { checkInBackground, checkSqlite, damaged, isDamage } from './sqlite-start.js'
import { loadSqlite } from './sqlite-statements.js'
import { createWriter, type PlanStep, type WriterData } from './sqlite-writer.js'
import { createTxGuard } from './tx-guard.js'

const FULL = 'The disk of the database is full.'
/** Maximum number of transactions in one commit; more would delay the first one. */
const GROUP_LIMIT = 256

interface WaitingTx {
  run: (sql: Sql) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/**
 * SQLite in one process. A writer thread keeps flushes off the event loop; this thread reads committed data only, and
 * leaves long reads to a reader thread. Waiting transactions run in one outer transaction and are acknowledged after
 * its single flush. With `shares`, another process may be writing: only for a few transactions that it need not hear
 * about.
 */
export async function openSqlite(
  directory: string,
  options: { guardTx?: boolean; failpoint?: string | null; durable?: boolean; shares?: boolean } = {},
): Promise<Db> {
  const open = loadSqlite()
  makePrivateFolder(directory)
  const unlock = options.shares ? () => {} : lockDirectory(open, directory)
  const file = join(directory, 'trunkline.db')
  makePrivateDatabase(file)
  const { durable = true } = options
  let trouble: string | undefined
  const endCheck = checkContent()
  const data: WriterData = { role: 'writer', file, failpoint: options.failpoint ?? null, durable }
  // Without a flush to disk, the writer needs no thread.
  const writer = durable
    ? callThread(data, (error) => {
        // The process cannot work without its writer, so it ends; a restart finds all committed data.
        throw error
      })
    : callHere((send) => createWriter(open, data, send))
  const { journal, synchronous } = (await writer.call('durability')) as {
    journal: string
    synchronous: number
  }
  if (durable && (journal !== 'wal' || synchronous !== 2)) {
    throw new Error(
      'SQLite did not accept WAL with synchronous=FULL: an accepted message could be lost. Not starting.',
    )
  }
  const reader = createReader(open, file, durable)

  /** A write has succeeded. A damaged database stays damaged. */
  function forgetFullDisk() {
    if (trouble === FULL) trouble = undefined
  }

  /** Translates an error, and remembers what concerns every caller. */
  function fault(error: unknown): unknown {
    const text = error instanceof Error ? error.message : ''
    if (isDamage(text)) trouble = damaged(file, text)
    else if (/disk is full/i.test(text)) trouble ??= FULL
    return translate(error)
  }

  const reading = (answer: Promise<unknown>) =>
    answer.catch((error) => {
      throw fault(error)
    })

  function checkContent(): () => Promise<unknown> {
    if (options.shares || !durable) return async () => {}
    let isUnchecked: boolean
    try {
      isUnchecked = checkSqlite(open, directory, file)
    } catch (error) {
      unlock()
      throw error
    }
    if (!isUnchecked) return async () => {}
    return checkInBackground(file, (text) => {
      trouble = text
    })
  }

  const guard = createTxGuard(options.guardTx ?? false)
  const announcer = createAnnouncer()
  let hints: Announcements = announcer.collect()
  const inside = statementsOf(writer.call, (...hint) => hints.announce(...hint))
  const waiting: WaitingTx[] = []
  const scrubs: ((isDone: boolean) => void)[] = []
  let flushing = false
  let committing = 0
  let writing = 0
  let begun = 0

  /** Writes the next group while the previous one is being flushed; the writer thread keeps their order. */
  async function flush() {
    while (waiting.length + scrubs.length > 0) {
      const group = waiting.splice(0, GROUP_LIMIT)
      if (group.length > 0 && !(await writeGroup(group))) for (const one of group) await writeGroup([one])
      // Here no transaction is open, which a checkpoint needs.
      for (const done of scrubs.splice(0)) done(await scrubNow())
    }
    flushing = false
  }

  async function scrubNow(): Promise<boolean> {
    try {
      return (await writer.call('scrub')) as boolean
    } catch {
      return false
    }
  }

  function startFlush() {
    begun++
    if (flushing) return
    flushing = true
    // Runs after the sockets of the current turn are read, so that requests that arrive together are written
    // together.
    setImmediate(flush)
  }

  /** Returns false if the group was rolled back because one transaction failed. */
  async function writeGroup(group: WaitingTx[]): Promise<boolean> {
    const results: unknown[] = []
    try {
      writer.call('begin').catch(() => {}) // a failure shows at the next statement
      for (const one of group) results.push(await guard.inside(() => one.run(inside)))
    } catch (error) {
      await writer.call('rollback')
      if (group.length > 1) return false
      group[0]!.reject(fault(error))
      return true
    }
    committing++
    // The next group collects its own hints, which must not be published with this commit.
    const committed = hints
    hints = announcer.collect()
    writer
      .call('commit')
      .then(
        () => {
          if (trouble !== undefined) forgetFullDisk()
          committed.publish()
          for (const [index, one] of group.entries()) one.resolve(results[index])
        },
        (error) => {
          for (const one of group) one.reject(fault(error))
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
          startFlush()
        }),
    )
  }

  async function write(fn: (sql: Writes) => Promise<unknown>, check?: () => void): Promise<void> {
    begun++
    const steps: PlanStep[] = []
    const news = announcer.collect()
    const collector = statementsOf(
      async (op, ...args) => void steps.push([op, ...args] as PlanStep),
      news.announce,
    )
    await guard.inside(() => fn(collector))
    check?.()
    writing++
    try {
      await guard.outside(() => writer.call('plan', steps))
      if (trouble !== undefined) forgetFullDisk()
      news.publish()
    } catch (error) {
      throw fault(error)
    } finally {
      writing--
    }
  }

  const incarnations: Incarnation[] = []
  const db: Db = {
    ...inside,
    incarnations,
    async noticeIncarnation(now) {
      if (options.shares || !durable) return
      await noticeIncarnation(db, directory, now)
      incarnations.splice(0, incarnations.length, ...(await listIncarnations(db)))
    },
    all: async <T>(sql: string, params: readonly Param[] = []) =>
      guard.outside(() => reading(reader.read('all', sql, params)) as Promise<T[]>),
    one: async <T>(sql: string, params: readonly Param[] = []) =>
      guard.outside(() => reading(reader.read('one', sql, params)) as Promise<T | undefined>),
    aside: (owner) => ({
      ...inside,
      all: async <T>(sql: string, params: readonly Param[] = []) =>
        guard.outside(() => reading(reader.readAside(owner, 'all', sql, params)) as Promise<T[]>),
      one: async <T>(sql: string, params: readonly Param[] = []) =>
        guard.outside(() => reading(reader.readAside(owner, 'one', sql, params)) as Promise<T | undefined>),
    }),
    run: (sql, params) => tx((inner) => inner.run(sql, params)),
    insertMany: (...args) => tx((inner) => inner.insertMany(...args)),
    updateMany: (...args) => tx((inner) => inner.updateMany(...args)),
    tx,
    write,
    atCommit: write,
    get upkeep(): Db {
      return this as Db
    },
    lock: (_name, fn) => fn(),
    script: (text, record) =>
      tx(async (inner) => {
        await writer.call('script', text)
        await inner.run(record.sql, record.params)
      }),
    scrub: () =>
      new Promise((resolve) => {
        scrubs.push(resolve)
        startFlush()
      }),
    notify: async () => {},
    onNotify: () => {},
    onAnnounce: announcer.onAnnounce,
    trouble: () => trouble,
    faults: () => ({}),
    activity: () => ({
      open: waiting.length + committing + writing + reader.open() + (flushing ? 1 : 0),
      begun,
    }),
    async close() {
      await endCheck()
      while (flushing || committing + writing + reader.open() > 0)
        await new Promise((resolve) => setImmediate(resolve))
      await reader.close()
      await writer.close()
      guard.end()
      unlock()
    },
  }
  return db
}

function translate(error: unknown): unknown {
  const text = error instanceof Error ? error.message : ''
  if (/UNIQUE constraint failed/i.test(text)) return new UniqueViolation(error)
  if (/NOT NULL constraint failed/i.test(text)) return new MissingValue(error)
  if (isDamage(text))
    return new AppError('unavailable', 'The database is damaged. The operator must restore a backup.', {
      retryAfterMs: 60_000,
    })
  if (/disk I\/O error/i.test(text)) {
    // After a failed flush the page cache cannot be trusted. The process ends, and a restart reads what is on disk.
    setImmediate(() => {
      throw error
    })
  }
  if (/database or disk is full|readonly database|disk I\/O error/i.test(text)) {
    return new AppError('unavailable', 'The database cannot be written at the moment. Try again later.', {
      retryAfterMs: 5000,
    })
  }
  return error
}
