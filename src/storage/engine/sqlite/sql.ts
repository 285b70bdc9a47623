import type { Param, Sql } from '../db.js'
import type { Calls } from '../sqlite-calls.js'

/** The statement operations of the port, run by the writer thread. */
export function statementsOf(call: Calls['call'], announce: Sql['announce']): Sql {
  return {
    engine: 'sqlite',
    announce,
    // One transaction runs at a time, so no row keeps others waiting.
    atCommit(work) {
      return work(this)
    },
    all: <T>(sql: string, params: readonly Param[] = []) => call('all', sql, params) as Promise<T[]>,
    one: <T>(sql: string, params: readonly Param[] = []) =>
      call('one', sql, params) as Promise<T | undefined>,
    run: (sql, params = []) => call('run', sql, params) as Promise<number>,
    insertMany: async (table, columns, rows, tail = '') => {
      if (rows.length > 0) await call('insertMany', table, columns, rows, tail)
    },
    updateMany: async (table, keys, set, rows, guard = '') =>
      rows.length > 0 ? ((await call('updateMany', table, keys, set, rows, guard)) as boolean[]) : [],
    inList: (position, values) => ({
      sql: `in (select value from json_each($${position}))`,
      param: JSON.stringify(values),
    }),
    listTable: (position, values) => ({ sql: `json_each($${position}) as j`, param: JSON.stringify(values) }),
    inIds: (position, ids) => ({
      sql: `in (select value from json_each($${position}))`,
      param: JSON.stringify(ids),
    }),
  }
}
