import { existsSync, readdirSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app.js'
import { loadConfig } from '../../src/config.js'
import { sweepMedia } from '../../src/services/media/retention.js'
import { createChunkBlobs } from '../../src/storage/media/blob-chunks.js'
import { createFileBlobs } from '../../src/storage/media/blob-files.js'
import { makeDirectory } from '../support/directory.js'
import { PNG, pattern } from '../support/files.js'
import { createWorld, ENGINES, type World } from '../support/world.js'
import { formOf, MB, blobs as ownBlobs, upload } from './support.js'

const KEYS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }

/** A real S3-compatible server with one bucket. */
async function startStore(directory: string, port = 0) {
  const server = new S3rver({
    address: '127.0.0.1',
    port,
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: 'media' }],
  })
  await server.run()
  const { port: used } = server.httpServer.address() as AddressInfo
  return { port: used, url: `http://127.0.0.1:${used}`, close: () => server.close() }
}

describe.each(ENGINES)('media in a bucket, on %s', (engine) => {
  const directory = makeDirectory('trunkline-bucket-')
  let store: Awaited<ReturnType<typeof startStore>>
  let world: World
  let mediaUrl: string
  beforeAll(async () => {
    store = await startStore(directory)
    mediaUrl = `s3://media/of/ours?endpoint=${store.url}`
    world = await createWorld(engine, {
      env: { ...KEYS, TRUNKLINE_MEDIA_URL: mediaUrl, TRUNKLINE_MEDIA_DAYS: '1' },
    })
  })
  afterAll(async () => {
    await world.close()
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })

  /** Names of the objects in the bucket. */
  const objects = () => {
    const folder = join(directory, 'media', 'of', 'ours')
    const files = existsSync(folder) ? readdirSync(folder) : []
    return files.flatMap((file) => file.match(/^(.*)\._S3rver_object$/)?.[1] ?? [])
  }
  const listed = () => world.app.ctx.db.all('select name, since from media_objects')
  const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers })
  const put = async (bytes: Buffer, name = 'photo.png') => {
    const reply = await upload(world, formOf(bytes, name))
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body.media_url as string
  }

  it('stores a file as one object, and serves it whole and in ranges', async () => {
    const url = await put(PNG)
    expect(objects()).toEqual([/([^/]+)\.png$/.exec(url)![1]])
    expect(await ownBlobs(world)).toEqual([])
    expect(await listed()).toEqual([])
    expect(Buffer.from(await (await get(url)).arrayBuffer())).toEqual(PNG)
    const part = await get(url, { range: 'bytes=3-9' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 3-9/${PNG.length}`])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(PNG.subarray(3, 10))
  })

  it('sends a large file in parts of bounded size', async () => {
    const bytes = pattern(9 * MB)
    const url = await put(bytes, 'film.mp4')
    expect(Buffer.from(await (await get(url)).arrayBuffer()).equals(bytes)).toBe(true)
    const edge = 8 * 1024 * 1024
    const over = await get(url, { range: `bytes=${edge - 5}-${edge + 4}` })
    expect(Buffer.from(await over.arrayBuffer())).toEqual(bytes.subarray(edge - 5, edge + 5))
  })

  it('leaves no object of an upload that is given up', async () => {
    const before = objects()
    const { blobs } = world.app.ctx
    for (const bytes of [PNG, pattern(9 * MB)]) {
      const blob = await blobs.create('given-up')
      await blob.write(bytes)
      if (bytes === PNG) await blob.finish()
      await blob.discard()
    }
    expect(objects()).toEqual(before)
    expect(await listed()).toEqual([])
  })

  it('removes expired media, and objects that a crash left', async () => {
    const { ctx } = world.app
    const left = await ctx.blobs.create('left-by-a-crash')
    await left.write(PNG)
    await left.finish()
    await ctx.db.run('update media_objects set since = $1', [Date.now() - 2 * 3_600_000])
    expect(objects()).toContain('left-by-a-crash')
    await world.advance(2 * 86_400_000)
    await sweepMedia(ctx, false)
    expect(objects()).toEqual([])
    expect(await listed()).toEqual([])
    await expect(ctx.db.tx((sql) => left.keep(sql))).rejects.toThrow('The upload took too long')
  })

  it('still serves media from before the bucket', async () => {
    const { db, blobs } = world.app.ctx
    const former =
      engine === 'postgres' ? createChunkBlobs(db) : createFileBlobs(join(world.config.data, 'media'), db)
    const blob = await former.create('old')
    await blob.write(PNG)
    await blob.finish()
    await db.tx((sql) => blob.keep(sql))
    const read: Buffer[] = []
    for await (const chunk of blobs.read('old', 2, 8)) read.push(chunk)
    expect(Buffer.concat(read)).toEqual(PNG.subarray(2, 8))
  })

  it('answers 503 with words while the bucket cannot be reached, and works again afterwards', async () => {
    const url = await put(PNG)
    const { port } = store
    await store.close()
    const refused = await upload(world, formOf(PNG))
    expect(refused.status).toBe(503)
    expect(refused.body.message).toMatch(/media storage does not answer as it should \(ECONNREFUSED\)/)
    expect((await get(url)).status).toBe(503)
    store = await startStore(directory, port)
    expect((await get(url)).status).toBe(200)
    await put(PNG)
  })

  it.each([
    [
      's3://media/x?endpoint=http://127.0.0.1:4',
      {},
      /cannot be reached \(ECONNREFUSED\)\. Check the endpoint/,
    ],
    ['s3://nowhere', {}, /"nowhere" at .* does not exist \(404 NoSuchBucket\)\. Create it/],
    ['s3://media', { AWS_SECRET_ACCESS_KEY: 'wrong' }, /refuses the keys \(403 SignatureDoesNotMatch\)/],
    ['s3://media', { AWS_ACCESS_KEY_ID: '' }, /TRUNKLINE_MEDIA_URL needs AWS_ACCESS_KEY_ID/],
    ['https://media', {}, /^TRUNKLINE_MEDIA_URL must have the form s3:/],
    ['s3://media?style=path', {}, /must not have the setting "style"/],
  ])('does not start with %s %j, and says why', async (url, env, why) => {
    const place = url.startsWith('s3:') && !url.includes('?') ? `${url}?endpoint=${store.url}` : url
    const folder = makeDirectory('trunkline-test-')
    const start = async () =>
      createApp(
        loadConfig({ PORT: '0', TRUNKLINE_DATA: folder, ...KEYS, TRUNKLINE_MEDIA_URL: place, ...env }),
        {
          log: world.app.ctx.log,
        },
      )
    await expect(start()).rejects.toThrow(why)
    rmSync(folder, { recursive: true, force: true })
  })
})
