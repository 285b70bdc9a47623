import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { importModule } from '../../src/base/import.js'
import { TEXT_ONLY } from '../../src/core/lines/line.js'
import { fitMedia } from '../../src/services/media/fit.js'
import { sweepMedia } from '../../src/services/media/retention.js'
import { type FileServer, PNG, pattern, serve } from '../support/files.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'
import { blobs, formOf, MB, rows, upload } from './support.js'

const NUMBER = '+12025550170'
const ANNA = '+12025558301'
const BEN = '+12025558302'
const LIMITS = { 'image/jpeg': MB, 'image/gif': MB / 2, 'video/mp4': MB, 'image/png': MB }
const DAY_MS = 86_400_000
const MOVIE = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypisom'), pattern(2 * MB)])

const sharp: Json = await importModule<{ default: Json }>('sharp').then(
  (library) => library.default,
  () => undefined,
)
if (!sharp) console.warn('the optional package sharp is not installed: images are not made smaller here')

/** A photo of several megabytes. */
const photo: Buffer | undefined = await sharp?.({
  create: {
    width: 3000,
    height: 2000,
    channels: 3,
    background: '#888',
    noise: { type: 'gaussian', mean: 128, sigma: 40 },
  },
})
  .jpeg({ quality: 95 })
  .toBuffer()

