import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import type { Columns, Param } from './db.js'

/** The statement operations on one SQLite connection, synchronous as SQLite is. Texts are prepared once. */
export interface Statements {
  all(sql: string, params: readonly Param[]): unknown[]
  one(sql: string, params: readonly Param[]): unknown
  run(sql: string, params?: readonly Param[]): number
  insertMany(table: string, columns: Columns, rows: readonly Param[][], tail?: string, alike?: Alike): void
  updateMany(table: string, keys: Columns, set: Columns, rows: readonly Param[][], guard?: string): boolean[]
}

/**
 * Rows on their way to another thread without what they have in common: messages that arrive together share
 * three quarters of their columns. The rows then hold only the differing ones.
 */
export interface Alike {
  values: Param[]
  differing: number[]
}

const WORTH_PACKING = 4
/** Rows of one statement: each call into SQLite and each value given to it has its price. */
const TOGETHER = 16
/** Rows differ in this column or that: beyond so many statements, no new ones are made for it. */
const MANY_SHAPES = 400

export function pack(rows: readonly Param[][]): { rows: readonly Param[][]; alike?: Alike } {
  if (rows.length < WORTH_PACKING) return { rows }
  const [first] = rows as [Param[]]
  const differing = first.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== first[i]))
  return { rows: rows.map((row) => differing.map((i) => row[i]!)), alike: { values: first, differing } }
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

  /** Sixteen rows to a statement, what they have in common given once. Answers how many rows that were. */
  function insertTogether(
    table: string,
    columns: Columns,
    rows: readonly Param[][],
    tail: string,
    { values, differing }: Alike,
  ): number {
    const key = `insert ${table} ${shapeOf(columns)} ${tail} ${differing}`
    if (rows.length < TOGETHER || (prepared.size >= MANY_SHAPES && !prepared.has(key))) return 0
    const statement = prepare(key, () => insertText(table, columns, tail, differing))
    const common = values.filter((_, i) => !differing.includes(i))
    let done = 0
    for (; done + TOGETHER <= rows.length; done += TOGETHER)
      statement.run(...common, ...rows.slice(done, done + TOGETHER).flat())
    return done
  }

  return {
    all: (sql, params) => query(sql).all(...params),
    one: (sql, params) => query(sql).get(...params),
    run: (sql, params = []) => Number(query(sql).run(...params).changes),
    insertMany(table, columns, rows, tail = '', alike) {
      const statement = prepare(`insert ${table} ${shapeOf(columns)} ${tail}`, () =>
        insertText(table, columns, tail),
      )
      if (!alike) {
        for (const row of rows) statement.run(...row)
        return
      }
      const done = insertTogether(table, columns, rows, tail, alike)
      const whole = [...alike.values]
      for (const row of rows.slice(done)) {
        for (let i = 0; i < row.length; i++) whole[alike.differing[i]!] = row[i]!
        statement.run(...whole)
      }
    },
    updateMany(table, keys, set, rows, guard = '') {
      const key = `update ${table} ${shapeOf(keys)} ${shapeOf(set)} ${guard}`
      const statement = prepare(key, () => updateText(table, keys, set, guard))
      return rows.map((row) => Number(statement.run(...row).changes) > 0)
    },
  }
}

/** What tells the columns of one statement from those of another. */
function shapeOf(columns: Columns): string {
  let shape = ''
  for (const name in columns) {
    const column = columns[name]!
    shape += typeof column === 'string' ? `${name},` : `${name}=${column.as},`
  }
  return shape
}

/** A column's value in a statement: its parameter, or what is computed of the parameters. */
function value(
  names: string[],
  name: string,
  columns: Columns,
  parameter = (other: string) => `?${names.indexOf(other) + 1}`,
): string {
  const column = columns[name]!
  return typeof column === 'string'
    ? parameter(name)
    : column.as.replace(/\{(\w+)\}/g, (_, other) => parameter(other))
}

/** With `differing`: for many rows that differ in these columns only; the others' values come first. */
function insertText(table: string, columns: Columns, tail: string, differing?: readonly number[]): string {
  const names = Object.keys(columns)
  if (!differing)
    return `insert into ${table} (${names}) values (${names.map((name) => value(names, name, columns))}) ${tail}`
  const common = names.filter((_, i) => !differing.includes(i))
  const rows = Array.from({ length: TOGETHER }, (_, row) => {
    const parameter = (other: string) => {
      const shared = common.indexOf(other)
      if (shared >= 0) return `?${shared + 1}`
      return `?${common.length + row * differing.length + differing.indexOf(names.indexOf(other)) + 1}`
    }
    return `(${names.map((name) => value(names, name, columns, parameter))})`
  })
  return `insert into ${table} (${names}) values ${rows} ${tail}`
}

function updateText(table: string, keys: Columns, set: Columns, guard: string): string {
  const names = [...Object.keys(keys), ...Object.keys(set)]
  const where = Object.keys(keys).map((name) => `${name} = ${value(names, name, keys)}`)
  if (guard) where.push(`(${guard})`)
  const values = Object.keys(set).map((name) => `${name} = ${value(names, name, set)}`)
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
