import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileServer, JPEG, PNG, serve } from '../../support/files.js'
import { ADA, BOB, CLEO, createWorld, ENGINES, type Json, LINE, type World } from '../../support/world.js'

const UNREACHABLE = 'could not be fetched: the address cannot be reached or is not allowed'

describe.each(ENGINES)('media that people send, on %s', (engine) => {
  let world: World
  let files: FileServer
  let release = () => {}
  const hits: string[] = []
  beforeAll(async () => {
    world = await createWorld(engine)
    files = await serve((request, response) => {
      hits.push(request.url!)
      if (request.url === '/gone.jpg') return void response.writeHead(404).end()
      if (request.url === '/empty.jpg') return void response.end()
      if (request.url === '/break.jpg') {
        response.writeHead(200, { 'content-length': '1000' }).write('x')
        return void setImmediate(() => response.destroy())
      }
      if (request.url === '/slow.jpg') {
        release = () => void response.end(JPEG)
        return
      }
      response.end(JPEG)
    })
  })
  afterAll(async () => {
    await files.close()
    await world.close()
  })

  const received = async (): Promise<Json[]> =>
    (await world.get('/api/v2/messages?is_outbound=false&order_direction=asc&limit=1000')).body.data
  const last = async () => (await received()).at(-1)
  const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

  it('has an address of ours that ends in the right extension', async () => {
    const sent = await world.text(ADA, 'look', { media_url: `${files.url}/photo?sig=secret` })
    await world.settle()
    const message = await last()
    expect(message).toMatchObject({
      content: 'look',
      status: 'RECEIVED',
      from_number: ADA,
      sendblue_number: LINE,
    })
    expect(message.media_url).toMatch(new RegExp(`^${world.app.url()}/media/\\w{22}\\.jpg$`))
    expect(await bytesAt(message.media_url)).toEqual(JPEG)
    const [event] = (await world.events()).filter((one) => one.type === 'message.received')
    expect(event.subject).toBe(message.message_handle)
    const shown = (await world.get(`/sim/phones/${ADA}/inbox`)).body.data.find(
      (one: Json) => one.id === sent.id,
    )
    expect(shown).toMatchObject({ direction: 'out', arrived_at: expect.any(String) })
  })

  it('without a text has an empty one, never null', async () => {
    await world.text(ADA, '', { media_url: `${files.url}/photo` })
    await world.settle()
    expect(await last()).toMatchObject({ content: '', media_url: expect.stringMatching(/\.jpg$/) })
  })

  it('can be a file on the phone', async () => {
    const before = hits.length
    const media = { name: 'note.caf', base64: PNG.toString('base64') }
    await world.text(ADA, 'from my album', { media })
    await world.settle()
    const { media_url } = await last()
    expect(media_url).toMatch(/\/media\/\w{22}\.png$/)
    expect(await bytesAt(media_url)).toEqual(PNG)
    expect(hits).toHaveLength(before)
    await world.text(ADA, '', { media: { name: 'note.caf', base64: 'AAAA' } })
    await world.settle()
    expect((await last()).media_url).toMatch(/\.caf$/)
  })

  it.each<[string, Json, number]>([
    ['no base64', { name: 'a.png', base64: '%%%' }, 400],
    ['base64 in lines', { name: 'a.png', base64: 'AA\nAA' }, 400],
    ['nothing', { name: 'a.png', base64: '' }, 400],
    ['padding only', { name: 'a.png', base64: '=' }, 400],
    ['one character', { name: 'a.png', base64: 'A' }, 400],
    ['no name', { base64: 'AAAA' }, 400],
    ['a text', 'AAAA', 400],
    ['11 MB', { name: 'a.png', base64: 'A'.repeat((11_000_000 / 3) * 4) }, 413],
    ['20 MB', { name: 'a.png', base64: 'A'.repeat((20_000_000 / 3) * 4) }, 413],
  ])('a file of %s is refused', async (_name, media, status) => {
    const before = (await received()).length
    const reply = await world.post(`/sim/phones/${ADA}/messages`, { to: LINE, media })
    expect(reply).toMatchObject({ status, body: { error: { message: expect.any(String) } } })
    await world.settle()
    expect(await received()).toHaveLength(before)
  })

  it('of a refused or repeated message is not kept', async () => {
    const count = async () =>
      (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from media'))!.n
    const before = await count()
    const media = { name: 'a.png', base64: PNG.toString('base64') }
    const path = `/sim/phones/${ADA}/messages`
    expect((await world.post(path, { to: '+12025550199', media })).status).toBe(400)
    expect(await count()).toBe(before)
    const headers = { 'idempotency-key': 'album-1' }
    const answers = await Promise.all(
      [1, 2].map(() => world.post(path, { to: LINE, media }, 'live', headers)),
    )
    expect(answers.map((one) => one.status)).toEqual([201, 201])
    await world.settle()
    expect(await count()).toBe(before + 1)
  })

  it('that is ours already stays where it is, and is copied when it is of another account', async () => {
    const own = (await world.post('/api/upload-media-object', { media_url: `${files.url}/a` })).body.media_url
    const other = (await world.post('/api/upload-media-object', { media_url: `${files.url}/a` }, 'test')).body
      .media_url
    await world.text(ADA, 'own', { media_url: own })
    await world.settle()
    expect((await last()).media_url).toBe(own)
    await world.text(ADA, 'other', { media_url: other })
    await world.settle()
    const { media_url } = await last()
    expect(media_url).not.toBe(other)
    expect(await bytesAt(media_url)).toEqual(JPEG)
  })

  it.each<[string, (base: string) => string, 'stays' | 'empty', string]>([
    ['is gone', (base) => `${base}/gone.jpg`, 'stays', 'answered 404 instead of the file'],
    ['is empty', (base) => `${base}/empty.jpg`, 'stays', 'is empty'],
    ['breaks off', (base) => `${base}/break.jpg`, 'stays', UNREACHABLE],
    ['nobody has', () => 'http://127.0.0.1:9/x.jpg', 'stays', UNREACHABLE],
    [
      'is at an address we do not call',
      () => 'https://10.0.0.1/x.jpg',
      'empty',
      'must not point to a private or reserved address',
    ],
    ['is on plain http', () => 'http://example.com/x.jpg', 'empty', 'must be an https URL'],
    ['is no URL', () => 'photo.jpg', 'empty', 'must be a URL'],
    ['is a file: URL', () => 'file:///etc/passwd', 'empty', 'must be an https URL'],
    [
      'is ours and does not exist',
      () => `${world.app.url()}/media/${'x'.repeat(22)}.jpg`,
      'stays',
      'is no media we have',
    ],
  ])('that %s loses no message, and the log says why', async (name, url, outcome, reason) => {
    world.logs.length = 0
    const address = url(files.url)
    await world.text(ADA, `it ${name}`, { media_url: address })
    await world.settle()
    expect(await last()).toMatchObject({
      content: `it ${name}`,
      media_url: outcome === 'stays' ? address : '',
    })
    const line = world.logs.find((one) => one.includes('inbound media stays'))!
    expect(JSON.parse(line).reason).toBe(reason)
    expect(line).not.toContain(address)
    expect(line).not.toContain(ADA)
  })

  it('holds up later messages of the same person, in their order, and nobody else', async () => {
    const before = (await received()).length
    await world.text(ADA, 'first')
    await world.text(ADA, 'slow', { media_url: `${files.url}/slow.jpg` })
    await world.text(ADA, 'third')
    await world.text(BOB, 'passes')
    await expect.poll(() => hits.at(-1)).toBe('/slow.jpg')
    await world.text(CLEO, 'passes too')
    await world.text(ADA, 'fourth')
    const contents = async () => (await received()).slice(before).map((one) => one.content)
    await expect.poll(contents).toEqual(['first', 'passes', 'passes too'])
    // Sending goes on, and so do receipts.
    const sent = await world.send({ number: BOB })
    await expect.poll(async () => (await world.status(sent.message_handle)).status).toBe('SENT')
    release()
    await world.settle()
    expect(await contents()).toEqual(['first', 'passes', 'passes too', 'slow', 'third', 'fourth'])
    expect((await received()).find((one) => one.content === 'slow').media_url).toMatch(
      /\/media\/\w{22}\.jpg$/,
    )
  })

  it('is fetched again after a restart in the middle, and the message comes once', async () => {
    const asked = hits.filter((one) => one === '/slow.jpg').length
    await world.text(ADA, 'through a restart', { media_url: `${files.url}/slow.jpg` })
    await expect.poll(() => hits.filter((one) => one === '/slow.jpg').length).toBe(asked + 1)
    await world.restart()
    // The message was due before the new server knew its own address.
    const later = world.advance(2000)
    await expect.poll(() => hits.filter((one) => one === '/slow.jpg').length).toBeGreaterThan(asked + 1)
    release()
    await later
    const found = (await received()).filter((one) => one.content === 'through a restart')
    expect(found).toMatchObject([{ media_url: expect.stringMatching(/\/media\/\w{22}\.jpg$/) }])
  })
})