describe.each(ENGINES)('media for a carrier with limits, on %s', (engine) => {
  let world: World
  let puppet: Puppet
  let files: FileServer
  const kept = new Map<string, Buffer>()
  const asked: string[] = []
  let status = 200
  let gate: Promise<void> = Promise.resolve()

  beforeAll(async () => {
    files = await serve(async (request, response) => {
      asked.push(request.url!)
      if (request.url!.startsWith('/slow')) await gate
      const body = kept.get(request.url!.slice(1))
      if (status !== 200 || !body) return void response.writeHead(status === 200 ? 404 : status).end()
      response.end(body)
    })
    kept.set('small.png', PNG)
    kept.set('slow.png', PNG)
    kept.set('film.mp4', MOVIE)
    if (photo) kept.set('photo.jpg', photo)
  })
  afterAll(() => files.close())

  async function begin(options: { sharp?: () => Promise<never> } = {}) {
    puppet = createPuppet()
    puppet.capabilities = () => ({ ...TEXT_ONLY, media: true, mediaLimits: { SMS: LIMITS } })
    world = await createWorld(engine, { drivers: [puppet], ...options })
    const account_id = (await world.get('/admin/accounts', 'admin')).body.data[0].id
    await world.post('/admin/lines', { account_id, number: NUMBER, driver: 'puppet', pace: 0 }, 'admin')
    await world.settle()
  }
  beforeEach(async () => {
    asked.length = 0
    status = 200
    await begin()
  })
  afterEach(() => world.close())

  const send = async (fields: object): Promise<string> => {
    const reply = await world.post('/api/send-message', {
      from_number: NUMBER,
      number: ANNA,
      content: 'Look',
      ...fields,
    })
    await world.settle()
    return reply.body.message_handle
  }
  const at = (path: string) => `${files.url}/${path}`
  const why = async (handle: string): Promise<Json> =>
    (await world.get(`/v3/messages/${handle}/why`)).body.data
  const copyOf = async (url: string) => {
    const reply = await fetch(url)
    return { type: reply.headers.get('content-type'), body: Buffer.from(await reply.arrayBuffer()) }
  }

  it('leaves a file that fits where it is, and fetches nothing for a text', async () => {
    await send({ media_url: at('small.png') })
    await send({})
    expect(puppet.sent.map(({ mediaUrl }) => mediaUrl)).toEqual([at('small.png'), ''])
    expect(asked).toEqual(['/small.png'])
    expect(await rows(world)).toBe(0)
    const lines = (await world.get('/v3/lines')).body.data
    expect(lines.find(({ number }: Json) => number === NUMBER).features).toEqual(['media'])
  })

  it('knows the size of an upload without reading it', async () => {
    const form = await upload(world, formOf(PNG))
    await send({ media_url: form.body.media_url })
    expect(puppet.sent[0]!.mediaUrl).toBe(form.body.media_url)
    const film = await upload(world, formOf(MOVIE, 'film.mp4'))
    const handle = await send({ media_url: film.body.media_url })
    expect((await world.record(handle)).error_detail).toContain('is 2.1 MB of video/mp4')
  })

  it('refuses a film that is too large, and says what to do', async () => {
    const handle = await send({ media_url: at('film.mp4') })
    expect(puppet.sent).toEqual([])
    const record = await world.record(handle)
    expect(record).toMatchObject({
      status: 'ERROR',
      error_code: 10001,
      error_reason: 'media',
      error_message: 'The media of the message could not be sent',
    })
    expect(record.error_detail).toMatch(
      /^The media is more than 1 MB of video\/mp4; the carrier of this line takes at most 1 MB of it\. Send another file\.$/,
    )
    const story = await why(handle)
    expect(story.verdict).toBe('media_refused')
    expect(story.summary).toContain('nothing of the message was sent. The media is more than')
    expect(JSON.stringify(story.steps)).toContain('it was not sent (media: The media is more than')
  })

  it('refuses a type that the carrier does not take', async () => {
    kept.set('paper.pdf', Buffer.from('%PDF-1.4 and so on'))
    const handle = await send({ media_url: at('paper.pdf') })
    expect((await world.record(handle)).error_detail).toBe(
      'The media is application/pdf, which the carrier of this line does not take. Send another file.',
    )
  })

  it('tries again while the file cannot be fetched, and sends once it can', async () => {
    status = 503
    const handle = await send({ media_url: at('small.png') })
    expect(await world.status(handle)).toMatchObject({ status: 'QUEUED' })
    expect((await why(handle)).verdict).toBe('retrying')
    status = 200
    await world.advance(2000)
    expect(puppet.sent).toHaveLength(1)
    expect((await world.record(handle)).status).toBe('ACCEPTED')
    const gone = await send({ media_url: at('gone.png'), number: BEN })
    expect((await world.record(gone)).error_detail).toBe('The media answered 404 instead of the file')
    status = 503
    const never = await send({ media_url: at('small.png') })
    await world.advance(600_000)
    expect((await world.record(never)).error_detail).toBe(
      'The media answered 503 instead of the file (8 attempts)',
    )
    expect(puppet.sent).toHaveLength(1)
  })

  it('lets other conversations go ahead of a slow file, and keeps the order of its own', async () => {
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const body = { from_number: NUMBER, number: ANNA, content: 'first', media_url: at('slow.png') }
    await world.post('/api/send-message', body)
    await expect.poll(() => asked).toEqual(['/slow.png'])
    await world.post('/api/send-message', { from_number: NUMBER, number: ANNA, content: 'second' })
    await world.post('/api/send-message', { from_number: NUMBER, number: BEN, content: 'other' })
    await expect.poll(() => puppet.sent.map(({ content }) => content)).toEqual(['other'])
    open()
    await world.settle()
    expect(puppet.sent.map(({ content }) => content)).toEqual(['other', 'first', 'second'])
  })

  it('without sharp, refuses a picture that is too large and names the package', async () => {
    await world.close()
    await begin({ sharp: () => Promise.reject(new Error('Cannot find package')) })
    kept.set('large.jpg', Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), pattern(2 * MB)]))
    const handle = await send({ media_url: at('large.jpg') })
    expect(puppet.sent).toEqual([])
    expect((await world.record(handle)).error_detail).toBe(
      'The media is 2.1 MB of image/jpeg; the carrier of this line takes at most 1 MB of it. It cannot be made smaller here, because the package sharp is not installed. Install it beside Trunkline (npm install sharp) or send a smaller file.',
    )
  })

  describe.skipIf(!photo)('with sharp', () => {
    it('sends a smaller copy of a picture, and tells so', async () => {
      const handle = await send({ media_url: at('photo.jpg') })
      const { mediaUrl } = puppet.sent[0]!
      const { type, body } = await copyOf(mediaUrl)
      expect(type).toBe('image/jpeg')
      expect(body.length).toBeLessThan(MB)
      expect((await sharp(body).metadata()).width).toBeGreaterThan(1200)
      expect((await world.record(handle)).media_url).toBe(at('photo.jpg'))
      expect((await why(handle)).summary).toMatch(/got a smaller copy \(\d+ KB, image\/jpeg\)/)
    })

    it('makes one copy for all attempts of a message, also after a restart', async () => {
      puppet.acts.send = async () => ({ outcome: 'never-left', code: 'busy', detail: 'Later' })
      await send({ media_url: at('photo.jpg') })
      await world.advance(1000)
      await world.restart()
      await world.advance(4000)
      const urls = new Set(puppet.sent.map(({ mediaUrl }) => new URL(mediaUrl).pathname))
      expect(puppet.sent.length).toBeGreaterThan(2)
      expect(urls.size).toBe(1)
      expect(await blobs(world)).toHaveLength(1)
      expect(asked).toEqual(['/photo.jpg'])
    })

    it('makes one copy even at the same time, and a new one for tighter limits', async () => {
      const { ctx } = world.app
      const accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
      const message = { handle: 'one', accountId, mediaUrl: at('photo.jpg') }
      const made = await Promise.all([1, 2, 3].map(() => fitMedia(ctx, message, LIMITS)))
      expect(new Set(made.map((fit) => JSON.stringify(fit))).size).toBe(1)
      expect(await blobs(world)).toHaveLength(1)
      const tight = await fitMedia(ctx, message, { '*': 100_000 })
      expect(tight).not.toEqual(made[0])
      expect((await copyOf((tight as { mediaUrl: string }).mediaUrl)).body.length).toBeLessThan(100_000)
      expect(await blobs(world)).toHaveLength(1)
      const none = await fitMedia(ctx, message, { '*': 100 })
      expect(JSON.stringify(none)).toContain('It cannot be made small enough')
      expect(await rows(world)).toBe(0)
    })

    it('removes copies after 30 days, and with the person they were sent to', async () => {
      await send({ media_url: at('photo.jpg') })
      await world.advance(29 * DAY_MS)
      await sweepMedia(world.app.ctx, false)
      expect(await rows(world)).toBe(1)
      await world.post('/admin/erasures', { person: ANNA }, 'admin')
      await world.advance(20 * 60_000)
      expect(await blobs(world)).toEqual([])
      await send({ media_url: at('photo.jpg'), number: BEN })
      expect(await rows(world)).toBe(1)
      await world.advance(31 * DAY_MS)
      await sweepMedia(world.app.ctx, false)
      expect(await blobs(world)).toEqual([])
    })

    it('refuses a picture that would decode to an enormous one', async () => {
      const bomb = sharp({
        create: { width: 9000, height: 9000, channels: 3, background: '#888' },
        limitInputPixels: false,
      })
      const small = await bomb.png({ compressionLevel: 9 }).toBuffer()
      kept.set('bomb.png', Buffer.concat([small, Buffer.alloc(MB)]))
      const handle = await send({ media_url: at('bomb.png') })
      expect((await world.record(handle)).error_detail).toContain(
        'It has too many pixels to make it smaller (9000 x 9000; at most 60 million). Send a smaller picture.',
      )
      // The header lies about the size of the picture.
      const lie = Buffer.from(small)
      lie.writeUInt32BE(10, 16)
      kept.set('lie.png', Buffer.concat([lie, Buffer.alloc(MB)]))
      const second = await send({ media_url: at('lie.png') })
      expect((await world.record(second)).error_detail).toContain('It is damaged or of a kind that cannot')
      expect(puppet.sent).toEqual([])
    })

    it('keeps the motion of an animation', async () => {
      const frames = await Promise.all(
        [1, 2, 3, 4, 5, 6, 7, 8].map(() =>
          sharp({
            create: {
              width: 300,
              height: 300,
              channels: 3,
              background: '#888',
              noise: { type: 'gaussian', mean: 128, sigma: 60 },
            },
          })
            .png()
            .toBuffer(),
        ),
      )
      const moving = await sharp(frames, { join: { animated: true } })
        .gif({ effort: 1 })
        .toBuffer()
      expect(moving.length).toBeGreaterThan(MB / 2)
      kept.set('moving.gif', moving)
      await send({ media_url: at('moving.gif') })
      const { type, body } = await copyOf(puppet.sent[0]!.mediaUrl)
      expect(type).toBe('image/gif')
      expect(body.length).toBeLessThan(MB / 2)
      expect((await sharp(body).metadata()).pages).toBe(8)
    })
  })
})
