import type { Sql } from '../engine/db.js'

/**
 * Where the bytes of media lie: in files beside an SQLite database, in the database itself with PostgreSQL, whose
 * processes need share nothing else.
 */
export interface Blobs {
  create(name: string): Promise<NewBlob>
  /** From `start` up to, not including, `end`. */
  read(name: string, start: number, end: number): AsyncIterable<Buffer>
  /** In the transaction that takes their media away, and after it. */
  drop(sql: Sql, names: readonly string[]): Promise<void>
  dropped(names: readonly string[]): Promise<void>
  /** Removes what crashes left behind and tells how many. At the start nothing of this process is being written. */
  sweep(atStart: boolean): Promise<number>
}

/** Bytes on their way in. Nobody can read them before they are kept. */
export interface NewBlob {
  write(chunk: Buffer): Promise<void>
  /** Resolves when every byte is on disk for good. */
  finish(): Promise<void>
  /** In the transaction that makes its media known. */
  keep(sql: Sql): Promise<void>
  discard(): Promise<void>
}
