import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../core/errors.js'
import type { Sql } from '../engine/db.js'
import type { Blobs, NewBlob } from './blobs.js'

const UNFINISHED = '.part'

/** Media as files of one folder, which belongs to the one process that holds the SQLite database. */
export function createFileBlobs(folder: string, sql: Sql): Blobs {
  const path = (name: string) => join(folder, name)

  async function create(name: string): Promise<NewBlob> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const unfinished = path(name + UNFINISHED)
    const file = await inReach(() => open(unfinished, 'wx', 0o600))
    return {
      write: (chunk) => inReach(() => writeAll(file, chunk)),
      finish: () =>
        inReach(async () => {
          await file.sync()
          await file.close()
          await rename(unfinished, path(name))
          await syncFolder(folder)
        }),
      keep: async () => {},
      async discard() {
        await file.close().catch(() => {})
        await removeFiles([name, name + UNFINISHED])
      },
    }
  }

  async function removeFiles(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(path(name), { force: true })
  }

  return {
    create,
    read: (name, start, end) => createReadStream(path(name), { start, end: end - 1 }),
    drop: async () => {},
    dropped: removeFiles,
    async sweep(atStart) {
      if (!atStart) return 0
      const names = await readdir(folder).catch(() => [])
      let removed = 0
      for (let at = 0; at < names.length; at += 1000) {
        const some = names.slice(at, at + 1000)
        const list = sql.inList(1, some)
        const rows = await sql.all<{ name: string }>(`select name from media where name in ${list.sql}`, [
          list.param,
        ])
        const known = new Set(rows.map((row) => row.name))
        const orphans = some.filter((name) => !known.has(name))
        await removeFiles(orphans)
        removed += orphans.length
      }
      return removed
    },
  }
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
}

/** The new name is on disk only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A full disk passes: the caller may try again later. */
async function inReach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (/^(ENOSPC|EDQUOT|EROFS|EMFILE)$/.test((error as NodeJS.ErrnoException).code ?? '')) {
      throw new AppError('unavailable', 'The storage cannot be written right now; try again later.', {
        retryAfterMs: 5000,
      })
    }
    throw error
  }
}
