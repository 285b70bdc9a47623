import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { AppError } from '../core/errors.js'
import { type Columns, type Db, type Param, type Sql, UniqueViolation } from './db.js'
import { createTxGuard } from './tx-guard.js'

/** Transactions that share one commit. More would only lengthen the wait of the first one. */
const GROUP_LIMIT = 256

interface Waiting {
  run: (sql: Sql) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/**
 * SQLite in one process. Two connections: one writes, one reads committed data, so that a reader never sees a
 * transaction that may still be rolled back. Transactions that wait together run in one outer transaction and
 * are acknowledged after its single flush to disk.
 */
export async function openSqlite(directory: string, options: { guardTx?: boolean } = {}): Promise<Db> {
  const open = await loadSqlite()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const releaseLock = lockDirectory(open, directory)
  const file = join(directory, 'trunkline.db')
  const writer = open(file)
  writer.exec('pragma journal_mode = wal')
  const reader = open(file)
  for (const connection of [writer, reader]) {
    connection.exec(
      'pragma synchronous = full; pragma foreign_keys = on; pragma busy_timeout = 5000; pragma temp_store = memory',
    )
  }
  // A checkpoint copies every changed page back once, however often it changed: fewer of them, less writing.
  writer.exec('pragma wal_autocheckpoint = 4000; pragma cache_size = -65536')
  reader.exec('pragma query_only = on; pragma cache_size = -32768')
  assertDurable(writer)

  const guard = createTxGuard(options.guardTx ?? false)
  const inside = statements(writer)
  const outside = statements(reader)
  const waiting: Waiting[] = []
  let flushing = false

  async function flush() {
    while (waiting.length > 0) {
      const group = waiting.splice(0, GROUP_LIMIT)
      if (!(await commitTogether(group))) for (const one of group) await commitAlone(one)
    }
    flushing = false
  }

  async function commitTogether(group: Waiting[]): Promise<boolean> {
    const results: unknown[] = []
    try {
      writer.exec('begin immediate')
      for (const one of group) results.push(await guard.inside(() => one.run(inside)))
      writer.exec('commit')
    } catch (error) {
      rollback()
      if (group.length > 1) return false
      group[0]!.reject(translate(error))
      return true
    }
    for (const [index, one] of group.entries()) one.resolve(results[index])
    return true
  }

  async function commitAlone(one: Waiting) {
    await commitTogether([one])
  }

  function rollback() {
    if (writer.isTransaction) writer.exec('rollback')
  }

  return {
    ...outside,
    all: (sql, params) => guard.outside(() => outside.all(sql, params)),
    one: (sql, params) => guard.outside(() => outside.one(sql, params)),
    run: (sql, params) => tx((inner) => inner.run(sql, params)),
    insertMany: (...args) => tx((inner) => inner.insertMany(...args)),
    updateMany: (...args) => tx((inner) => inner.updateMany(...args)),
    tx,
    lock: (_name, fn) => fn(),
    async script(text, record) {
      writer.exec('begin immediate')
      try {
        writer.exec(text)
        await inside.run(record.sql, record.params)
        writer.exec('commit')
      } catch (error) {
        rollback()
        throw error
      }
    },
    notify: async () => {},
    onNotify: () => {},
    pending: () => waiting.length + (flushing ? 1 : 0),
    async close() {
      while (flushing) await new Promise((resolve) => setImmediate(resolve))
      reader.close()
      writer.close()
      releaseLock()
    },
  }

  function tx<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    return guard.outside(
      () =>
        new Promise<T>((resolve, reject) => {
          waiting.push({ run, resolve: resolve as (value: unknown) => void, reject })
          if (!flushing) {
            flushing = true
            // After the current turn's sockets have been read, so that what arrived together is written together.
            setImmediate(flush)
          }
        }),
    )
  }
}

/** The statement operations on one connection. Prepared once per text. */
function statements(connection: DatabaseSyncInstance): Sql {
  const prepared = new Map<string, StatementSyncInstance>()
  const prepare = (sql: string) => {
    let statement = prepared.get(sql)
    if (!statement) {
      statement = connection.prepare(sql.replace(/\$(\d+)/g, '?$1'))
      prepared.set(sql, statement)
    }
    return statement
  }
  const bulk = new Map<string, StatementSyncInstance>()
  const prepareBulk = (key: string, text: () => string) => {
    let statement = bulk.get(key)
    if (!statement) {
      statement = connection.prepare(text())
      bulk.set(key, statement)
    }
    return statement
  }
  return {
    engine: 'sqlite',
    async all<T>(sql: string, params: readonly Param[] = []) {
      return prepare(sql).all(...params) as T[]
    },
    async one<T>(sql: string, params: readonly Param[] = []) {
      return prepare(sql).get(...params) as T | undefined
    },
    async run(sql, params = []) {
      return Number(prepare(sql).run(...params).changes)
    },
    async insertMany(table, columns, rows, tail = '') {
      const statement = prepareBulk(`i ${table} ${Object.keys(columns)} ${tail}`, () => insertText(table, columns, tail))
      for (const row of rows) statement.run(...row)
    },
    async updateMany(table, keys, set, rows, condition = '') {
      const statement = prepareBulk(`u ${table} ${Object.keys(keys)} ${Object.keys(set)} ${condition}`, () =>
        updateText(table, keys, set, condition),
      )
      const found: boolean[] = []
      for (const row of rows) found.push(Number(statement.run(...row).changes) > 0)
      return found
    },
    inList: (position, values) => ({
      sql: `(select value from json_each($${position}))`,
      param: JSON.stringify(values),
    }),
    inIds: (position, ids) => ({ sql: `(select value from json_each($${position}))`, param: JSON.stringify(ids) }),
  }
}

function insertText(table: string, columns: Columns, tail: string): string {
  const names = Object.keys(columns)
  return `insert into ${table} (${names}) values (${names.map((_, i) => `?${i + 1}`)}) ${tail}`
}

function updateText(table: string, keys: Columns, set: Columns, condition: string): string {
  const keyNames = Object.keys(keys)
  const where = keyNames.map((name, i) => `${name} = ?${i + 1}`)
  if (condition) where.push(`(${condition})`)
  const values = Object.keys(set).map((name, i) => `${name} = ?${keyNames.length + i + 1}`)
  return `update ${table} set ${values} where ${where.join(' and ')}`
}

type Open = (file: string) => DatabaseSyncInstance

/** Node's own module where the running Node has it, else the same interface from the package. */
async function loadSqlite(): Promise<Open> {
  const builtin = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: new (file: string) => DatabaseSyncInstance } | undefined
  const Database = builtin?.DatabaseSync ?? (await import('@photostructure/sqlite')).DatabaseSync
  return (file) => new Database(file)
}

/** One process per data directory: the operating system drops this lock when the process dies, however it dies. */
function lockDirectory(open: Open, directory: string): () => void {
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

function assertDurable(connection: DatabaseSyncInstance) {
  const value = (pragma: string) => Object.values(connection.prepare(`pragma ${pragma}`).get() as object)[0]
  if (value('journal_mode') !== 'wal' || value('synchronous') !== 2) {
    throw new Error('SQLite did not accept WAL with synchronous=FULL: an accepted message could be lost. Not starting.')
  }
}

function translate(error: unknown): unknown {
  const text = error instanceof Error ? error.message : ''
  if (/UNIQUE constraint failed/i.test(text)) return new UniqueViolation(error)
  if (/disk is full|database or disk|readonly|disk I\/O/i.test(text)) {
    return new AppError('unavailable', 'The storage cannot be written right now; try again later.', {
      retryAfterMs: 5000,
    })
  }
  return error
}
