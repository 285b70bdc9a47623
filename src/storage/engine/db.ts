import type { Activity } from '../../base/settled.js'
import type { Topic } from '../../base/wakes.js'

/**
 * The storage port. SQL is written once for both engines (`$1` placeholders, integer times, JSON as text);
 * what the engines must do differently for speed is behind the three bulk operations below.
 */
export type Param = string | number | null
export type Row = Record<string, Param>
export type ColumnType = 'text' | 'bigint'
/**
 * Columns of a bulk statement. A computed one says how to make its value of the given ones, each written as
 * `{name}`: what a row needs from the database then costs no question before the insert.
 */
export type Columns = Readonly<Record<string, ColumnType | { type: ColumnType; as: string }>>

/** What statements run on: the database itself (committed data) or an open transaction. */
export interface Sql {
  readonly engine: 'sqlite' | 'postgres'
  all<T = Row>(sql: string, params?: readonly Param[]): Promise<T[]>
  one<T = Row>(sql: string, params?: readonly Param[]): Promise<T | undefined>
  /** Runs a statement and tells how many rows it changed. */
  run(sql: string, params?: readonly Param[]): Promise<number>
  /** One insert for many rows; `tail` is an optional `on conflict …` clause. */
  insertMany(table: string, columns: Columns, rows: readonly Param[][], tail?: string): Promise<void>
  /**
   * One update for many rows: `keys` find the row, `set` are written; each row lists keys first.
   * `guard` is a further condition. Answers which of the rows were there to update.
   */
  updateMany(
    table: string,
    keys: Columns,
    set: Columns,
    rows: readonly Param[][],
    guard?: string,
  ): Promise<boolean[]>
  /** `column in <list>` for a list of any length as one parameter, so that the statement text stays the same. */
  inList(position: number, values: readonly string[]): { sql: string; param: Param }
  /** The same as a table `j` with the one column `value`. */
  listTable(position: number, values: readonly string[]): { sql: string; param: Param }
  inIds(position: number, ids: readonly number[]): { sql: string; param: Param }
  /** Gives a hint to those who listen with `onAnnounce`, once this is committed. */
  announce<Detail extends string[]>(topic: Topic<Detail>, ...detail: Detail): void
}

/** The part of `Sql` that needs no answer. */
export type Writes = Pick<Sql, 'engine' | 'announce' | 'inIds' | 'inList'> & {
  [K in 'run' | 'insertMany' | 'updateMany']: (...args: Parameters<Sql[K]>) => Promise<unknown>
}

export interface Db extends Sql {
  /**
   * Runs `fn` in a transaction that is on disk when the promise resolves. `fn` may run again after a rollback,
   * so it must touch nothing but the `Sql` it is given; using the outer database inside is an error.
   */
  tx<T>(fn: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * A transaction whose statements are known in advance: none needs the answer of another. `fn` only says what
   * to write. On disk when the promise resolves, like any other, and cheaper: the storage needs no conversation.
   */
  write(fn: (sql: Writes) => Promise<unknown>): Promise<void>
  /** Runs `fn` while no other process holds the same name. */
  lock<T>(name: string, fn: () => Promise<T>): Promise<T>
  /** Runs a migration script in one transaction. */
  script(text: string, record: { sql: string; params: readonly Param[] }): Promise<void>
  /** Hints between processes on one database. They may be lost, so a process that waits also polls. */
  notify(hint: string): Promise<void>
  onNotify(handler: (hint: string) => void): void
  /** Hears the hints of this process's transactions after their commit. */
  onAnnounce(handler: (hint: string) => void): void
  /** Statements and transactions: for whoever wants to know whether anything is going on. */
  activity(): Activity
  close(): Promise<void>
}

/** The connection died between COMMIT and its answer: the transaction may or may not be there. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('The outcome of the commit is unknown', { cause })
  }
}

export class UniqueViolation extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'unique violation', { cause })
  }
}

/** A value that the statement computed was not there: its condition did not hold. */
export class MissingValue extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'missing value', { cause })
  }
}

export function asBoolean(value: Param): boolean | null {
  return value === null ? null : value === 1
}

export function fromBoolean(value: boolean | null): number | null {
  return value === null ? null : value ? 1 : 0
}
