import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type FileServer, PNG, serve } from '../support/files.js'
import { createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('media of sends on simulated lines, on %s', (engine) => {
  let world: World
  let files: FileServer
  const asked: string[] = []
  beforeAll(async () => {
    files = await serve((request, response) => {
      asked.push(request.url!)
      if (request.url === '/gone.png') return void response.writeHead(404).end()
      response.setHeader('content-type', request.url === '/film' ? 'video/mp4' : 'image/png')
      response.end(request.url === '/film' ? 'film' : PNG)
    })
    world = await createWorld(engine)
  })
  afterAll(async () => {
    await world.close()
    await files.close()
  })

  /** Fetching uses sockets, which `settle` does not wait for. */
  const ended = (handle: string): Promise<Json> =>
    vi.waitFor(async () => {
      await world.advance(1000)
      const record = await world.record(handle)
      expect(['DELIVERED', 'ERROR']).toContain(record.status)
      return record
    }, 60_000)
  const sent = async (path: string) =>
    ended((await world.send({ media_url: `${files.url}/${path}` })).message_handle)
  const summary = async ({ message_handle }: Json) =>
    JSON.stringify((await world.get(`/v3/messages/${message_handle}/why`)).body.data)

  it('does not fetch a link by default, and why says so', async () => {
    const record = await sent('gone.png')
    expect(record.status).toBe('DELIVERED')
    expect(asked).toEqual([])
    expect(await summary(record)).toContain('media_url was not checked')
    const plain = await ended((await world.send()).message_handle)
    expect(await summary(plain)).not.toContain('was not checked')
  })

  it('with media: checked, fetches the link and fails where it cannot', async () => {
    await world.setLine(LINE, { config: { media: 'checked' } })
    const good = await sent('photo.png')
    expect(good.status).toBe('DELIVERED')
    expect(await summary(good)).not.toContain('was not checked')
    const dead = await sent('gone.png')
    expect(dead).toMatchObject({ status: 'ERROR', error_reason: 'refused' })
    expect(dead.error_detail).toBe('sim.media: The media answered 404 instead of the file')
    expect(asked).toEqual(['/photo.png', '/gone.png'])
    const media_urls = ['photo', 'film'].map((path) => `${files.url}/${path}`)
    const carousel = { from_number: LINE, number: good.number, media_urls }
    const { message_handle } = (await world.post('/api/send-carousel', carousel)).body
    expect((await ended(message_handle)).error_detail).toContain('is no image but video/mp4')
    await world.setLine(LINE, { config: {} })
  })
})
