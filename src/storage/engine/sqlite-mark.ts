import { closeSync, fdatasync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { makePrivateFile } from '../../base/private-files.js'

/**
 * The file beside a SQLite database by which a start recognises it: the number of the last commit, the inode of the
 * file and the name of the incarnation. SQLite opens a database whose write-ahead log was cut or removed as if nothing
 * were missing; only the file then knows of the lost commits. No copy of the folder has the inode, and a database that
 * was put into the folder has another incarnation.
 */
export interface HighWaterMark {
  /** Counts a commit, inside its transaction. */
  count(): void
  /** Writes the number to the file, after the commit. */
  keep(): void
  close(): void
}

/** A kill leaves the file exact. After a power failure it may be this much behind, and less of a loss is noticed. */
const FLUSH_MS = 1000
const DIGITS = 20

export const markFileOf = (directory: string): string => join(directory, 'trunkline.mark')

export function createMark(connection: DatabaseSyncInstance, file: string): HighWaterMark {
  connection.exec(
    `create table if not exists high_water (id integer primary key check (id = 1), n integer not null);
     insert or ignore into high_water values (1, 0)`,
  )
  const step = connection.prepare('update high_water set n = n + 1 returning n')
  makePrivateFile(file)
  const handle = openSync(file, 'r+')
  let n = 0
  let flushedAt = Number.NEGATIVE_INFINITY
  return {
    count() {
      n = (step.get() as { n: number }).n
    },
    keep() {
      writeSync(handle, String(n).padStart(DIGITS, '0'), 0)
      if (performance.now() - flushedAt < FLUSH_MS) return
      flushedAt = performance.now()
      fdatasync(handle, () => {})
    },
    close: () => closeSync(handle),
  }
}

/** How many commits the database has lost since the file was written. */
export function countLostCommits(connection: DatabaseSyncInstance, file: string): number {
  const kept = Number(read(file).slice(0, DIGITS))
  const has = connection.prepare("select 1 from sqlite_master where name = 'high_water'").get()
  const row = has && (connection.prepare('select n from high_water').get() as { n: number } | undefined)
  return Math.max(0, (Number.isNaN(kept) ? 0 : kept) - (row ? row.n : 0))
}

/** The incarnation that the file names, and whether the file is a copy. Undefined if the file names none. */
export function readIdentity(file: string): { incarnation: string; isCopy: boolean } | undefined {
  const [, inode, incarnation] = /^ (\d+) (.+)\n/.exec(read(file).slice(DIGITS)) ?? []
  return incarnation === undefined ? undefined : { incarnation, isCopy: inode !== inodeOf(file) }
}

/** Written in place, because the writer has the file open. */
export function writeIdentity(file: string, incarnation: string): void {
  const handle = openSync(file, 'r+')
  try {
    writeSync(handle, ` ${inodeOf(file)} ${incarnation}\n`, DIGITS)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function inodeOf(file: string): string {
  return String(statSync(file, { bigint: true }).ino)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
