import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GIF, JPEG, PNG, pattern } from '../support/files.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'
import { blobs, formOf, MB, rows, upload } from './support.js'

const DAY = 86_400_000

describe.each(ENGINES)('media on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

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
