import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileServer, JPEG, serve } from '../support/files.js'
import { startProxy } from '../support/web/proxy.js'
import { ADA, createWorld, ENGINES, LINE, type World } from '../support/world.js'

const LIVE = { apiKey: 'dev-live-key', apiSecret: 'dev-live-secret' }

describe.each(ENGINES)('media through the published SDK on %s', (engine) => {
  let world: World
  let files: FileServer
  beforeAll(async () => {
    world = await createWorld(engine)
    files = await serve((request, response) => {
      if (request.url === '/gone.jpg') response.writeHead(404)
      response.end(JPEG)
    })
  })
  afterAll(async () => {
    await files.close()
    await world.close()
  })
  const count = async () => (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from media'))!.n

  it('mediaObjects.upload stores a file that can be sent', async () => {
    const client = new SendblueAPI({ baseURL: world.app.url(), ...LIVE })
    const { data, response } = await client.mediaObjects
      .upload({ media_url: `${files.url}/photo.jpg` })
      .withResponse()
    expect(response.status).toBe(201)
    expect(data).toMatchObject({
      status: 'OK',
      message: expect.any(String),
      mediaObjectId: expect.any(String),
    })
    const { media_url } = data as { media_url: string }
    await client.messages.send({ from_number: LINE, number: ADA, content: 'look', media_url })
    await world.advance(1000)
    const [shown] = await world.inbox(ADA)
    expect(shown).toMatchObject({ content: 'look', media_url })
    expect(Buffer.from(await (await fetch(shown.media_url)).arrayBuffer())).toEqual(JPEG)
  })

  it('a bad URL is a BadRequestError with the reason, and is not tried again', async () => {
    const client = new SendblueAPI({ baseURL: world.app.url(), ...LIVE })
    const before = await count()
    await expect(client.mediaObjects.upload({ media_url: `${files.url}/gone.jpg` })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('media_url: answered 404 instead of the file'),
    })
    await expect(client.mediaObjects.upload({ media_url: 'https://10.0.0.1/x.jpg' })).rejects.toThrow(
      SendblueAPI.BadRequestError,
    )
    expect(await count()).toBe(before)
  })

  it('an answer that got lost is not a second file', async () => {
    const proxy = await startProxy(world.app.url(), ['drop-answer'])
    const client = new SendblueAPI({ baseURL: proxy.url, ...LIVE })
    const before = await count()
    const answer = await client.mediaObjects.upload({ media_url: `${files.url}/lost.jpg` })
    expect(answer.status).toBe('OK')
    expect(await count()).toBe(before + 1)
    await proxy.close()
  })
})
