import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMAGES, type Pictures, servePictures } from '../support/images.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const CARD = {
  appName: 'Chess',
  extensionBundleId: 'com.example.chess.messages',
  teamId: 'A1B2C3D4E5',
  layout: { caption: 'Your move' },
  url: 'https://chess.example.com/1',
}

describe.each(ENGINES)('the published SDK: carousels, cards, replies and typing on %s', (engine) => {
  let world: World
  let client: SendblueAPI
  let files: Pictures
  beforeAll(async () => {
    world = await createWorld(engine)
    files = await servePictures()
    files.set('board.png', { body: IMAGES.png })
    client = new SendblueAPI({
      baseURL: world.app.url(),
      apiKey: 'dev-live-key',
      apiSecret: 'dev-live-secret',
    })
  })
  afterAll(async () => {
    await world.close()
    await files.close()
  })

  const onPhone = async (handle: string | undefined): Promise<Json> => {
    await world.advance(1000)
    return (await world.inbox(ADA)).find((one) => one.message_handle === handle)
  }

  it('sendCarousel.send', async () => {
    const media_urls = ['https://example.com/1.jpg', 'https://example.com/2.jpg', 'https://example.com/3.jpg']
    const { data, response } = await client.sendCarousel
      .send({ from_number: LINE, number: ADA, media_urls, metadata: { order: 7 }, send_style: 'love' })
      .withResponse()
    expect(response.status).toBe(202)
    expect(data).toMatchObject({
      accountEmail: 'dev@trunkline.local',
      from_number: LINE,
      is_outbound: true,
      media_url: media_urls[0],
      message_type: 'carousel',
      number: ADA,
      status: 'QUEUED',
    })
    expect(await onPhone(data.message_handle)).toMatchObject({ media_urls, send_style: 'love' })
    expect(await client.messages.retrieve(data.message_handle!)).toMatchObject({
      data: { status: 'DELIVERED', metadata: { order: 7 }, media_url: media_urls[0] },
    })
    const one = client.sendCarousel.send({
      from_number: LINE,
      number: ADA,
      media_urls: media_urls.slice(0, 1),
    })
    await expect(one).rejects.toThrow(/400 .*send-message/)
    await expect(one).rejects.toBeInstanceOf(SendblueAPI.BadRequestError)
  })

  it('messages.send with app_card, and messages.updateAppCard', async () => {
    const root = await client.messages.send({ from_number: LINE, number: ADA, content: 'Play?' })
    await world.advance(1000)
    const card = await client.messages.send({
      from_number: LINE,
      number: ADA,
      app_card: {
        ...CARD,
        layout: { ...CARD.layout, imageUrl: files.url('board.png'), imageTitle: 'Board' },
      },
      reply_to: { message_handle: root.message_handle! },
    })
    expect(card.app_card).toMatchObject({ appName: 'Chess', sessionIdentifier: expect.any(String) })
    expect(card.thread_originator).toEqual({ message_handle: root.message_handle, part: '0' })
    const first = await onPhone(card.message_handle)
    expect(first.app_card).toEqual(card.app_card)

    const body = {
      url: 'data:,e4',
      layout: { caption: 'Moved' },
      fallback_text: 'e4',
      idempotency_key: 'move-1',
    }
    const next = await client.messages.updateAppCard(card.message_handle!, body)
    expect(next.message_handle).not.toBe(card.message_handle)
    expect(next).toMatchObject({
      status: 'QUEUED',
      reply_to: { message_handle: root.message_handle },
      app_card: {
        ...CARD,
        layout: { caption: 'Moved' },
        url: 'data:,e4',
        fallbackText: 'e4',
        updateMessageHandle: card.message_handle,
      },
    })
    expect(await onPhone(next.message_handle)).toMatchObject({ replaces: first.id, session: first.session })
    const again = await client.messages.updateAppCard(card.message_handle!, body)
    expect(again.message_handle).toBe(next.message_handle)
    expect(await client.messages.getStatus({ handle: next.message_handle! })).toMatchObject({
      status: 'DELIVERED',
      app_card: next.app_card,
    })

    await world.post(`/sim/phones/${ADA}/cards`, { card: first.id, url: 'data:,e5' })
    await world.settle()
    const { data } = await client.messages.list({ is_outbound: 'false', limit: 1 })
    expect(data![0]).toMatchObject({ app_card: { url: 'data:,e5', revision: 1, teamId: CARD.teamId } })
    await expect(client.messages.updateAppCard('nope', {})).rejects.toBeInstanceOf(SendblueAPI.NotFoundError)
  })

  it('replies both ways', async () => {
    const root = await client.messages.send({ from_number: LINE, number: ADA, content: 'Dinner?' })
    const { id } = await onPhone(root.message_handle)
    await world.text(ADA, 'Where?', { reply_to: id })
    await world.settle()
    const inbound = (await client.messages.list({ is_outbound: 'false', limit: 1 })).data![0]!
    expect(inbound).toMatchObject({
      reply_to: { message_handle: root.message_handle },
      thread_originator: { message_handle: root.message_handle, part: '0' },
    })
    const answer = await client.messages.send({
      from_number: LINE,
      number: ADA,
      content: 'Here',
      reply_to: { message_handle: inbound.message_handle! },
    })
    expect(answer.thread_originator?.message_handle).toBe(root.message_handle)
  })

  it('typingIndicators.send', async () => {
    const typing = async () => (await world.get(`/sim/phones/${ADA}`)).body.typing
    const answer = await client.typingIndicators.send({
      from_number: LINE,
      number: ADA,
      max_duration_ms: 5000,
    })
    expect(answer).toMatchObject({ status: 'SENT', error_message: null, number: ADA })
    expect(await typing()).toEqual([LINE])
    await client.typingIndicators.send({ from_number: LINE, number: ADA, state: 'stop' })
    expect(await typing()).toEqual([])
    const stranger = client.typingIndicators.send({ from_number: LINE, number: '+12025550170' })
    await expect(stranger).rejects.toThrow(/No route mapping/)
  })

  it('reactions and reading, which it has no methods for', async () => {
    const { id } = await world.text(ADA, 'Nice')
    await world.settle()
    const { data } = await client.messages.list({ is_outbound: 'false', limit: 1 })
    const message_handle = data![0]!.message_handle
    const reacted = await client.post('/api/send-reaction', {
      body: { from_number: LINE, number: ADA, message_handle, reaction: 'laugh' },
    })
    expect(reacted).toMatchObject({ status: 'OK', message_handle, reaction: 'laugh' })
    expect(await client.post('/api/mark-read', { body: { number: ADA, from_number: LINE } })).toMatchObject({
      status: 'OK',
      number: ADA,
    })
    const { data: screen } = (await world.get(`/sim/phones/${ADA}/inbox?limit=1000`)).body
    expect(screen.find((one: Json) => one.id === id)).toMatchObject({
      reactions: [{ by: LINE, reaction: 'laugh' }],
      read_at: expect.stringMatching(/Z$/),
    })
    await expect(
      client.post('/api/mark-read', { body: { number: BOB, from_number: LINE } }),
    ).rejects.toBeInstanceOf(SendblueAPI.NotFoundError)
  })
})
