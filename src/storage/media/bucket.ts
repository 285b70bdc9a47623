import { createHash } from 'node:crypto'
import { importModule } from '../../base/import.js'
import type { BucketPlace } from '../../core/media/bucket-url.js'

export interface BucketKeys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

/** The calls of S3 that media needs. Failures are BucketFaults. */
export interface Bucket {
  put(name: string, bytes: Buffer): Promise<void>
  /** Starts an upload in parts; returns its id. */
  begin(name: string): Promise<string>
  /** Returns the tag by which `complete` names the part. Parts are counted from 1. */
  putPart(name: string, upload: string, n: number, bytes: Buffer): Promise<string>
  complete(name: string, upload: string, tags: readonly string[]): Promise<void>
  abort(name: string, upload: string): Promise<void>
  /** Bytes from `start` to `end` (exclusive), or undefined if there is no such object. */
  get(name: string, start: number, end: number): Promise<AsyncIterable<Buffer> | undefined>
  /** Removing an object that does not exist is harmless. */
  remove(name: string): Promise<void>
}

export class BucketFault extends Error {
  constructor(
    /** Null: no answer. */
    readonly status: number | null,
    message: string,
  ) {
    super(message)
  }
}

/** For the answer's headers; a body may take longer. */
const ANSWER_MS = 30_000

/** The part of `aws4fetch` that signs and sends requests. */
interface Signing {
  AwsClient: new (options: object) => { fetch(url: string, init: RequestInit): Promise<Response> }
}

export async function openBucket(place: BucketPlace, keys: BucketKeys): Promise<Bucket> {
  // A start without a bucket does not load the client.
  const { AwsClient } = await importModule<Signing>('aws4fetch')
  const client = new AwsClient({ ...keys, service: 's3', region: place.region, retries: 2, initRetryMs: 100 })

  async function call(
    method: string,
    path: string,
    { body, headers = {}, fine = [200, 204] }: CallOptions = {},
  ): Promise<Response> {
    const patience = new AbortController()
    const timer = setTimeout(() => patience.abort(), ANSWER_MS)
    try {
      const sum = createHash('sha256')
        .update(body ?? '')
        .digest('hex')
      const answer = await client.fetch(`${place.url}/${place.prefix}${path}`, {
        method,
        // The server refuses a body that was damaged on the way.
        headers: { ...headers, 'x-amz-content-sha256': sum },
        ...(body === undefined ? {} : { body: body as Buffer<ArrayBuffer> }),
        redirect: 'manual',
        signal: patience.signal,
      })
      if (fine.includes(answer.status)) return answer
      const code = /<Code>([^<]*)<\/Code>/.exec(await answer.text())?.[1] ?? ''
      throw new BucketFault(answer.status, `${answer.status} ${code}`.trim())
    } catch (error) {
      throw error instanceof BucketFault ? error : new BucketFault(null, reasonOf(error, patience.signal))
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async put(name, body) {
      await (await call('PUT', name, { body })).body?.cancel()
    },
    async begin(name) {
      const text = await (await call('POST', `${name}?uploads`)).text()
      const id = /<UploadId>([^<]+)<\/UploadId>/.exec(text)?.[1]
      if (!id) throw new BucketFault(200, 'no UploadId in the answer')
      return id
    },
    async putPart(name, upload, n, body) {
      const query = `partNumber=${n}&uploadId=${encodeURIComponent(upload)}`
      const answer = await call('PUT', `${name}?${query}`, { body })
      await answer.body?.cancel()
      return answer.headers.get('etag') ?? ''
    },
    async complete(name, upload, tags) {
      const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      const answer = await call('POST', `${name}?uploadId=${encodeURIComponent(upload)}`, { body })
      // The status comes before the work: a failure is in the body.
      const text = await answer.text()
      if (text.includes('<Error>'))
        throw new BucketFault(200, /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? text)
    },
    async abort(name, upload) {
      await call('DELETE', `${name}?uploadId=${encodeURIComponent(upload)}`)
    },
    async get(name, start, end) {
      const headers = { range: `bytes=${start}-${end - 1}` }
      const answer = await call('GET', name, { headers, fine: [206, 404] })
      if (answer.status === 206) return chunksOf(answer)
      const text = await answer.text()
      if (text.includes('NoSuchBucket')) throw new BucketFault(404, '404 NoSuchBucket')
      return undefined
    },
    async remove(name) {
      await call('DELETE', name, { fine: [200, 204, 404] })
    },
  }
}

interface CallOptions {
  body?: Buffer
  headers?: Record<string, string>
  fine?: readonly number[]
}

async function* chunksOf({ body }: Response): AsyncIterable<Buffer> {
  if (!body) return
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function reasonOf(error: unknown, { aborted }: AbortSignal): string {
  if (aborted) return `no answer in ${ANSWER_MS / 1000} s`
  const cause =
    error instanceof Error ? (error.cause as { code?: string; message?: string } | undefined) : undefined
  return cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error))
}
