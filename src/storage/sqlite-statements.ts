import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import type { Columns, Param } from './db.js'

/** The statement operations on one SQLite connection, synchronous as SQLite is. Texts are prepared once. */
export interface Statements {
  all(sql: string, params: readonly Param[]): unknown[]
  one(sql: string, params: readonly Param[]): unknown
  run(sql: string, params?: readonly Param[]): number
  insertMany(table: string, columns: Columns, rows: readonly Param[][], tail?: string): void
  updateMany(table: string, keys: Columns, set: Columns, rows: readonly Param[][], guard?: string): boolean[]
}

export function createStatements(connection: DatabaseSyncInstance): Statements {
  const prepared = new Map<string, StatementSyncInstance>()
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
      const statement = prepare(`insert ${table} ${Object.keys(columns)} ${tail}`, () => insertText(table, columns, tail))
      for (const row of rows) statement.run(...row)
    },
    updateMany(table, keys, set, rows, guard = '') {
      const key = `update ${table} ${Object.keys(keys)} ${Object.keys(set)} ${guard}`
      const statement = prepare(key, () => updateText(table, keys, set, guard))
      return rows.map((row) => Number(statement.run(...row).changes) > 0)
    },
  }
}

function insertText(table: string, columns: Columns, tail: string): string {
  const names = Object.keys(columns)
  const value = (name: string) => `?${names.indexOf(name) + 1}`
  const values = Object.entries(columns).map(([name, column]) =>
    typeof column === 'string' ? value(name) : column.as.replace(/\{(\w+)\}/g, (_, other) => value(other)),
  )
  return `insert into ${table} (${names}) values (${values}) ${tail}`
}

function updateText(table: string, keys: Columns, set: Columns, guard: string): string {
  const keyNames = Object.keys(keys)
  const where = keyNames.map((name, i) => `${name} = ?${i + 1}`)
  if (guard) where.push(`(${guard})`)
  const values = Object.keys(set).map((name, i) => `${name} = ?${keyNames.length + i + 1}`)
  return `update ${table} set ${values} where ${where.join(' and ')}`
}

export type OpenSqlite = (file: string) => DatabaseSyncInstance

/** Node's own module where the running Node has it, else the same interface from the package. */
export async function loadSqlite(): Promise<OpenSqlite> {
  const builtin = process.getBuiltinModule?.('node:sqlite') as
    | { DatabaseSync: new (file: string) => DatabaseSyncInstance }
    | undefined
  const Database = builtin?.DatabaseSync ?? (await import('@photostructure/sqlite')).DatabaseSync
  return (file) => new Database(file)
}
