import { createRequire } from 'node:module'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { createBoundedMap } from '../../base/bounded-map.js'
import { type Columns, MAX_STATEMENTS, type Param } from './db.js'

const require = createRequire(import.meta.url)

/** Statement operations on one SQLite connection; synchronous, like SQLite. Each text is prepared once. */
interface Statements {
  all(sql: string, params: readonly Param[]): unknown[]
  one(sql: string, params: readonly Param[]): unknown
  run(sql: string, params?: readonly Param[]): number
  insertMany(table: string, columns: Columns, rows: readonly Param[][], tail?: string): void
  updateMany(table: string, keys: Columns, set: Columns, rows: readonly Param[][], guard?: string): boolean[]
}

export function createStatements(connection: DatabaseSyncInstance): Statements {
  const prepared = createBoundedMap<string, StatementSyncInstance>(MAX_STATEMENTS)
  const prepare = (key: string, text: () => string) => {
    let statement = prepared.get(key)
    if (!statement) {
      statement = connection.prepare(text())
      prepared.set(key, statement)
    }
    return statement
  }
  const query = (sql: string) => prepare(sql, () => sql.replace(/\$(\d+)/g, '?$1'))

  return {
    all: (sql, params) => query(sql).all(...params),
    one: (sql, params) => query(sql).get(...params),
    run: (sql, params = []) => Number(query(sql).run(...params).changes),
    insertMany(table, columns, rows, tail = '') {
      const key = `insert ${table} ${shapeOf(columns)} ${tail}`
      const statement = prepare(key, () => insertText(table, columns, tail))
      for (const row of rows) statement.run(...row)
    },
    updateMany(table, keys, set, rows, guard = '') {
      const key = `update ${table} ${shapeOf(keys)} ${shapeOf(set)} ${guard}`
      const statement = prepare(key, () => updateText(table, keys, set, guard))
      return rows.map((row) => Number(statement.run(...row).changes) > 0)
    },
  }
}

/** Key of a column set, for the cache of statements. */
function shapeOf(columns: Columns): string {
  let shape = ''
  for (const name in columns) {
    const column = columns[name]!
    shape += typeof column === 'string' ? `${name},` : `${name}=${column.as},`
  }
  return shape
}

/** A column's value in a statement: its parameter, or the computed expression. */
function value(names: string[], name: string, columns: Columns): string {
  const parameter = (other: string) => `?${names.indexOf(other) + 1}`
  const column = columns[name]!
  return typeof column === 'string'
    ? parameter(name)
    : column.as.replace(/\{(\w+)\}/g, (_, other) => parameter(other))
}

function insertText(table: string, columns: Columns, tail: string): string {
  const names = Object.keys(columns)
  return `insert into ${table} (${names}) values (${names.map((name) => value(names, name, columns))}) ${tail}`
}

function updateText(table: string, keys: Columns, set: Columns, guard: string): string {
  const names = [...Object.keys(keys), ...Object.keys(set)]
  const where = Object.keys(keys).map((name) => `${name} = ${value(names, name, keys)}`)
  if (guard) where.push(`(${guard})`)
  const values = Object.keys(set).map((name) => `${name} = ${value(names, name, set)}`)
  return `update ${table} set ${values} where ${where.join(' and ')}`
}

export type OpenSqlite = (file: string) => DatabaseSyncInstance

/**
 * The package on every version of Node, not the built-in module with the same interface: docs/decisions.md has the
 * reasons. Required: Jest cannot import.
 */
export function loadSqlite(): OpenSqlite {
  const { DatabaseSync } = require('@photostructure/sqlite') as typeof import('@photostructure/sqlite')
  return (file) => new DatabaseSync(file)
}
