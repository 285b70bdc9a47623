import SendblueAPI from 'sendblue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type BadNetwork, type Fault, startProxy } from '../support/web/proxy.js'
import { ADA, BOB, createWorld, ENGINES, EVE, LINE, SHARED_LINE, type World } from '../support/world.js'

const LIVE = { apiKey: 'dev-live-key', apiSecret: 'dev-live-secret' }
const HELLO = { from_number: LINE, number: ADA, content: 'Hello Ada' }

describe.each(ENGINES)('the published SDK on %s', (engine) => {
  let world: World
  let proxy: BadNetwork | undefined
  afterEach(async () => {
    vi.unstubAllEnvs()
    await proxy?.close()
    proxy = undefined
    await world.close()
  })

  const clientOf = (options: object = {}) =>
    new SendblueAPI({ baseURL: world.app.url(), ...LIVE, ...options })

  /** A client behind a network with these faults. */
  async function clientBehind(faults: Fault[], options: object = {}) {
    proxy = await startProxy(world.app.url(), faults)
    return { client: clientOf({ baseURL: proxy.url, ...options }), proxy }
  }

  /** Exactly one message, and it is the one with this handle: in the list and on Ada's phone. */
  async function expectOnly(handle: string | undefined) {
    await world.advance(1000)
    const list = await clientOf().messages.list()
    expect(list.pagination?.total).toBe(1)
    expect(list.data).toMatchObject([{ message_handle: handle, status: 'DELIVERED', content: HELLO.content }])
    expect(await world.inbox(ADA)).toMatchObject([{ message_handle: handle, content: HELLO.content }])
  }

  it('sends, follows the status and retrieves the record, in real time', async () => {
    world = await createWorld(engine, { realTime: true })
    const client = clientOf()
    const { data: sent, response } = await client.messages.send(HELLO).withResponse()
    expect(response.status).toBe(202)
    expect(sent).toMatchObject({ status: 'QUEUED', content: 'Hello Ada', number: ADA, from_number: LINE })
    const handle = sent.message_handle!
    await expect.poll(async () => (await client.messages.getStatus({ handle })).status).toBe('DELIVERED')
    const retrieved = await client.messages.retrieve(handle)
    expect(retrieved).toMatchObject({
      status: 'OK',
      data: {
        message_handle: handle,
        status: 'DELIVERED',
        service: 'iMessage',
        is_outbound: true,
        to_number: ADA,
      },
    })
    expect(await world.inbox(ADA)).toMatchObject([{ content: 'Hello Ada', message_handle: handle }])
  })

  it('lists with filters and pages', async () => {
    world = await createWorld(engine)
    const client = clientOf()
    for (const [number, content] of [
      [ADA, 'one'],
      [BOB, 'two'],
      [ADA, 'three'],
      [EVE, 'four'],
    ] as const) {
      await client.messages.send({ from_number: LINE, number, content })
      await world.advance(1000)
    }
    await client.messages.send({ from_number: SHARED_LINE, number: ADA, content: 'five' })
    await world.text(ADA, 'six')
    await world.advance(1000)
    const contents = async (query: Parameters<typeof client.messages.list>[0]) =>
      (await client.messages.list(query)).data!.map((message) => message.content)

    expect(await contents({ order_direction: 'asc' })).toEqual(['one', 'two', 'three', 'four', 'five', 'six'])
    expect(await contents({})).toEqual(['six', 'five', 'four', 'three', 'two', 'one'])
    expect(await contents({ number: ADA, order_by: 'sentAt' })).toEqual(['six', 'five', 'three', 'one'])
    expect(await contents({ to_number: ADA })).toEqual(['five', 'three', 'one'])
    expect(await contents({ from_number: ADA })).toEqual(['six'])
    expect(await contents({ sendblue_number: SHARED_LINE })).toEqual(['five'])
    expect(await contents({ is_outbound: 'false' })).toEqual(['six'])
    expect(await contents({ is_outbound: 'true', service: 'SMS' })).toEqual(['two'])
    expect(await contents({ status: 'ERROR' })).toEqual(['four'])
    expect(await contents({ status: 'RECEIVED', number: BOB })).toEqual([])
    expect(await contents({ message_type: 'group' })).toEqual([])
    expect(
      await contents({ created_at_gte: '2026-03-01T12:00:02Z', created_at_lte: '2026-03-01T12:00:03Z' }),
    ).toEqual(['four', 'three'])
    expect(await contents({ account_email: 'nobody@example.com' })).toEqual([])

    const page = await client.messages.list({ limit: 4, offset: 0 })
    expect(page.pagination).toEqual({ hasMore: true, limit: 4, offset: 0, total: 6 })
    const rest = await client.messages.list({ limit: 4, offset: 4 })
    expect(rest.pagination).toEqual({ hasMore: false, limit: 2, offset: 4, total: 6 })
    expect([...page.data!, ...rest.data!].map((message) => message.content)).toEqual(await contents({}))
  })

  it('finds the server by its environment variable alone', async () => {
    world = await createWorld(engine)
    vi.stubEnv('SENDBLUE_API_BASE_URL', world.app.url())
    vi.stubEnv('SENDBLUE_API_API_KEY', LIVE.apiKey)
    vi.stubEnv('SENDBLUE_API_API_SECRET', LIVE.apiSecret)
    const client = new SendblueAPI()
    expect(client.baseURL).toBe(world.app.url())
    const sent = await client.messages.send(HELLO)
    await expectOnly(sent.message_handle)
  })

  it('throws its own error classes, without asking twice', async () => {
    world = await createWorld(engine)
    const { client, proxy } = await clientBehind([])
    const fault = async (call: Promise<unknown>) => {
      const before = proxy.requests.length
      const error = await call.then(
        () => undefined,
        (thrown) => thrown,
      )
      expect(proxy.requests.length - before, 'requests for one answer').toBe(1)
      return error
    }
    const bad = await fault(client.messages.send({ ...HELLO, number: 'not a number' }))
    expect(bad).toBeInstanceOf(SendblueAPI.BadRequestError)
    expect(bad.error).toMatchObject({ status: 'ERROR', error_code: 4000 })
    expect(bad.message).toMatch(/^400 number: /)
    expect(bad.error.error_message).toBe(bad.error.message)

    const missing = await fault(client.messages.send({ number: ADA, content: 'x' } as never))
    expect(missing.message).toContain('missing required parameter: from_number')
    const foreign = await fault(client.messages.send({ ...HELLO, from_number: '+12025550177' }))
    expect(foreign).toBeInstanceOf(SendblueAPI.BadRequestError)
    expect(foreign.message).toContain('This phone number is not defined')

    const wrong = await fault(client.withOptions({ apiSecret: 'wrong' }).messages.send(HELLO))
    expect(wrong).toBeInstanceOf(SendblueAPI.AuthenticationError)
    expect(wrong.error).toEqual({ status: 'ERROR', message: 'Unauthorized' })
    const stranger = await fault(client.withOptions({ apiKey: 'nobody' }).messages.list())
    expect(stranger.error).toEqual(wrong.error)

    const operator = client.withOptions({ apiKey: 'dev-admin-key', apiSecret: 'dev-admin-secret' })
    expect(await fault(operator.messages.send(HELLO))).toBeInstanceOf(SendblueAPI.PermissionDeniedError)

    const none = await fault(client.messages.getStatus({ handle: 'none' }))
    expect(none).toBeInstanceOf(SendblueAPI.NotFoundError)
    expect(await fault(client.messages.retrieve('none'))).toBeInstanceOf(SendblueAPI.NotFoundError)
    expect((await client.messages.list()).pagination?.total).toBe(0)
  })

  it('is told when it lists too often, and how long to wait', async () => {
    world = await createWorld(engine)
    const client = clientOf({ maxRetries: 0 })
    await Promise.all(Array.from({ length: 100 }, () => client.messages.list({ limit: 1 })))
    const error = await client.messages.list().catch((thrown) => thrown)
    expect(error).toBeInstanceOf(SendblueAPI.RateLimitError)
    expect(error.error).toMatchObject({ status: 'ERROR', error_code: 4001 })
    expect(Number(error.headers.get('retry-after-ms'))).toBe(10_000)
    expect(error.headers.get('x-should-retry')).toBeNull()
    await world.advance(10_000)
    expect((await client.messages.list()).status).toBe('OK')
  })

  it('retries after the answer was lost with its connection, and one message goes out', async () => {
    world = await createWorld(engine)
    const { client, proxy } = await clientBehind(['drop-answer'])
    const sent = await client.messages.send(HELLO)
    expect(proxy.requests).toHaveLength(2)
    expect(proxy.requests[1]).toMatch(/x-stainless-retry-count: 1/i)
    expect(proxy.lost).toHaveLength(1)
    // The second answer is the first one again.
    expect(JSON.parse(proxy.lost[0]!.split('\r\n\r\n')[1]!)).toEqual(sent)
    await expectOnly(sent.message_handle)
  })

  it('retries after a connection broke before the server heard anything, and one message goes out', async () => {
    world = await createWorld(engine)
    const { client, proxy } = await clientBehind(['drop-request'])
    const sent = await client.messages.send(HELLO)
    expect(proxy.requests).toHaveLength(2)
    expect(proxy.lost).toHaveLength(0)
    await expectOnly(sent.message_handle)
  })

  it('retries after its timeout when the answer never came, and one message goes out', async () => {
    world = await createWorld(engine)
    const { client, proxy } = await clientBehind(['swallow-answer', 'drop-answer'], { timeout: 1500 })
    const sent = await client.messages.send(HELLO)
    expect(proxy.requests).toHaveLength(3)
    expect(proxy.requests[2]).toMatch(/x-stainless-retry-count: 2/i)
    for (const answer of proxy.lost) expect(answer).toContain(sent.message_handle)
    expect(proxy.lost).toHaveLength(2)
    await expectOnly(sent.message_handle)
  })

  it('recognises a retry after the message has gone on to be delivered', async () => {
    world = await createWorld(engine, { realTime: true })
    const { client } = await clientBehind(['swallow-answer'], { timeout: 1500 })
    const sent = await client.messages.send(HELLO)
    expect(sent.status).toBe('QUEUED')
    expect(await client.messages.getStatus({ handle: sent.message_handle! })).toMatchObject({
      status: 'DELIVERED',
    })
    expect(await world.inbox(ADA)).toHaveLength(1)
    expect((await client.messages.list()).pagination?.total).toBe(1)
  })

  it('may say the same thing twice when it means it', async () => {
    world = await createWorld(engine)
    const client = clientOf()
    const first = await client.messages.send(HELLO)
    const second = await client.messages.send(HELLO)
    expect(second.message_handle).not.toBe(first.message_handle)
    await world.advance(1000)
    expect(await world.inbox(ADA)).toHaveLength(2)
  })
})
