import { createHash } from 'node:crypto'
import type pg from 'pg'
import { createBoundedMap } from '../../../base/bounded-map.js'
import { type Columns, MAX_STATEMENTS, type Param } from '../db.js'

/** Turns rows into statements and parameters for PostgreSQL. */

/** Each statement is prepared once for each connection, under a short name derived from its text. */
const preparedNames = createBoundedMap<string, string>(MAX_STATEMENTS)
export function named(text: string, values: readonly unknown[]): pg.QueryConfig {
  let name = preparedNames.get(text)
  if (!name) {
    name = createHash('sha256').update(text).digest('base64url').slice(0, 20)
    preparedNames.set(text, name)
  }
  return { name, text, values: values as unknown[] }
}

/** Counting a connection's statements walks over all of them, so it happens once in so many uses. */
const USES_BETWEEN_COUNTS = 100
const uses = new WeakMap<pg.PoolClient, number>()

/** Makes a connection forget its prepared statements when it has too many. Call it before the connection is used. */
export async function dropSurplusStatements(client: pg.PoolClient): Promise<void> {
  const n = (uses.get(client) ?? 0) + 1
  uses.set(client, n)
  if (n % USES_BETWEEN_COUNTS > 0) return
  // The client's own record of what it has prepared; it prepares again what is not in it.
  const { connection } = client as unknown as { connection: { parsedStatements: Record<string, string> } }
  if (Object.keys(connection.parsedStatements).length <= MAX_STATEMENTS) return
  await client.query('deallocate all')
  connection.parsedStatements = {}
}

/** A column's value in a bulk statement: the given value, or the computed expression. */
export function value(name: string, columns: Columns): string {
  const column = columns[name]!
  return typeof column === 'string'
    ? `v.${name}`
    : column.as.replace(/\{(\w+)\}/g, (_, other) => `v.${other}`)
}

export function unnest(columns: Columns): string {
  return `unnest(${Object.values(columns).map((column, i) => `$${i + 1}::${typeof column === 'string' ? column : column.type}[]`)})`
}

/** One array literal for each column: the client's own conversion costs ten times more. */
export function transpose(width: number, rows: readonly Param[][]): string[] {
  return Array.from({ length: width }, (_, column) => arrayText(rows.map((row) => row[column]!)))
}

export function arrayText(values: readonly Param[]): string {
  let text = '{'
  for (const value of values) {
    if (text.length > 1) text += ','
    if (value === null) text += 'NULL'
    else if (typeof value === 'number') text += value
    else text += `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
  }
  return `${text}}`
}

/**
 * One insert for many rows, with an array for each column. A column with the same value in all rows becomes a
 * single parameter: an array costs the server seven times as much, and a lookup by the value then runs once.
 */
export function bulkInsert(
  table: string,
  columns: Columns,
  rows: readonly Param[][],
  tail: string,
): pg.QueryConfig {
  const names = Object.keys(columns)
  const shape = rows.length === 1 ? '' : names.map((_, i) => (isConstant(rows, i) ? '1' : 'n')).join('')
  const single = shape.includes('n') && mayUseShape(table, shape) ? shape : ''
  const given: Param[] = []
  const arrays: string[] = []
  const source = new Map<string, string>()
  for (const [i, name] of names.entries()) {
    const column = columns[name]!
    const type = typeof column === 'string' ? column : column.type
    if (single[i] === '1') {
      given.push(rows[0]![i]!)
      source.set(name, `$${given.length}::${type}`)
    } else {
      given.push(arrayText(rows.map((row) => row[i]!)))
      arrays.push(name)
      source.set(name, `v.${name}`)
    }
  }
  const values = names.map((name) => {
    const column = columns[name]!
    if (typeof column === 'string') return source.get(name)!
    return column.as.replace(/\{(\w+)\}/g, (_, other) => source.get(other)!)
  })
  const lists = arrays.map((name) => {
    const column = columns[name]!
    return `$${names.indexOf(name) + 1}::${typeof column === 'string' ? column : column.type}[]`
  })
  return named(
    `insert into ${table} (${names}) select ${values} from unnest(${lists}) as v(${arrays}) ${tail}`,
    given,
  )
}

function isConstant(rows: readonly Param[][], column: number): boolean {
  const first = rows[0]![column]
  for (const row of rows) if (row[column] !== first) return false
  return true
}

/** Each shape is a prepared statement on every connection, so their number is limited. */
const MAX_SHAPES_PER_TABLE = 40
const shapes = new Map<string, Set<string>>()
function mayUseShape(table: string, shape: string): boolean {
  let known = shapes.get(table)
  if (!known) {
    known = new Set()
    shapes.set(table, known)
  }
  if (!known.has(shape) && known.size >= MAX_SHAPES_PER_TABLE) return false
  known.add(shape)
  return true
}
