import { createReadStream } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateFolder } from '../../base/private-files.js'
import { AppError } from '../../core/errors.js'
import type { Sql } from '../engine/db.js'
import type { Blobs, NewBlob } from './blobs.js'

const UNFINISHED = '.part'

/** Media as files in a folder of the process that holds the SQLite database. */
export function createFileBlobs(folder: string, sql: Sql): Blobs {
  const path = (name: string) => join(folder, name)

  async function create(name: string): Promise<NewBlob> {
    const unfinished = path(name + UNFINISHED)
    const file = await asUnavailable(async () => {
      makePrivateFolder(folder)
      return open(unfinished, 'wx', 0o600)
    })
    // The umask may have taken rights of the owner away.
    await file.chmod(0o600)
    return {
      write: (chunk) => asUnavailable(() => writeAll(file, chunk)),
      finish: () =>
        asUnavailable(async () => {
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
        const rows = await sql.all<{ name: string }>(`select name from media where name ${list.sql}`, [
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

/** A new file name is durable only after a sync of its folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Reports a full or read-only disk as temporarily unavailable. */
async function asUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (/^(ENOSPC|EDQUOT|EROFS|EMFILE)$/.test((error as NodeJS.ErrnoException).code ?? '')) {
      throw new AppError(
        'unavailable',
        'The media folder cannot be written at the moment. Try again later.',
        {
          retryAfterMs: 5000,
        },
      )
    }
    throw error
  }
}
