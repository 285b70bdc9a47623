import { likeOf } from '../../core/erasure/person.js'
import type { Param, Reads, Row, Sql } from '../engine/db.js'
import { forUpdate } from '../engine/query.js'
import type { PersonTable } from './person-table.js'

/** Rows that one query looks at: a few milliseconds, beside other work. */
export const PAGE = 1000

export type Place = readonly (string | number)[]

/** The accounts of an erasure; undefined: all. */
export type Scope = readonly string[] | undefined

export interface Hit {
  place: Place
  /** The row goes whether or not it names the person. */
  goes: boolean
}

export interface Page {
  /** Rows that may name the person, or that go for another reason. */
  hits: Hit[]
  /** The last key that was looked at; undefined at the end of the table. */
  next: Place | undefined
}

export const namesOf = (list: string | undefined): string[] => (list ? list.split(' ').filter(Boolean) : [])

/** Looks at the next rows of a table. */
export async function lookAt(
  sql: Reads,
  table: PersonTable,
  { handle, scope, until, after }: { handle: string; scope: Scope; until: number; after: Place },
): Promise<Page> {
  const params: Param[] = []
  const bind = (value: Param) => `$${params.push(value)}`
  const key = namesOf(table.key)
  const like = bind(likeOf(handle))
  const named = [...namesOf(table.own), ...namesOf(table.text)].map(
    (column) => `lower(${column}) like ${like}`,
  )
  const isOpen = ['1 = 1']
  if (table.at) isOpen.push(`${table.at} <= ${bind(until)}`)
  if (scope) {
    const list = sql.inList(params.length + 1, scope)
    params.push(list.param)
    isOpen.push(table.scope.replaceAll('{accounts}', list.sql))
  }
  // Not as conditions of the query, which would then read an unknown number of rows for a page.
  const found = `case when not (${isOpen.join(' and ')}) then 0 when ${table.also ?? '1 = 0'} then 2
    when ${named.join(' or ')} then 1 else 0 end`
  const from = after.length > 0 ? `where (${key}) > (${after.map(bind)})` : ''
  const rows = await sql.all<Row & { found: number }>(
    `select ${key}, ${found} as found from ${table.name} t ${from} order by ${key} limit ${PAGE}`,
    params,
  )
  const placeOf = (row: Row) => key.map((column) => row[column] as string | number)
  return {
    hits: rows.filter((row) => row.found > 0).map((row) => ({ place: placeOf(row), goes: row.found === 2 })),
    next: rows.length < PAGE ? undefined : placeOf(rows.at(-1)!),
  }
}

/** Locks a row and returns it whole; undefined if it is gone. */
export function lockRow(sql: Sql, table: PersonTable, place: Place): Promise<Row | undefined> {
  return sql.one(`select * from ${table.name} where ${isAt(table)} ${forUpdate(sql)}`, place)
}

export async function removeRow(sql: Sql, table: PersonTable, place: Place): Promise<void> {
  await sql.run(`delete from ${table.name} where ${isAt(table)}`, place)
}

/** Writes changed columns of a row. If a row with these unique values is there already, removes this one. */
export async function changeRow(
  sql: Sql,
  table: PersonTable,
  place: Place,
  row: Row,
  changes: Row,
): Promise<void> {
  const unique = namesOf(table.unique)
  if (unique.length > 0) {
    const after = { ...row, ...changes }
    const same = unique.map((column, i) => `${column} = $${i + 1}`).join(' and ')
    const twin = await sql.one(
      `select 1 as found from ${table.name} where ${same}`,
      unique.map((column) => after[column]!),
    )
    if (twin) return removeRow(sql, table, place)
  }
  const columns = Object.keys(changes)
  const set = columns.map((column, i) => `${column} = $${place.length + i + 1}`)
  await sql.run(`update ${table.name} set ${set} where ${isAt(table)}`, [...place, ...Object.values(changes)])
}

function isAt(table: PersonTable): string {
  return namesOf(table.key)
    .map((column, i) => `${column} = $${i + 1}`)
    .join(' and ')
}
