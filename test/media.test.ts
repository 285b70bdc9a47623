import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileServer, GIF, JPEG, PNG, pattern, serve } from './support/files.js'
import { ADA, createWorld, credentials, ENGINES, type Json, type Who, type World } from './support/world.js'

const MB = 1_000_000
const DAY = 86_400_000

/** Uploads over a real connection. */
async function upload(
  world: World,
  form: FormData,
  { as = 'live' as Who, headers = {} as Record<string, string> } = {},
): Promise<{ status: number; body: Json; headers: Headers }> {
  const reply = await fetch(`${world.app.url()}/api/upload-file`, {
    method: 'POST',
    headers: { ...credentials(as), ...headers },
    body: form,
  })
  return { status: reply.status, body: await reply.json(), headers: reply.headers }
}

function formOf(bytes: Uint8Array, name = 'photo.png', type = ''): FormData {
  const form = new FormData()
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), name)
  return form
}

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

async function rows(world: World): Promise<number> {
  return (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from media'))!.n
}

/** Everything that holds bytes, finished or not. */
async function blobs(world: World): Promise<string[]> {
  if (world.engine === 'sqlite') {
    try {
      return readdirSync(join(world.config.data, 'media'))
    } catch {
      return []
    }
  }
  const { db } = world.app.ctx
  const chunks = await db.all<{ name: string }>('select distinct name from media_chunks')
  const drafts = await db.all<{ name: string }>('select name from media_drafts')
  return [...chunks.map((row) => row.name), ...drafts.map((row) => `${row.name}.part`)]
}

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

  it('stores a file and serves the same bytes at an address that ends in its extension', async () => {
    const sent = await upload(world, formOf(PNG))
    expect(sent).toMatchObject({
      status: 201,
      body: { status: 'OK', message: expect.any(String), mediaObjectId: expect.any(String) },
    })
    const { media_url } = sent.body
    expect(media_url).toMatch(new RegExp(`^${world.app.url()}/media/[0-9A-Za-z]{22}\\.png$`))
    const got = await fetch(media_url)
    expect(got.status).toBe(200)
    expect(Buffer.from(await got.arrayBuffer())).toEqual(PNG)
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'content-disposition': expect.stringMatching(/^inline; filename="[0-9A-Za-z]{22}\.png"$/),
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })

  it('a file of 5 MB comes back byte for byte, whole and in ranges', async () => {
    const bytes = pattern(5 * MB + 12_345)
    const { body } = await upload(world, formOf(bytes, 'film.mp4', 'video/mp4'))
    const ask = async (headers: Record<string, string> = {}, method = 'GET') => {
      const reply = await fetch(body.media_url, { headers, method })
      return {
        status: reply.status,
        range: reply.headers.get('content-range'),
        length: reply.headers.get('content-length'),
        bytes: Buffer.from(await reply.arrayBuffer()),
        etag: reply.headers.get('etag')!,
      }
    }
    const whole = await ask()
    expect(whole.bytes.equals(bytes)).toBe(true)
    for (const [from, to] of [
      [0, 0],
      [0, 99],
      [262_143, 262_144],
      [262_144, 524_287],
      [1_000_000, 3_999_999],
      [bytes.length - 1, bytes.length - 1],
    ] as const) {
      const part = await ask({ range: `bytes=${from}-${to}` })
      expect(part).toMatchObject({
        status: 206,
        range: `bytes ${from}-${to}/${bytes.length}`,
        length: String(to - from + 1),
      })
      expect(part.bytes.equals(bytes.subarray(from, to + 1))).toBe(true)
    }
    const tail = await ask({ range: 'bytes=-10' })
    expect(tail.bytes.equals(bytes.subarray(-10))).toBe(true)
    expect(await ask({ range: `bytes=${bytes.length}-` })).toMatchObject({
      status: 416,
      range: `bytes */${bytes.length}`,
    })
    expect(await ask({ range: 'bytes=0-1,5-6' })).toMatchObject({ status: 200 })
    expect(await ask({ range: 'bytes=0-1', 'if-range': '"other"' })).toMatchObject({ status: 200 })
    expect(await ask({ range: 'bytes=0-1', 'if-range': whole.etag })).toMatchObject({ status: 206 })
    expect(await ask({ 'if-none-match': `"x", W/${whole.etag}` })).toMatchObject({ status: 304 })
    const head = await ask({}, 'HEAD')
    expect(head).toMatchObject({ status: 200, length: String(bytes.length), bytes: Buffer.alloc(0) })
  })

  it.each<[string, Buffer, string, string, string, string]>([
    ['magic bytes over type and name', PNG, 'a.gif', 'image/jpeg', 'png', 'image/png'],
    ['JPEG', JPEG, 'a', '', 'jpg', 'image/jpeg'],
    ['GIF', GIF, 'a', '', 'gif', 'image/gif'],
    ['the type when bytes say nothing', Buffer.from('?'), 'a.xyz', 'audio/x-m4a', 'm4a', 'audio/mp4'],
    [
      'the name when neither does',
      Buffer.from('?'),
      'Voice.CAF',
      'application/octet-stream',
      'caf',
      'audio/x-caf',
    ],
    ['nothing at all', Buffer.from('?'), 'noname', '', 'bin', 'application/octet-stream'],
  ])('extension: %s', async (_name, bytes, name, type, extension, served) => {
    const { body } = await upload(world, formOf(bytes, name, type))
    expect(body.media_url).toMatch(new RegExp(`\\.${extension}$`))
    const reply = await fetch(body.media_url, { method: 'HEAD' })
    expect(reply.headers.get('content-type')).toBe(served)
  })

  it.each([
    ['page.html', 'text/html', '<script>alert(1)</script>'],
    ['pic.svg', 'image/svg+xml', '<svg onload="alert(1)"/>'],
    ['code.js', 'text/javascript', 'alert(1)'],
    ['card.vcf', 'text/vcard', 'BEGIN:VCARD\r\nEND:VCARD'],
    ['doc.pdf', 'application/pdf', '%PDF-1.7'],
    ['pic.png', 'image/svg+xml', '<svg onload="alert(1)"/>'],
  ])('%s cannot run in a browser', async (name, type, text) => {
    const { body } = await upload(world, formOf(Buffer.from(text), name, type))
    const reply = await fetch(body.media_url)
    expect(reply.headers.get('content-type')).not.toMatch(/html|svg|script|xml/)
    if (name !== 'pic.png') expect(reply.headers.get('content-disposition')).toMatch(/^attachment/)
    expect(reply.headers.get('content-security-policy')).toBe('sandbox')
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
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
  }, 60_000)

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
      const slowly = (path: string, type: string, parts: (Buffer | string)[]) => {
        async function* body() {
          for (const part of parts) {
            yield Buffer.from(part)
            // Longer than the server's own look at its connections, which it takes every second.
            await new Promise((resolve) => setTimeout(resolve, 700))
          }
        }
        return fetch(`${world.app.url()}${path}`, {
          method: 'POST',
          headers: { ...credentials('live'), 'content-type': type },
          body: body() as never,
          duplex: 'half',
        } as RequestInit).then(
          (reply) => reply.status,
          () => 'cut off',
        )
      }
      const form = [`--xyz\r\n${file}\r\n\r\n`, PNG, pattern(1000), '\r\n--xyz--\r\n']
      const [patient, impatient] = await Promise.all([
        slowly('/api/upload-file', 'multipart/form-data; boundary=xyz', form),
        slowly('/api/upload-media-object', 'application/json', ['{"media', '_url"', ':"x"', '}']),
      ])
      expect(patient).toBe(201)
      expect([408, 'cut off']).toContain(impatient)
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

  it('what is not there is 404, whatever is asked for', async () => {
    const { body } = await upload(world, formOf(PNG))
    const name = /\/media\/(\w+)\.png$/.exec(body.media_url)![1]!
    for (const path of [
      `${'x'.repeat(22)}.png`,
      `${name}`,
      `${name}.jpg`,
      `${name}.PNG`,
      `${name.toLowerCase()}.png`,
      `${name}.png.part`,
      `${name}.png%00`,
      '..%2f..%2ftrunkline.db',
      '%2e%2e%2ftrunkline.db',
      'trunkline.db',
      "' or 1=1 --",
      'x'.repeat(500),
    ]) {
      const reply = await world.call('GET', `/media/${path}`, { as: null })
      expect([path, reply.status === 404 || (path.includes('%00') && reply.status === 400)]).toEqual([
        path,
        true,
      ])
    }
    expect((await world.call('POST', `/media/${name}.png`, { as: null })).status).toBe(405)
    expect((await world.call('DELETE', `/media/${name}.png`, { as: null })).status).toBe(405)
  })

  it.runIf(engine === 'sqlite')('files are for the owner only', async () => {
    await upload(world, formOf(PNG))
    const folder = join(world.config.data, 'media')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  })

  it('an uploaded file can be sent, and the phone shows it', async () => {
    const { body } = await upload(world, formOf(PNG))
    const sent = await world.send({ content: '', media_url: body.media_url })
    expect(sent).toMatchObject({ status: 'QUEUED', media_url: body.media_url })
    await world.advance(1000)
    const shown = (await world.inbox(ADA)).at(-1)
    expect(shown).toMatchObject({ media_url: body.media_url, message_handle: sent.message_handle })
    expect(Buffer.from(await (await fetch(shown.media_url)).arrayBuffer())).toEqual(PNG)
  })
})

