import { join } from 'node:path'
import { type Config, ConfigError } from '../../config.js'
import type { Db } from '../../storage/engine/db.js'
import { createBucketBlobs, probeBucket } from '../../storage/media/blob-bucket.js'
import { createChunkBlobs } from '../../storage/media/blob-chunks.js'
import { createFileBlobs } from '../../storage/media/blob-files.js'
import type { Blobs } from '../../storage/media/blobs.js'
import { openBucket } from '../../storage/media/bucket.js'

/** Where media bytes are. A bucket that does not work stops the start: an upload would fail much later. */
export async function openBlobs({ mediaBucket, databaseUrl, data }: Config, db: Db): Promise<Blobs> {
  const own = databaseUrl ? createChunkBlobs(db) : createFileBlobs(join(data, 'media'), db)
  if (!mediaBucket) return own
  const bucket = await openBucket(mediaBucket.place, mediaBucket.keys)
  const fault = await probeBucket(bucket, mediaBucket.place)
  if (fault) throw new ConfigError(`TRUNKLINE_MEDIA_URL: ${fault}`)
  return createBucketBlobs(bucket, db, own)
}
