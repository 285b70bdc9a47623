import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'

describe.each(ENGINES)('traces on %s', (engine) => {
  let world: World
  let collector: Sink
  let receiver: Sink
  beforeAll(async () => {
    collector = await createSink()
    receiver = await createSink()
    world = await createWorld(engine, {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
        OTEL_SERVICE_NAME: 'sms',
      },
    })
  })
  beforeEach(async () => {
    await world.reset()
    await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { outbound: [`${receiver.url}/hook`], receive: [`${receiver.url}/hook`] } },
    })
    receiver.received.length = 0
  })
  afterAll(async () => {
    await world.close()
    await Promise.all([collector.close(), receiver.close()])
  })

  const exported = (): Json[] =>
    collector.received.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans)
  const attributesOf = (span: Json): Json =>
    Object.fromEntries(
      span.attributes.map(({ key, value }: Json) => [key, value.stringValue ?? Number(value.intValue)]),
    )
  const spansOf = (handle: string) =>
    exported().filter((span) => attributesOf(span)['trunkline.message'] === handle)
  const namesOf = (handle: string) => spansOf(handle).map(({ name }) => name)

  async function send(headers: Record<string, string> = {}): Promise<string> {
    const body = { from_number: LINE, number: ADA, content: 'The eagle has landed' }
    const { message_handle } = (await world.post('/api/send-message', body, 'live', headers)).body
    await world.advance(5000)
    return message_handle
  }

  it('shows a message from its request to its webhooks, below the span of the caller', async () => {
    const handle = await send({ traceparent: `00-${TRACE}-${CALLER}-01` })
    await expect.poll(() => namesOf(handle), { timeout: 20_000 }).toEqual(expect.arrayContaining(['webhook']))
    await expect
      .poll(() => [...new Set(namesOf(handle))].sort(), { timeout: 20_000 })
      .toEqual(['accept', 'attempt', 'carrier', 'queue', 'receipt', 'webhook'])
    const spans = spansOf(handle)
    const named = (name: string) => spans.find((span) => span.name === name)!
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(named('accept').parentSpanId).toBe(CALLER)
    for (const name of ['queue', 'attempt', 'receipt', 'webhook'])
      expect([name, named(name).parentSpanId]).toEqual([name, named('accept').spanId])
    expect(named('carrier').parentSpanId).toBe(named('attempt').spanId)
    expect(attributesOf(named('attempt'))).toMatchObject({
      'trunkline.driver': 'simulator',
      'trunkline.outcome': 'accepted',
    })
    for (const span of spans)
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
    const posted = receiver.received.filter(({ body }) => body.message_handle === handle)
    const ids = spans.filter(({ name }) => name === 'webhook').map(({ spanId }) => spanId)
    expect(posted.map(({ headers }) => headers.traceparent).sort()).toEqual(
      ids.map((id) => `00-${TRACE}-${id}-01`).sort(),
    )
  })

  it('starts a trace of its own for a message without one, and for a received one', async () => {
    const handle = await send()
    await world.text(ADA, 'Hello')
    await world.advance(1000)
    const inbound = (await world.get('/api/v2/messages?is_outbound=false')).body.data[0].message_handle
    await expect.poll(() => namesOf(inbound), { timeout: 20_000 }).toEqual(['receive', 'webhook'])
    await expect.poll(() => namesOf(handle), { timeout: 20_000 }).toContain('accept')
    expect(spansOf(handle)[0]!.traceId).toBe(handle.replaceAll('-', '').toLowerCase())
    expect(spansOf(handle).find(({ name }) => name === 'accept')).not.toHaveProperty('parentSpanId')
  })

  it('exports nothing of a trace that its caller does not record, and passes it on', async () => {
    const before = exported().length
    const handle = await send({ traceparent: `00-${TRACE}-${CALLER}-00` })
    const marker = await send()
    await expect.poll(() => namesOf(marker), { timeout: 20_000 }).toContain('accept')
    expect(exported().length).toBeGreaterThan(before)
    expect(spansOf(handle)).toEqual([])
    expect(receiver.received[0]!.headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
  })

  it('ignores a header that is no trace context', async () => {
    for (const traceparent of ['x', `00-${'0'.repeat(32)}-${CALLER}-01`, `ff-${TRACE}-${CALLER}-01`]) {
      const handle = await send({ traceparent })
      await expect.poll(() => namesOf(handle), { timeout: 20_000 }).toContain('accept')
      expect(spansOf(handle)[0]!.traceId).toBe(handle.replaceAll('-', '').toLowerCase())
    }
  })

  it('names the service, sends the headers, and shows neither texts nor numbers nor URLs', async () => {
    await expect.poll(() => exported().length).toBeGreaterThan(0)
    const { headers, body, path } = collector.received[0]!
    expect([path, headers['x-tenant']]).toEqual(['/v1/traces', 'a b'])
    expect(body.resourceSpans[0].resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'sms' },
    })
    const all = collector.received.map(({ text }) => text).join()
    for (const secret of ['eagle', ADA.slice(2), LINE.slice(2), 'Hello', '/hook'])
      expect(all).not.toContain(secret)
  })

  it('keeps spans while the collector is away, and messages do not wait for it', async () => {
    collector.answer(() => 503)
    const handle = await send()
    expect((await world.get(`/api/status?handle=${handle}`)).body.status).toBe('DELIVERED')
    collector.answer(() => 200)
    await expect.poll(() => namesOf(handle), { timeout: 20_000 }).toContain('webhook')
  })
})