describe.each(ENGINES)('media that grows old on %s', (engine) => {
  it('is removed when its time is over: uploads by TRUNKLINE_MEDIA_DAYS, inbound after 30 days', async () => {
    const world = await createWorld(engine, { env: { TRUNKLINE_MEDIA_DAYS: '60' } })
    try {
      const { body } = await upload(world, formOf(PNG))
      await world.text(ADA, '', { media: { name: 'a.png', base64: PNG.toString('base64') } })
      await world.settle()
      const inbound = (await world.get('/api/v2/messages?is_outbound=false')).body.data[0].media_url
      const status = async (url: string) =>
        (await world.call('GET', new URL(url).pathname, { as: null })).status
      const aged = await world.call('GET', new URL(inbound).pathname, { as: null })
      expect(aged.headers['cache-control']).toBe(`public, max-age=${30 * 86_400}, immutable`)
      await world.advance(30 * DAY - 1)
      expect([await status(inbound), await status(body.media_url)]).toEqual([200, 200])
      await world.advance(1)
      expect([await status(inbound), await status(body.media_url)]).toEqual([404, 200])
      await world.restart()
      expect([await rows(world), (await blobs(world)).length]).toEqual([1, 1])
      await world.advance(30 * DAY)
      expect(await status(body.media_url)).toBe(404)
      await world.restart()
      expect([await rows(world), (await blobs(world)).length]).toEqual([0, 0])
    } finally {
      await world.close()
    }
  })

  it('uploads stay for ever without that setting', async () => {
    const world = await createWorld(engine)
    try {
      const { body } = await upload(world, formOf(PNG))
      await world.advance(366 * DAY)
      await world.restart()
      expect((await world.call('GET', new URL(body.media_url).pathname, { as: null })).status).toBe(200)
    } finally {
      await world.close()
    }
  })
})

describe.each(ENGINES)('TRUNKLINE_PUBLIC_URL on %s', (engine) => {
  it('stands in every address, and what has it can be sent although it is private', async () => {
    const world = await createWorld(engine, { env: { TRUNKLINE_PUBLIC_URL: 'http://10.1.2.3:8080/sms/' } })
    try {
      const { body } = await upload(world, formOf(PNG))
      expect(body.media_url).toMatch(/^http:\/\/10\.1\.2\.3:8080\/sms\/media\/\w{22}\.png$/)
      expect((await world.send({ media_url: body.media_url })).status).toBe('QUEUED')
      expect((await world.post('/api/upload-media-object', { media_url: body.media_url })).status).toBe(201)
      // Nothing else there.
      for (const url of ['http://10.1.2.3:8080/sms/admin', 'http://10.1.2.3:8080/sms/media/../admin'])
        expect((await world.send({ media_url: url })).status).toBe('ERROR')
    } finally {
      await world.close()
    }
  })
})
