import type pg from 'pg'
import type { Param, Sql } from '../db.js'
import { arrayText, bulkInsert, named, transpose, unnest, value } from './statements.js'

/** Runs a statement, or collects it. */
export type Query = (query: pg.QueryConfig) => Promise<pg.QueryResult>

/** The operations of the storage port as statements of PostgreSQL. */
export function statements(query: Query, atCommit: Sql['atCommit'], announce: Sql['announce']): Sql {
  return {
    engine: 'postgres',
    announce,
    atCommit,
    async all<T>(sql: string, params: readonly Param[] = []) {
      return (await query(named(sql, params))).rows as T[]
    },
    async one<T>(sql: string, params: readonly Param[] = []) {
      return (await query(named(sql, params))).rows[0] as T | undefined
    },
    async run(sql, params = []) {
      return (await query(named(sql, params))).rowCount ?? 0
    },
    async insertMany(table, columns, rows, tail = '') {
      if (rows.length === 0) return
      await query(bulkInsert(table, columns, rows, tail))
    },
    async updateMany(table, keys, set, rows, condition = '') {
      if (rows.length === 0) return []
      const columns = { ...keys, ...set }
      const keyNames = Object.keys(keys)
      const where = keyNames.map((name) => `${table}.${name} = v.${name}`)
      if (condition) where.push(`(${condition})`)
      const text =
        `update ${table} set ${Object.keys(set).map((name) => `${name} = ${value(name, set)}`)} ` +
        `from ${unnest(columns)} as v(${Object.keys(columns)}) where ${where.join(' and ')} ` +
        `returning ${keyNames.map((name) => `v.${name}`)}`
      const result = await query(named(text, transpose(Object.keys(columns).length, rows)))
      const found = new Set(result.rows.map((row) => keyNames.map((name) => row[name]).join('\u0000')))
      return rows.map((row) => found.has(row.slice(0, keyNames.length).join('\u0000')))
    },
    inList: (position, values) => ({
      sql: `= any ($${position}::text[])`,
      param: arrayText(values),
    }),
    listTable: (position, values) => ({
      sql: `unnest($${position}::text[]) as j(value)`,
      param: arrayText(values),
    }),
    inIds: (position, ids) => ({
      sql: `= any ($${position}::bigint[])`,
      param: arrayText(ids),
    }),
  }
}
