import { afterEach, describe, expect, it } from 'vitest'
import { ANNA, createTelnyxWorld, NUMBER, type TelnyxWorld } from '../../support/drivers/telnyx-world.js'
import { ENGINES } from '../../support/world.js'

const BEN = '+12025558302'
const IMAGE = 'https://files.example.com/cat.jpg'
const SEND = 'POST /messages/rcs'
const ASK = 'GET /messaging/rcs/capabilities'
const HOUR = 3_600_000

/** Anna's phone has RCS, Ben's has not. */
describe.each(ENGINES)('RCS through Telnyx on %s', (engine) => {
  let on: TelnyxWorld
  afterEach(() => on.close())

  async function begin(settings: object = {}) {
    on = await createTelnyxWorld(engine, { rcs_agent_id: 'Agent007', ...settings }, (peer) => {
      peer.rcs.phones.add(ANNA)
      peer.become('delivered')
    })
    await on.pass(15_000)
  }
  const heard = (route: string) => on.peer.heard.filter((one) => one === route).length
  const told = async () => {
    await on.peer.webhooks.quiet()
    await on.world.settle()
  }
  const record = (handle: string) => on.world.record(handle)
  const carousel = async (number: string, count = 2) => {
    const media_urls = Array.from({ length: count }, (_, i) => `https://files.example.com/${i}.jpg`)
    const { body } = await on.world.post('/api/send-carousel', { from_number: NUMBER, number, media_urls })
    await on.world.settle()
    await told()
    return body.message_handle
  }

  it('carries texts and files to a phone that has it, and asks about the phone once', async () => {
    await begin()
    const text = await on.send('Hello')
    await on.send('', { media_url: IMAGE })
    await on.send('A cat', { media_url: IMAGE })
    await told()
    expect(await record(text)).toMatchObject({ status: 'DELIVERED', service: 'RCS', was_downgraded: null })
    const card = { description: 'A cat', media: { content_info: { file_url: IMAGE } } }
    expect(on.peer.sent().map(({ body }) => body)).toMatchObject([
      { content_message: { text: 'Hello' } },
      { content_message: { content_info: { file_url: IMAGE } } },
      { content_message: { rich_card: { standalone_card: { card_content: card } } } },
    ])
    expect(heard(ASK)).toBe(1)
    await on.pass(HOUR)
    await on.send('Hello again')
    expect(heard(ASK)).toBe(2)
  })

  it('is left out for a phone without it', async () => {
    await begin()
    const handle = await on.send('Hello', { number: BEN })
    await told()
    expect(heard(SEND)).toBe(0)
    expect(on.peer.sent()).toMatchObject([{ type: 'SMS', from: NUMBER, text: 'Hello' }])
    expect(await record(handle)).toMatchObject({ status: 'DELIVERED', service: 'SMS', was_downgraded: true })
  })

  it.each([
    ['a text', '', 'SMS'],
    ['a file', IMAGE, 'MMS'],
  ])(
    'falls back inside one message, if nobody knows whether it reaches the phone: %s',
    async (_, media_url, type) => {
      await begin()
      on.peer.fault(ASK, { status: 503 })
      const handle = await on.send('Hello', { number: BEN, ...(media_url ? { media_url } : {}) })
      await told()
      expect(on.peer.sent()).toMatchObject([{ type, from: NUMBER, text: 'Hello' }])
      expect(await record(handle)).toMatchObject({
        status: 'DELIVERED',
        service: 'SMS',
        was_downgraded: true,
      })
      await on.send('Second', { number: BEN })
      expect([heard(SEND), heard(ASK)]).toEqual([2, 1])
    },
  )

  it.each([
    ['refused', 40301, ['SMS'], 'DELIVERED'],
    ['refused for good', 40322, [], 'ERROR'],
  ] as const)('goes on as a text only if Telnyx %s the kind of message', async (_, code, types, status) => {
    await begin()
    on.peer.fault(SEND, { status: 400, code })
    const handle = await on.send('Hello')
    await told()
    expect(on.peer.sent().map(({ type }) => type)).toEqual(types)
    expect(await record(handle)).toMatchObject({ status })
  })

  it('leaves a text that is too long for it to SMS', async () => {
    await begin()
    const handle = await on.send('x'.repeat(3073))
    await told()
    expect(heard(SEND)).toBe(0)
    expect(await record(handle)).toMatchObject({ status: 'DELIVERED', service: 'SMS' })
  })

  it.each([
    ['webhook', 'once', 'queued'],
    ['log', 'lost', 'sent'],
    ['detail record', 'vanished', 'sent'],
  ] as const)('finds a message whose answer was lost, by %s', async (_, mode, temper) => {
    await begin()
    on.peer.become(temper)
    on.peer.webhooks.become(mode)
    on.peer.fault(SEND, 'cut after')
    const handle = await on.send('Hello')
    on.peer.clear()
    if (mode === 'once') on.peer.set(on.peer.sent()[0]!, 'sent')
    await told()
    await on.pass(120_000)
    expect(await on.status(handle)).toBe('SENT')
    await on.pass(5 * HOUR)
    expect(on.peer.sent()).toHaveLength(1)
    expect(await record(handle)).toMatchObject({ status: 'SENT', service: 'RCS' })
  })

  it('carries a carousel as cards, and never as a text', async () => {
    await begin()
    const sent = await carousel(ANNA, 10)
    expect(await record(sent)).toMatchObject({
      status: 'DELIVERED',
      service: 'RCS',
      message_type: 'carousel',
    })
    const [row] = on.peer.sent() as { body: { content_message: { rich_card: { carousel_card: object } } } }[]
    expect(row!.body.content_message.rich_card.carousel_card).toMatchObject({
      card_contents: Array.from({ length: 10 }, (_, i) => ({
        media: { content_info: { file_url: `https://files.example.com/${i}.jpg` } },
      })),
    })
    expect(await record(await carousel(BEN))).toMatchObject({
      status: 'ERROR',
      error_message: expect.stringContaining('never goes out as a text message'),
    })
    expect(await record(await carousel(ANNA, 11))).toMatchObject({
      status: 'ERROR',
      error_detail: expect.stringContaining('at most 10 images'),
    })
    on.peer.fault(ASK, { status: 503 })
    await carousel('+12025558303')
    expect(on.peer.sent()).toMatchObject([{ type: 'RCS' }, { type: 'RCS', to: ['+12025558303'] }])
  })

  it('brings texts, files, places and taps', async () => {
    await begin()
    const file = on.peer.file('image/jpeg', 'a cat')
    on.peer.rcsText(ANNA, { text: 'Hi' })
    on.peer.rcsText(ANNA, { user_file: { payload: { file_uri: file.url, mime_type: 'image/jpeg' } } })
    on.peer.rcsText(ANNA, { location: { latitude: 37.4, longitude: -122.1 } })
    on.peer.webhooks.become('lost')
    on.peer.rcsText(ANNA, { suggestion_response: { postback_data: 'eWVz', text: 'Yes' } })
    on.peer.webhooks.become('once')
    await told()
    await on.pass(30_000)
    const arrived = await on.arrived()
    expect(arrived.every(({ service, from_number }) => service === 'RCS' && from_number === ANNA)).toBe(true)
    expect(arrived.map(({ content }) => content).sort()).toEqual(['', '', 'Hi', 'Yes'])
    expect(arrived.filter(({ message_type }) => message_type === 'location')).toMatchObject([
      { location: { latitude: 37.4, longitude: -122.1 } },
    ])
    expect(arrived.filter(({ media_url }) => media_url)).toHaveLength(1)
  })

  it('shows typing and read marks in both directions, as far as it has them', async () => {
    await begin()
    on.peer.rcsText(ANNA, { text: 'Hi' })
    await told()
    const ask = (path: string, body: object) =>
      on.world.post(path, { from_number: NUMBER, number: ANNA, ...body })
    expect((await ask('/api/send-typing-indicator', {})).status).toBe(200)
    expect((await ask('/api/mark-read', {})).status).toBe(200)
    expect(on.peer.rcs.events).toEqual([
      { to: ANNA, type: 'IS_TYPING' },
      { to: ANNA, type: 'READ' },
    ])
    const handle = await on.send('Hello')
    on.peer.set(on.peer.sent()[0]!, 'read')
    await told()
    expect((await on.world.events()).map(({ type }: { type: string }) => type)).toContain('message.read')
    expect(await on.status(handle)).toBe('DELIVERED')
  })

  it.each([
    ['nowhere', null, {}, true, 'ONLINE'],
    ['elsewhere', 'https://a.example.com', {}, true, 'ONLINE'],
    ['nowhere, and nothing is to be set', null, { wire: false }, false, 'DEGRADED'],
  ] as const)('comes to the webhook of the agent: it was %s', async (_, url, settings, isSet, state) => {
    on = await createTelnyxWorld(engine, { rcs_agent_id: 'Agent007', ...settings }, (peer) => {
      peer.rcs.agent.webhook_url = url
      peer.profile.webhook_api_version = '2'
      peer.profile.webhook_url = 'https://b.example.com'
    })
    await on.pass(15_000)
    expect(on.peer.rcs.agent.webhook_url?.includes('/callbacks/') ?? false).toBe(isSet)
    expect(await on.line()).toMatchObject({ state })
  })

  it('is not used with an agent that does not exist, and the line says so', async () => {
    await begin({ rcs_agent_id: 'Nobody' })
    on.peer.fault('GET /messaging/rcs/agents', { status: 404, code: 10005 })
    await on.pass(600_000)
    expect(await on.line()).toMatchObject({
      state: 'DEGRADED',
      state_detail: expect.stringContaining('RCS agent'),
    })
  })
})
