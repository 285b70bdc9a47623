import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, ENGINES, EVE, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

const B_LINE = '+12025550150'

describe.each(ENGINES)('the timeline of a message on %s', (engine) => {
  let world: World
  let sink: Sink
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    b = await world.addAccount('b@example.com', B_LINE)
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  const timeline = async (handle: string, as?: Parameters<World['get']>[1]) =>
    world.get(`/v3/messages/${handle}`, as)

  it('has the message, why, its events, its attempts and its webhooks with every post', async () => {
    let posts = 0
    sink.answer(() => (++posts === 1 ? 503 : 200))
    const { message_handle: handle } = await world.send({ status_callback: `${sink.url}/status` })
    await world.settle()
    await world.advance(3_600_000)
    const { status, body } = await timeline(handle)
    expect(status).toBe(200)
    const { message, why, events, attempts, webhook_deliveries: deliveries } = body.data
    expect(message).toEqual(await world.record(handle))
    expect(why).toEqual((await world.get(`/v3/messages/${handle}/why`)).body.data)
    expect(events.map((one: Json) => one.type)).toEqual(
      expect.arrayContaining(['message.created', 'message.updated']),
    )
    expect(events.at(-1)).toMatchObject({
      sequence: expect.any(Number),
      version: 1,
      data: { message_handle: handle, status: 'DELIVERED' },
    })
    expect(attempts).toEqual([
      {
        attempt: 1,
        service: 'iMessage',
        state: 'accepted',
        started_at: expect.stringMatching(/Z$/),
        ended_at: expect.stringMatching(/Z$/),
        duration_ms: expect.any(Number),
        code: null,
        detail: null,
        provider_id: expect.any(String),
        lookups: 0,
      },
    ])
    expect(deliveries.length).toBeGreaterThan(0)
    expect(deliveries[0]).toMatchObject({
      url: `${sink.url}/status`,
      status: 'delivered',
      attempts: 2,
      body: expect.stringContaining(handle),
      attempt_log: [
        { attempt: 1, http_status: 503, request_headers: { 'content-type': expect.any(String) } },
        { attempt: 2, http_status: 200 },
      ],
    })
  })

  it("tells each attempt with the carrier's words", async () => {
    const { message_handle: handle } = await world.send({ number: EVE })
    await world.settle()
    const { attempts, message } = (await timeline(handle)).body.data
    expect(message.status).toBe('ERROR')
    expect(attempts).toMatchObject([
      { attempt: 1, state: 'refused', code: expect.any(String), detail: expect.any(String) },
    ])
  })

  it('of a message that came in there are no attempts', async () => {
    await world.text(ADA, 'hello')
    await world.settle()
    const [{ message_handle: handle }] = (await world.get('/api/v2/messages?is_outbound=false')).body.data
    const { attempts, events, why } = (await timeline(handle)).body.data
    expect(attempts).toEqual([])
    expect(events.map((one: Json) => one.type)).toEqual(['message.received'])
    expect(why.verdict).toBe('received')
  })

  it("another account's is absent, in the same words; a confined token sees its lines' without webhooks", async () => {
    const { message_handle: handle } = await world.send({ status_callback: `${sink.url}/status` })
    await world.settle()
    const absent = await timeline('nothing')
    expect(absent.status).toBe(404)
    for (const as of [b.live, 'test'] as const) {
      const reply = await timeline(handle, as)
      expect([reply.status, reply.body]).toEqual([absent.status, absent.body])
    }
    const own = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    const other = (await world.post('/v3/auth/tokens', { phone_number: SHARED_LINE })).body
    const seen = await timeline(handle, own)
    expect(seen.status).toBe(200)
    expect(seen.body.data.webhook_deliveries).toEqual([])
    expect(JSON.stringify(seen.body)).not.toContain(sink.url)
    const hidden = await timeline(handle, other)
    expect([hidden.status, hidden.body]).toEqual([absent.status, absent.body])
  })
})
