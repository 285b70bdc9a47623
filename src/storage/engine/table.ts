import { compile } from '../../base/compile.js'
import type { Columns, Param, Reads, Row, Sql, Writes } from './db.js'

/**
 * A table described once: each field of a record is a column of the same name in snake case, and the list it stands in
 * tells how its value is stored. Columns that are not described stay in the database.
 */
export interface Table<T, New = T> {
  columns: Columns
  /** A record's values, in the order of `columns`. */
  values(record: New): Param[]
  read(row: Row): T
  /** Reads whole rows with a statement of one's own. */
  one(sql: Reads, text: string, params: readonly Param[]): Promise<T | undefined>
  all(sql: Reads, text: string, params?: readonly Param[]): Promise<T[]>
  /** Like `one` and `all`, with the part of the statement that follows `where`. */
  find(sql: Reads, where: string, params: readonly Param[]): Promise<T | undefined>
  list(sql: Reads, where: string, params?: readonly Param[]): Promise<T[]>
  /** Inserts a record with further columns; `tail` is an `on conflict` clause. Returns whether a row was written. */
  insert(sql: Sql, record: New, more?: Readonly<Record<string, Param>>, tail?: string): Promise<boolean>
  insertMany(sql: Writes, records: readonly New[], tail?: string): Promise<unknown>
  /** Inserts a record, or replaces the other fields of the record with these keys. */
  save<const K extends string>(sql: Sql, record: New, keys: K & FieldsOf<New, K>): Promise<boolean>
  /** Writes these fields of the records; `keys` identify a record. Returns for each whether its row was written. */
  update<const K extends string, const F extends string>(
    sql: Writes,
    records: readonly New[],
    keys: K & FieldsOf<New, K>,
    fields: F & FieldsOf<New, F>,
    guard?: string,
  ): Promise<boolean[]>
}

/** Source text of a column's value made of a field's value, and back. */
export const CODECS = {
  text: { type: 'text', write: (value: string) => value, read: (value: string) => value },
  number: { type: 'bigint', write: (value: string) => value, read: (value: string) => value },
  flag: {
    type: 'bigint',
    write: (value: string) => `${value} === null ? null : ${value} ? 1 : 0`,
    read: (value: string) => `${value} === null ? null : ${value} === 1`,
  },
  json: {
    type: 'text',
    write: (value: string) => `${value} === null ? null : JSON.stringify(${value})`,
    read: (value: string) => `${value} === null ? null : JSON.parse(${value})`,
  },
} as const

type Kind = keyof typeof CODECS

/** Names of fields, separated by spaces. `serial` is a number that the database assigns. */
type Fields = { readonly [K in Kind | 'serial']?: string }

type FieldsOf<T, S> = Names<S> extends keyof T ? S : never
type Names<S> = S extends `${infer First} ${infer Rest}` ? First | Names<Rest> : S
type Described<D extends Fields> = { [K in keyof D]: Names<D[K]> }[keyof D]

/** Fails to compile unless the description names every field of the record and nothing else. */
type Complete<T, D extends Fields> = [
  Exclude<keyof T, Described<D>> | Exclude<Described<D>, keyof T>,
] extends [never]
  ? unknown
  : { wrong: Exclude<keyof T, Described<D>> | Exclude<Described<D>, keyof T> }

/** Called as `table<Call>()('calls', …)`: TypeScript cannot infer one type argument beside a given one. */
export const table =
  <T, New = T>() =>
  <const D extends Fields>(name: string, fields: D & Complete<T, D>): Table<T, New> =>
    describe(name, fields)

function describe<T, New>(name: string, { serial, ...fields }: Fields): Table<T, New> {
  const kinds = Object.entries(fields) as [Kind, string][]
  const described = kinds.flatMap(([kind, names]) => names.split(' ').map((field) => ({ field, kind })))
  const columns = Object.fromEntries(described.map(({ field, kind }) => [columnOf(field), CODECS[kind].type]))
  const names = Object.keys(columns)
  const readings = described.map(
    ({ field, kind }) => `${field}: ${CODECS[kind].read(`r.${columnOf(field)}`)}`,
  )
  if (serial) readings.unshift(`${serial}: r.${columnOf(serial)}`)
  const read: (row: Row) => T = compile(['r'], `return { ${readings} }`)
  const writings = described.map(({ field, kind }) => CODECS[kind].write(`m.${field}`))
  const values: (record: New) => Param[] = compile(['m'], `return [${writings}]`)
  const one: Table<T, New>['one'] = async (sql, text, params) => {
    const row = await sql.one(text, params)
    return row && read(row)
  }
  const all: Table<T, New>['all'] = async (sql, text, params) => (await sql.all(text, params)).map(read)
  const insert: Table<T, New>['insert'] = async (sql, record, more = {}, tail = '') => {
    const all = [...names, ...Object.keys(more)]
    const text = `insert into ${name} (${all}) values (${all.map((_, i) => `$${i + 1}`)}) ${tail}`
    return (await sql.run(text, [...values(record), ...Object.values(more)])) > 0
  }
  return {
    columns,
    values,
    read,
    one,
    all,
    find: (sql, where, params) => one(sql, `select * from ${name} where ${where}`, params),
    list: (sql, where, params) => all(sql, `select * from ${name} where ${where}`, params),
    insert,
    insertMany: (sql, records, tail) => sql.insertMany(name, columns, records.map(values), tail),
    save(sql, record, keys) {
      const own = columnsOf(keys)
      const others = names.filter((column) => !own.includes(column))
      const set = others.map((column) => `${column} = excluded.${column}`)
      return insert(sql, record, {}, `on conflict (${own}) do update set ${set}`)
    },
    async update(sql, records, keys, fields, guard) {
      const pick = (chosen: string[]) =>
        Object.fromEntries(chosen.map((column) => [column, columns[column]!]))
      const [by, set] = [columnsOf(keys), columnsOf(fields)]
      const places = [...by, ...set].map((column) => names.indexOf(column))
      const rows = records.map(values).map((row) => places.map((place) => row[place]!))
      return (await sql.updateMany(name, pick(by), pick(set), rows, guard)) as boolean[]
    },
  }
}

function columnsOf(fields: string): string[] {
  return fields.split(' ').map(columnOf)
}

export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
