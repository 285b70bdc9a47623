import { AppError } from '../../core/errors.js'
import type { Db } from '../engine/db.js'
import type { Blobs, NewBlob } from './blobs.js'

const CHUNK_BYTES = 256 * 1024
/** Longer than any upload may take; older drafts were left by a crash. */
const DRAFT_MS = 3_600_000

/**
 * Media as rows of PostgreSQL, in chunks, so that no whole file is in memory. The port carries text, so bytes are
 * sent as base64 and decoded by the server.
 */
export function createChunkBlobs(db: Db): Blobs {
  async function create(name: string): Promise<NewBlob> {
    await db.run('insert into media_drafts (name, started_at) values ($1, $2)', [name, Date.now()])
    let n = 0
    let gathered: Buffer[] = []
    let size = 0
    const flush = async () => {
      const all = Buffer.concat(gathered)
      let at = 0
      for (; all.length - at >= CHUNK_BYTES; at += CHUNK_BYTES)
        await insert(all.subarray(at, at + CHUNK_BYTES))
      gathered = at < all.length ? [all.subarray(at)] : []
      size = all.length - at
    }
    const insert = (bytes: Buffer) =>
      db.run("insert into media_chunks (name, n, data) values ($1, $2, decode($3, 'base64'))", [
        name,
        n++,
        bytes.toString('base64'),
      ])
    return {
      async write(chunk) {
        gathered.push(chunk)
        size += chunk.length
        if (size >= CHUNK_BYTES) await flush()
      },
      async finish() {
        await flush()
        if (size > 0) await insert(gathered[0]!)
      },
      async keep(sql) {
        const mine = await sql.run('delete from media_drafts where name = $1', [name])
        if (mine === 0) throw new AppError('unavailable', 'The upload took too long. Try again.')
      },
      discard: () => removeDraft(db, name),
    }
  }

  return {
    create,
    async *read(name, start, end) {
      for (let n = Math.floor(start / CHUNK_BYTES); n * CHUNK_BYTES < end; n++) {
        const row = await db.one<{ data: string }>(
          "select encode(data, 'base64') as data from media_chunks where name = $1 and n = $2",
          [name, n],
        )
        if (!row) throw new Error('A chunk of the media is missing')
        const from = n * CHUNK_BYTES
        yield Buffer.from(row.data, 'base64').subarray(Math.max(0, start - from), end - from)
      }
    },
    async drop(sql, names) {
      const list = sql.inList(1, names)
      await sql.run(`delete from media_chunks where name ${list.sql}`, [list.param])
    },
    dropped: async () => {},
    async sweep() {
      const rows = await db.all<{ name: string }>(
        'select name from media_drafts where started_at < $1 limit 1000',
        [Date.now() - DRAFT_MS],
      )
      for (const { name } of rows) await removeDraft(db, name)
      return rows.length
    },
  }
}

/** Deleting the draft row decides: a blob is either kept or removed, never half of both. */
function removeDraft(db: Db, name: string): Promise<void> {
  return db.tx(async (sql) => {
    const isDraft = await sql.run('delete from media_drafts where name = $1', [name])
    if (isDraft > 0) await sql.run('delete from media_chunks where name = $1', [name])
  })
}
