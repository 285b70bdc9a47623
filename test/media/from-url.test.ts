import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileServer, PNG, serve } from '../support/files.js'
import { createWorld, ENGINES, type World } from '../support/world.js'
import { blobs, MB, rows } from './support.js'

describe.each(ENGINES)('media on %s', (engine) => {
  let world: World
  let files: FileServer
  let hits = 0
  beforeAll(async () => {
    world = await createWorld(engine)
    files = await serve((request, response) => {
      hits++
      if (request.url === '/gone.png') return void response.writeHead(404).end()
      if (request.url === '/empty.png') return void response.end()
      if (request.url === '/huge.bin') {
        response.writeHead(200)
        const piece = Buffer.alloc(MB)
        const more = () => {
          while (!response.destroyed && response.write(piece));
          if (!response.destroyed) response.once('drain', more)
        }
        return more()
      }
      if (request.url === '/typed')
        return void response.writeHead(200, { 'content-type': 'audio/x-m4a' }).end('?')
      if (request.url === '/voice.caf?x=1') return void response.end('not told')
      response.end(PNG)
    })
  })
  afterAll(async () => {
    await files.close()
    await world.close()
  })

  it('fetches from a URL', async () => {
    const reply = await world.post('/api/upload-media-object', { media_url: `${files.url}/photo` })
    expect(reply).toMatchObject({ status: 201, body: { status: 'OK', mediaObjectId: expect.any(String) } })
    expect(reply.body.media_url).toMatch(/\/media\/\w{22}\.png$/)
    expect(Buffer.from(await (await fetch(reply.body.media_url)).arrayBuffer())).toEqual(PNG)
    const typed = await world.post('/api/upload-media-object', { mediaUrl: `${files.url}/typed` })
    expect(typed.body.media_url).toMatch(/\.m4a$/)
    const named = await world.post('/api/upload-media-object', { media_url: `${files.url}/voice.caf?x=1` })
    expect(named.body.media_url).toMatch(/\.caf$/)
    const form = await world.call('POST', '/api/upload-media-object', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `media_url=${encodeURIComponent(`${files.url}/photo`)}`,
    })
    expect(form.status).toBe(201)
    const own = await world.post('/api/upload-media-object', { media_url: reply.body.media_url })
    expect(own.status).toBe(201)
    expect(own.body.media_url).not.toBe(reply.body.media_url)
  })

  it.each<[string, (base: string) => unknown, string]>([
    ['nothing', () => undefined, 'missing required parameter: media_url'],
    ['an empty text', () => '', 'missing required parameter: media_url'],
    ['a number', () => 5, 'media_url: must be string'],
    ['no URL', () => 'photo.png', 'media_url: must be a URL'],
    ['http', () => 'http://example.com/a.png', 'media_url: must be an https URL'],
    ['data:', () => 'data:image/png;base64,AAAA', 'media_url: must be an https URL'],
    ['file:', () => 'file:///etc/passwd', 'media_url: must be an https URL'],
    ['a private address', () => 'https://10.0.0.1/a.png', 'media_url: must not point to a private'],
    [
      'the metadata service',
      () => 'https://169.254.169.254/latest',
      'media_url: must not point to a private',
    ],
    ['credentials', () => 'https://a:b@example.com/x.png', 'media_url: must not contain credentials'],
    ['a file that is gone', (base) => `${base}/gone.png`, 'media_url: answered 404'],
    ['an empty file', (base) => `${base}/empty.png`, 'media_url: is empty'],
    ['an endless file', (base) => `${base}/huge.bin`, 'media_url: is larger than 100 MB'],
    ['nobody there', () => 'http://127.0.0.1:9/a.png', 'media_url: could not be fetched'],
    [
      'our own media that is none',
      (base) => `${base.replace(/.*/, () => world.app.url())}/media/${'x'.repeat(22)}.png`,
      'media_url: is no media we have',
    ],
  ])('upload-media-object refuses %s', async (_name, url, message) => {
    const before = [await rows(world), (await blobs(world)).length]
    const reply = await world.post('/api/upload-media-object', { media_url: url(files.url) })
    expect(reply).toMatchObject({
      status: 400,
      body: { status: 'ERROR', message: expect.stringContaining(message) },
    })
    expect([await rows(world), (await blobs(world)).length]).toEqual(before)
  })

  it('a repeat gets the first answer without another fetch, even when the file is gone', async () => {
    const body = { media_url: `${files.url}/once` }
    const headers = { 'idempotency-key': 'object-1' }
    const first = await world.post('/api/upload-media-object', body, 'live', headers)
    const [seen, stored] = [hits, await rows(world)]
    const again = await world.post('/api/upload-media-object', body, 'live', headers)
    expect(again).toMatchObject({ status: 201, body: first.body, headers: { 'x-idempotent-replay': 'true' } })
    expect([hits, await rows(world)]).toEqual([seen, stored])
    const other = await world.post(
      '/api/upload-media-object',
      { media_url: `${files.url}/b` },
      'live',
      headers,
    )
    expect(other.status).toBe(422)
    const retry = await world.post('/api/upload-media-object', body, 'live', {
      'x-stainless-retry-count': '1',
    })
    expect(retry.status).toBe(201)
    const both = await Promise.all(
      [1, 2].map(() =>
        world.post('/api/upload-media-object', body, 'live', { 'idempotency-key': 'object-2' }),
      ),
    )
    expect(both.map((one) => one.status)).toEqual([201, 201])
    expect(both[0]!.body).toEqual(both[1]!.body)
    expect(await rows(world)).toBe(stored + 2)
  })
})
