import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { importModule } from '../../base/import.js'
import type { Columns, Param } from './db.js'

/** Statement operations on one SQLite connection; synchronous, like SQLite. Each text is prepared once. */
interface Statements {
  all(sql: string, params: readonly Param[]): unknown[]
  one(sql: string, params: readonly Param[]): unknown
  run(sql: string, params?: readonly Param[]): number
  insertMany(
    table: string,
    columns: Columns,
    rows: readonly Param[][],
    tail?: string,
    shared?: SharedColumns,
  ): void
  updateMany(table: string, keys: Columns, set: Columns, rows: readonly Param[][], guard?: string): boolean[]
}

/**
 * The shared columns of rows that go to the writer thread: messages that arrive together share three quarters of
 * their columns. The packed rows then hold only the `differing` ones.
 */
interface SharedColumns {
  values: Param[]
  differing: number[]
}

const MIN_PACKED_ROWS = 4
/** Rows in one insert statement, because each call into SQLite and each bound value has a cost. */
const ROWS_PER_INSERT = 16
/**
 * Limit of prepared statements; beyond it, no new ones are prepared for other combinations of differing columns.
 */
const MAX_STATEMENTS = 400

export function pack(rows: readonly Param[][]): { rows: readonly Param[][]; shared?: SharedColumns } {
  if (rows.length < MIN_PACKED_ROWS) return { rows }
  const [first] = rows as [Param[]]
  const differing = first.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== first[i]))
  return { rows: rows.map((row) => differing.map((i) => row[i]!)), shared: { values: first, differing } }
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

  /** Inserts groups of ROWS_PER_INSERT rows, with shared values bound once. Returns the number of rows inserted. */
  function insertGroups(
    table: string,
    columns: Columns,
    rows: readonly Param[][],
    tail: string,
    { values, differing }: SharedColumns,
  ): number {
    const key = `insert ${table} ${shapeOf(columns)} ${tail} ${differing}`
    if (rows.length < ROWS_PER_INSERT || (prepared.size >= MAX_STATEMENTS && !prepared.has(key))) return 0
    const statement = prepare(key, () => insertText(table, columns, tail, differing))
    const common = values.filter((_, i) => !differing.includes(i))
    let done = 0
    for (; done + ROWS_PER_INSERT <= rows.length; done += ROWS_PER_INSERT)
      statement.run(...common, ...rows.slice(done, done + ROWS_PER_INSERT).flat())
    return done
  }

  return {
    all: (sql, params) => query(sql).all(...params),
    one: (sql, params) => query(sql).get(...params),
    run: (sql, params = []) => Number(query(sql).run(...params).changes),
    insertMany(table, columns, rows, tail = '', shared) {
      const statement = prepare(`insert ${table} ${shapeOf(columns)} ${tail}`, () =>
        insertText(table, columns, tail),
      )
      if (!shared) {
        for (const row of rows) statement.run(...row)
        return
      }
      const done = insertGroups(table, columns, rows, tail, shared)
      const whole = [...shared.values]
      for (const row of rows.slice(done)) {
        for (let i = 0; i < row.length; i++) whole[shared.differing[i]!] = row[i]!
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

/**
 * With `differing`, an insert of ROWS_PER_INSERT rows that differ only in those columns; shared values come first.
 */
function insertText(table: string, columns: Columns, tail: string, differing?: readonly number[]): string {
  const names = Object.keys(columns)
  if (!differing)
    return `insert into ${table} (${names}) values (${names.map((name) => value(names, name, columns))}) ${tail}`
  const common = names.filter((_, i) => !differing.includes(i))
  const rows = Array.from({ length: ROWS_PER_INSERT }, (_, row) => {
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

/** Node's built-in module if it exists, else the package with the same interface. */
export async function loadSqlite(): Promise<OpenSqlite> {
  const builtin = process.getBuiltinModule?.('node:sqlite') as
    | { DatabaseSync: new (file: string) => DatabaseSyncInstance }
    | undefined
  const { DatabaseSync: Database } =
    builtin ?? (await importModule<typeof import('@photostructure/sqlite')>('@photostructure/sqlite'))
  return (file) => new Database(file)
}
