import type { Sql } from '../engine/db.js'

/**
 * Storage of media bytes: files beside an SQLite database, rows in PostgreSQL, so that its processes share nothing
 * else, or objects in a bucket.
 */
export interface Blobs {
  create(name: string): Promise<NewBlob>
  /** Bytes from `start` to `end` (exclusive). */
  read(name: string, start: number, end: number): AsyncIterable<Buffer>
  /** `drop` runs in the transaction that deletes the media, `dropped` after its commit. */
  drop(sql: Sql, names: readonly string[]): Promise<void>
  dropped(names: readonly string[]): Promise<void>
  /** Removes leftovers of crashes; returns their number. At the start this process is writing nothing. */
  sweep(atStart: boolean): Promise<number>
}

/** An upload in progress; unreadable until `keep`. */
export interface NewBlob {
  write(chunk: Buffer): Promise<void>
  /** Resolves when every byte is durable. */
  finish(): Promise<void>
  /** Runs in the transaction that inserts the media. */
  keep(sql: Sql): Promise<void>
  discard(): Promise<void>
}
