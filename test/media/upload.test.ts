import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileServer, JPEG, PNG, pattern, serve } from '../support/files.js'
import { createWorld, credentials, ENGINES, type Json, type World } from '../support/world.js'
import { blobs, formOf, MB, rows, upload } from './support.js'

/** A form as clients write it by hand. */
function handMade(parts: { head: string; bytes: Buffer }[], end = '\r\n--xyz--\r\n') {
  const pieces = parts.flatMap(({ head, bytes }, i) => [
    Buffer.from(`${i > 0 ? '\r\n' : ''}--xyz\r\n${head}\r\n\r\n`),
    bytes,
  ])
  return Buffer.concat([...pieces, Buffer.from(end)])
}

async function post(world: World, body: Buffer | string, type = 'multipart/form-data; boundary=xyz') {
  const reply = await fetch(`${world.app.url()}/api/upload-file`, {
    method: 'POST',
    headers: { ...credentials('live'), 'content-type': type },
    body: body as never,
  })
  return { status: reply.status, body: (await reply.json()) as Json }
}

describe.each(ENGINES)('media on %s', (engine) => {
  let world: World
  let files: FileServer
  beforeAll(async () => {
    world = await createWorld(engine)
    files = await serve((_request, response) => response.end(PNG))
  })
  afterAll(async () => {
    await files.close()
    await world.close()
  })

  it('a hand-built form with application/octet-stream is accepted', async () => {
    const octets = 'Content-Type: application/octet-stream'
    for (const head of [
      `Content-Disposition: form-data; name="file"; filename="photo.png"\r\n${octets}`,
      `Content-Disposition: form-data; name="file"\r\n${octets}`,
      'Content-Disposition: form-data; name=file; filename=photo.png',
      'Content-Disposition: form-data; name="file"\r\nContent-Type: image/png',
    ]) {
      const reply = await post(world, handMade([{ head, bytes: PNG }]))
      expect([head, reply.status]).toEqual([head, 201])
      expect(reply.body.media_url).toMatch(/\.png$/)
    }
    const text = { head: 'Content-Disposition: form-data; name="note"', bytes: Buffer.from('hi') }
    const file = {
      head: `Content-Disposition: form-data; name="file"; filename="x.caf"\r\n${octets}`,
      bytes: Buffer.from('?'),
    }
    expect((await post(world, handMade([text, file, text]))).body.media_url).toMatch(/\.caf$/)
  })

  const file = 'Content-Disposition: form-data; name="file"; filename="a.png"'
  it.each<[string, Buffer | string, string | undefined, number, string]>([
    [
      'no file',
      handMade([{ head: 'Content-Disposition: form-data; name="x"', bytes: PNG }]),
      undefined,
      400,
      'missing required parameter: file',
    ],
    ['an empty form', '--xyz--\r\n', undefined, 400, 'missing required parameter: file'],
    ['an empty body', '', undefined, 400, ''],
    [
      'a file under another name',
      handMade([{ head: file.replace('"file"', '"attachment"'), bytes: PNG }]),
      undefined,
      400,
      'missing required parameter: file',
    ],
    [
      'a text instead of a file',
      handMade([{ head: 'Content-Disposition: form-data; name="file"', bytes: PNG }]),
      undefined,
      400,
      'file: must be a file',
    ],
    ['an empty file', handMade([{ head: file, bytes: Buffer.alloc(0) }]), undefined, 400, 'file: is empty'],
    [
      'two files',
      handMade([
        { head: file, bytes: PNG },
        { head: file, bytes: PNG },
      ]),
      undefined,
      400,
      'file: given more than once',
    ],
    [
      'three files',
      handMade(Array(3).fill({ head: file, bytes: PNG })),
      undefined,
      400,
      'file: given more than once',
    ],
    [
      'a form that ends in the middle',
      handMade([{ head: file, bytes: pattern(300_000) }], ''),
      undefined,
      400,
      'cannot be read',
    ],
    ['a form that ends in a head', '--xyz\r\nContent-Disposition: form-da', undefined, 400, ''],
    ['garbage', 'garbage', undefined, 400, ''],
    ['no boundary', handMade([{ head: file, bytes: PNG }]), 'multipart/form-data', 400, 'cannot be read'],
    ['JSON', '{"file":"x"}', 'application/json', 415, 'multipart/form-data'],
    ['a bare file', PNG, 'image/png', 415, 'multipart/form-data'],
    [
      'a hundred fields',
      handMade(Array(100).fill({ head: 'Content-Disposition: form-data; name="x"', bytes: PNG })),
      undefined,
      400,
      '',
    ],
    [
      'a field that reaches for prototypes',
      handMade([{ head: file.replace('"file"', '"__proto__"'), bytes: PNG }]),
      undefined,
      400,
      '',
    ],
  ])('%s is refused and leaves nothing behind', async (_name, body, type, status, message) => {
    const before = [await rows(world), (await blobs(world)).length]
    const reply = await post(world, body, type)
    expect(reply).toMatchObject({
      status,
      body: { status: 'ERROR', message: expect.stringContaining(message) },
    })
    expect([await rows(world), (await blobs(world)).length]).toEqual(before)
  })

  it('100 MB is the limit, while streaming: exactly that is taken, one byte more is 413', async () => {
    const before = [await rows(world), (await blobs(world)).length]
    const streamed = async (size: number) => {
      async function* body() {
        yield Buffer.from(`--xyz\r\n${file}\r\n\r\n`)
        const piece = Buffer.alloc(MB, 1)
        for (let left = size; left > 0; left -= MB) yield left >= MB ? piece : piece.subarray(0, left)
        yield Buffer.from('\r\n--xyz--\r\n')
      }
      const reply = await fetch(`${world.app.url()}/api/upload-file`, {
        method: 'POST',
        headers: { ...credentials('live'), 'content-type': 'multipart/form-data; boundary=xyz' },
        body: body() as never,
        duplex: 'half',
      } as RequestInit)
      return { status: reply.status, body: (await reply.json()) as Json }
    }
    const memory = process.memoryUsage().rss
    expect(await streamed(100 * MB + 1)).toMatchObject({
      status: 413,
      body: { status: 'ERROR', message: 'file: is larger than 100 MB' },
    })
    expect([await rows(world), (await blobs(world)).length]).toEqual(before)
    const taken = await streamed(100 * MB)
    expect(taken.status).toBe(201)
    // Neither way in held it whole.
    expect((process.memoryUsage().rss - memory) / MB).toBeLessThan(150)
    const head = await fetch(taken.body.media_url, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(100 * MB))
    const length = await fetch(`${world.app.url()}/api/upload-file`, {
      method: 'POST',
      headers: { ...credentials('live'), 'content-type': 'multipart/form-data; boundary=xyz' },
      body: Buffer.alloc(102 * MB),
    })
    expect(length.status).toBe(413)
  })

  it('an upload that breaks off leaves nothing behind', async () => {
    const before = [await rows(world), (await blobs(world)).length]
    const cut = new AbortController()
    async function* body() {
      yield Buffer.from(`--xyz\r\n${file}\r\n\r\n`)
      yield pattern(700_000)
      // The server has begun to write it.
      await expect.poll(async () => (await blobs(world)).length).toBe(before[1]! + 1)
      cut.abort()
      yield pattern(700_000)
    }
    await expect(
      fetch(`${world.app.url()}/api/upload-file`, {
        method: 'POST',
        headers: { ...credentials('live'), 'content-type': 'multipart/form-data; boundary=xyz' },
        body: body() as never,
        duplex: 'half',
        signal: cut.signal,
      } as RequestInit),
    ).rejects.toThrow()
    await expect.poll(async () => [await rows(world), (await blobs(world)).length]).toEqual(before)
  })

  it('a slow line may take longer than other requests', async () => {
    const http = world.app.server.server
    const { requestTimeout, headersTimeout } = http
    Object.assign(http, { requestTimeout: 400, headersTimeout: 300 })
    try {
      const post = (path: string, type: string, body: AsyncIterable<Buffer>) =>
        fetch(`${world.app.url()}${path}`, {
          method: 'POST',
          headers: { ...credentials('live'), 'content-type': type },
          body: body as never,
          duplex: 'half',
        } as RequestInit).then(
          (reply) => reply.status,
          () => 'cut off',
        )
      async function* stalled() {
        yield Buffer.from('{"media')
        await new Promise(() => {})
      }
      // The upload goes on after a younger request has been cut off for taking too long.
      let younger: number | string | undefined
      async function* upload() {
        yield Buffer.from(`--xyz\r\n${file}\r\n\r\n`)
        yield PNG
        younger = await post('/api/upload-media-object', 'application/json', stalled())
        yield pattern(1000)
        yield Buffer.from('\r\n--xyz--\r\n')
      }
      expect(await post('/api/upload-file', 'multipart/form-data; boundary=xyz', upload())).toBe(201)
      expect([408, 'cut off']).toContain(younger)
    } finally {
      Object.assign(http, { requestTimeout, headersTimeout })
    }
  })

  it('the same Idempotency-Key stores one file; with another file it is refused', async () => {
    const before = [await rows(world), (await blobs(world)).length]
    const headers = { 'idempotency-key': 'upload-1' }
    const answers = await Promise.all([1, 2, 3].map(() => upload(world, formOf(PNG), { headers })))
    expect(answers.map((one) => one.status)).toEqual([201, 201, 201])
    expect(new Set(answers.map((one) => one.body.media_url)).size).toBe(1)
    expect(answers.filter((one) => one.headers.get('x-idempotent-replay')).length).toBe(2)
    expect((await upload(world, formOf(JPEG), { headers })).status).toBe(422)
    expect([await rows(world), (await blobs(world)).length]).toEqual(before.map((n) => n! + 1))
    // Without a key, the same file twice is two files.
    const [a, b] = [await upload(world, formOf(PNG)), await upload(world, formOf(PNG))]
    expect(a.body.media_url).not.toBe(b.body.media_url)
    // And a retry of the one before is the same.
    const again = await upload(world, formOf(PNG), { headers: { 'x-stainless-retry-count': '1' } })
    expect(again.body.media_url).toBe(b.body.media_url)
  })

  it('uploading needs a key of an account; reading needs none', async () => {
    for (const as of [null, { id: 'x', secret: 'y' }]) {
      expect((await upload(world, formOf(PNG), { as })).status).toBe(401)
      expect((await world.post('/api/upload-media-object', { media_url: files.url }, as)).status).toBe(401)
    }
    expect((await upload(world, formOf(PNG), { as: 'admin' })).status).toBe(403)
    const test = await upload(world, formOf(PNG), { as: 'test' })
    expect(test.status).toBe(201)
    expect((await fetch(test.body.media_url)).status).toBe(200)
  })
})
