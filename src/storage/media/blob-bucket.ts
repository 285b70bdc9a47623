import { AppError } from '../../core/errors.js'
import type { BucketPlace } from '../../core/media/bucket-url.js'
import type { Db } from '../engine/db.js'
import { listValues } from '../engine/query.js'
import type { Blobs, NewBlob } from './blobs.js'
import { type Bucket, BucketFault } from './bucket.js'

/** S3 takes parts of at least 5 MiB; this is also the memory that an upload needs. */
const PART_BYTES = 8 * 1024 * 1024
/** Longer than any upload may take. */
const UPLOAD_MS = 3_600_000
const REMOVALS_AT_ONCE = 8
const DOOMED = 0

/**
 * Media as objects in a bucket. `media_objects` lists the objects that may have no row in `media`: uploads in
 * progress, with the time of their start, and objects to remove, with the time 0. So a crash leaves nothing behind
 * that the sweep does not find. Media from before the bucket stays in `former`.
 */
export function createBucketBlobs(bucket: Bucket, db: Db, former: Blobs): Blobs {
  async function create(name: string): Promise<NewBlob> {
    await db.run('insert into media_objects (name, since) values ($1, $2)', [name, Date.now()])
    let gathered: Buffer[] = []
    let size = 0
    let upload: string | undefined
    const tags: string[] = []
    const sendPart = async () => {
      upload ??= await bucket.begin(name)
      const bytes = Buffer.concat(gathered)
      gathered = []
      size = 0
      tags.push(await bucket.putPart(name, upload, tags.length + 1, bytes))
    }
    return {
      async write(chunk) {
        gathered.push(chunk)
        size += chunk.length
        if (size >= PART_BYTES) await asUnavailable(sendPart)
      },
      finish: () =>
        asUnavailable(async () => {
          if (upload === undefined) return bucket.put(name, Buffer.concat(gathered))
          if (size > 0) await sendPart()
          await bucket.complete(name, upload, tags)
          upload = undefined
        }),
      async keep(sql) {
        const kept = await sql.run('delete from media_objects where name = $1 and since <> $2', [
          name,
          DOOMED,
        ])
        if (kept === 0) throw new AppError('unavailable', 'The upload took too long. Try again.')
      },
      async discard() {
        // A server that cannot abort removes unfinished uploads by a rule of the bucket.
        if (upload !== undefined) await bucket.abort(name, upload).catch(() => {})
        await remove(name)
      },
    }
  }

  /** Marks the object first: from then on no transaction can keep it. */
  async function remove(name: string): Promise<void> {
    const isListed = await db.run('update media_objects set since = $2 where name = $1', [name, DOOMED])
    if (isListed === 0) return
    await bucket.remove(name)
    await db.run('delete from media_objects where name = $1', [name])
  }

  async function removeAll(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += REMOVALS_AT_ONCE)
      await Promise.all(names.slice(at, at + REMOVALS_AT_ONCE).map(remove))
  }

  return {
    create,
    async *read(name, start, end) {
      const body = await asUnavailable(() => bucket.get(name, start, end))
      yield* body ?? former.read(name, start, end)
    },
    async drop(sql, names) {
      await former.drop(sql, names)
      const rows = names.map((name) => [name, DOOMED])
      await sql.insertMany('media_objects', { name: 'text', since: 'bigint' }, rows, 'on conflict do nothing')
    },
    async dropped(names) {
      await former.dropped(names)
      await removeAll(names)
    },
    async sweep(atStart) {
      const names = await listValues<string>(
        db,
        'select name from media_objects where since < $1 limit 1000',
        [Date.now() - UPLOAD_MS],
      )
      await removeAll(names)
      return names.length + (await former.sweep(atStart))
    },
  }
}

async function asUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BucketFault)) throw error
    throw new AppError(
      'unavailable',
      `The media storage does not answer as it should (${error.message}). Try again later.`,
      { retryAfterMs: 5000 },
    )
  }
}

const PROBE = 'trunkline-probe'

/** Writes, reads and removes an object. Returns what is wrong, and what to do. */
export async function probeBucket(bucket: Bucket, place: BucketPlace): Promise<string | undefined> {
  try {
    await bucket.put(PROBE, Buffer.from('ok'))
    if (!(await bucket.get(PROBE, 0, 2)))
      return `the bucket "${place.bucket}" lost an object that was just written`
    await bucket.remove(PROBE)
    return undefined
  } catch (error) {
    if (!(error instanceof BucketFault)) throw error
    return `the bucket "${place.bucket}" at ${new URL(place.url).origin} ${adviceOn(error)}`
  }
}

function adviceOn({ status, message }: BucketFault): string {
  if (status === null) return `cannot be reached (${message}). Check the endpoint and the network.`
  if (status === 404) return `does not exist (${message}). Create it, or correct its name.`
  if (status === 401 || status === 403)
    return `refuses the keys (${message}). Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may read, write and delete objects.`
  if (status >= 300 && status < 500)
    return `answers ${message}. Check that region and endpoint are those of the bucket.`
  return `fails at the moment (${message}). Start again when it works.`
}
