import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'
import { MINUTE, states, told } from './support.js'

describe.each(ENGINES)('webhook.failing on %s', (engine) => {
  let world: World
  let sink: Sink
  let status = 500
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    sink.answer(({ path }) => (path.startsWith('/alert') ? 200 : status))
  })
  beforeEach(async () => {
    await world.reset()
    status = 500
    const outbound = [`${sink.url}/out?token=secret`]
    const webhooks = { outbound, alert: [`${sink.url}/alert`] }
    expect((await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })).status).toBe(200)
    sink.received.length = 0
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  const heard = () => states(world, 'webhook.failing')
  const posts = () => sink.received.filter(({ path }) => path === '/alert').map(({ body }) => body)

  it('begins after ten minutes of failures, also of deliveries that were given up, and ends with a success', async () => {
    const since = world.app.ctx.clock.now()
    await world.send()
    await world.advance(9 * MINUTE)
    expect(await heard()).toEqual([])
    await world.advance(2 * MINUTE)
    await world.send()
    await world.advance(20 * MINUTE)
    expect(await heard()).toEqual(['began'])
    const [began] = await told(world, 'webhook.failing')
    expect(began).toEqual({
      state: 'began',
      since: expect.any(Number),
      endedAt: null,
      webhookId: expect.any(String),
      webhookType: 'outbound',
      webhookHost: new URL(sink.url).host,
      failures: expect.any(Number),
      httpStatus: 500,
      reason: 'The receiver answered 500. All 3 retries failed.',
    })
    expect(began.since - since).toBeLessThan(1000)
    expect(began.failures).toBeGreaterThan(3)
    expect(JSON.stringify(posts())).not.toMatch(/secret|out\?/)
    status = 200
    await world.send()
    await world.advance(1000)
    await world.advance(MINUTE)
    expect(await heard()).toEqual(['began', 'ended'])
    expect((await world.get('/v3/alerts')).body.data).toEqual([])
    const { webhookId: webhook_id, webhookHost: webhook_host } = began
    expect(posts().map(({ event_seq, occurred_at, event_id, ...body }: Json) => body)).toMatchObject([
      { event_type: 'alert', alert: 'webhook.failing', state: 'began', webhook_id, webhook_host },
      { event_type: 'alert', alert: 'webhook.failing', state: 'ended', webhook_id, http_status: 500 },
    ])
  })

  it('says nothing of a webhook that takes some of its deliveries', async () => {
    for (let i = 0; i < 5; i++) {
      status = i % 2 ? 200 : 500
      await world.send()
      await world.advance(5 * MINUTE)
    }
    expect(await heard()).toEqual([])
  })

  it('goes on counting after a restart, and ends when the webhook is removed', async () => {
    await world.send()
    await world.advance(6 * MINUTE)
    await world.restart()
    await world.advance(6 * MINUTE)
    expect(await heard()).toEqual(['began'])
    await world.restart()
    await world.advance(MINUTE)
    expect(await heard()).toEqual(['began'])
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: {} } })
    await world.advance(MINUTE)
    expect(await heard()).toEqual(['began', 'ended'])
    expect(await world.app.ctx.db.all('select * from webhook_faults')).toEqual([])
  })

  it('ends with the first success after a restart', async () => {
    await world.send()
    await world.advance(11 * MINUTE)
    await world.restart()
    status = 200
    await world.send()
    await world.advance(MINUTE)
    expect(await heard()).toEqual(['began', 'ended'])
  })
})
