import type { Activity } from '../../base/settled.js'
import type { Topic } from '../../base/wakes.js'
import { AppError } from '../../core/errors.js'
import type { Incarnation } from '../../core/events/incarnation.js'

/**
 * The storage port. SQL is written once for both engines (`$1` placeholders, integer times, JSON as text);
 * what the engines must do differently for speed is behind the three bulk operations below.
 */
export type Param = string | number | null
export type Row = Record<string, Param>
export type ColumnType = 'text' | 'bigint'
/**
 * Columns of a bulk statement. A computed column is an expression over the given ones, each written as `{name}`,
 * which saves a query before the insert.
 */
export type Columns = Readonly<Record<string, ColumnType | { type: ColumnType; as: string }>>

/**
 * Prepared statements kept on each connection. The program has about 400 texts; filters of lists add combinations, and
 * a caller who tried them all would otherwise fill the memory (measured: 88 MB).
 */
export const MAX_STATEMENTS = 1000

/** Runs statements, on committed data (the database) or in an open transaction. */
export interface Sql {
  readonly engine: 'sqlite' | 'postgres'
  all<T = Row>(sql: string, params?: readonly Param[]): Promise<T[]>
  one<T = Row>(sql: string, params?: readonly Param[]): Promise<T | undefined>
  /** Runs a statement; returns the number of changed rows. */
  run(sql: string, params?: readonly Param[]): Promise<number>
  /** One insert for many rows; `tail` is an optional `on conflict …` clause. */
  insertMany(table: string, columns: Columns, rows: readonly Param[][], tail?: string): Promise<void>
  /**
   * One update for many rows: `keys` identify the row, `set` are written; each row lists its keys first. `guard` is
   * a further condition. Returns for each row whether it was updated.
   */
  updateMany(
    table: string,
    keys: Columns,
    set: Columns,
    rows: readonly Param[][],
    guard?: string,
  ): Promise<boolean[]>
  /** The rest of `column in (…)`: a list of any length as one parameter, so that the statement text stays constant. */
  inList(position: number, values: readonly string[]): { sql: string; param: Param }
  /** Like `inList`, but as a table `j` with the column `value`. */
  listTable(position: number, values: readonly string[]): { sql: string; param: Param }
  inIds(position: number, ids: readonly number[]): { sql: string; param: Param }
  /**
   * Runs statements on rows that many transactions change, such as counters, with the commit: on PostgreSQL in one
   * packet with it, so that a process that stops in between does not keep others waiting for those rows.
   */
  atCommit(work: (sql: Writes) => Promise<unknown>): Promise<unknown>
  /** Publishes a hint to `onAnnounce` handlers after the commit. */
  announce<Detail extends string[]>(topic: Topic<Detail>, ...detail: Detail): void
}

/** The part of `Sql` that returns no data. */
export type Writes = Pick<Sql, 'engine' | 'announce' | 'atCommit' | 'inIds' | 'inList'> & {
  [K in 'run' | 'insertMany' | 'updateMany']: (...args: Parameters<Sql[K]>) => Promise<unknown>
}

/** The part of `Sql` that reads. */
export type Reads = Pick<Sql, 'engine' | 'all' | 'one' | 'inList' | 'inIds' | 'listTable'>

export interface Db extends Sql {
  /**
   * The lives of the database, oldest first. A new one is here before a connection that was opened in it is used.
   * Behind a pooler an open connection may lead to a promoted server; the process notices when its direct sessions end.
   */
  readonly incarnations: readonly Incarnation[]
  /** Begins another incarnation if this is not the database that the current one knows. `now`: the service's time. */
  noticeIncarnation(now: number): Promise<void>
  /**
   * Reads for statements that may take long, such as those of lists and searches. They delay nobody: owners take turns
   * in a thread of their own (SQLite), or on few of the connections (PostgreSQL).
   */
  aside(owner: string): Reads
  /**
   * Runs `fn` in a transaction that is on disk when the promise resolves. `fn` may run again after a rollback,
   * so it must touch nothing but the `Sql` it is given; using the outer database inside is an error.
   */
  tx<T>(fn: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * A transaction whose statements do not depend on each other's results: `fn` only collects them. Durable when the
   * promise resolves, like `tx`, but without a round trip for each statement. They may wait for a connection, and
   * go out again after a rollback: `check` runs each time just before, and throws if they are not wanted any more.
   */
  write(fn: (sql: Writes) => Promise<unknown>, check?: () => void): Promise<void>
  /** For leases and health, on connections that no other work can use up. */
  readonly upkeep: Sql & Pick<Db, 'tx'>
  /** Runs `fn` while no other process holds the same name. */
  lock<T>(name: string, fn: () => Promise<T>): Promise<T>
  /** Runs a migration script in one transaction. */
  script(text: string, record: { sql: string; params: readonly Param[] }): Promise<void>
  /** Hints between processes on one database. They may be lost, so a process that waits also polls. */
  notify(hint: string): Promise<void>
  onNotify(handler: (hint: string) => void): void
  /** Receives the hints of this process's transactions, after their commit. */
  onAnnounce(handler: (hint: string) => void): void
  /**
   * Removes overwritten data from the files of the database, as far as the engine can. Returns false if that must be
   * tried again later.
   */
  scrub(): Promise<boolean>
  /** What keeps the database from storing or reading, for the operator; undefined if nothing is known. */
  trouble(): string | undefined
  /** Faults of the database since the start, by kind. */
  faults(): Readonly<Record<string, number>>
  /** Counts of statements and transactions, so that tests can wait until the process is idle. */
  activity(): Activity
  close(): Promise<void>
}

/** The connection broke between COMMIT and its answer: the transaction may or may not be stored. */
export class CommitUnknown extends AppError {
  constructor(override readonly cause: unknown) {
    super('unavailable', 'The database was lost before it said whether this request was stored. Try again.', {
      retryAfterMs: 1000,
    })
  }
}

/** Other transactions held rows that this one needs for too long, or it was ended as a deadlock. Nothing was stored. */
export class RowsLocked extends AppError {
  constructor(override readonly cause: unknown) {
    super('unavailable', 'The database is busy with other requests at the moment. Try again.', {
      retryAfterMs: 1000,
    })
  }
}

/** Tells a fault of the database itself: the same statements for other rows would fail, too. */
export function isStorageFault(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable'
}

export class UniqueViolation extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'unique violation', { cause })
  }
}

/** A computed column was null: its condition did not hold. */
export class MissingValue extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'missing value', { cause })
  }
}
