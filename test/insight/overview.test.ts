import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  EVE,
  type Json,
  LINE,
  SHARED_LINE,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'
const total = (steps: Json[], name: string) => steps.reduce((sum, step) => sum + step[name], 0)

describe.each(ENGINES)('overview and lines on %s', (engine) => {
  let world: World
  let sink: Sink
  let b: Awaited<ReturnType<World['addAccount']>>

  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    b = await world.addAccount('b@example.com', B_LINE)
    sink.answer((post) => (post.path === '/bad' ? 400 : 200))
    await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { receive: [`${sink.url}/good`, `${sink.url}/bad`] } },
    })
    await world.send({ number: ADA })
    await world.send({ number: ADA, content: 'again' })
    await world.send({ number: BOB })
    await world.send({ number: EVE })
    await world.text(ADA, 'hello')
    await world.settle()
    await world.send({ number: ADA, send_at: new Date(world.app.ctx.clock.now() + 86_400_000).toISOString() })
    await world.advance(1000)
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  const overview = async (window: string, as?: Parameters<World['get']>[1]) =>
    (await world.get(`/v3/overview?window=${window}`, as)).body.data

  it.each([
    ['1h', 12, 300_000],
    ['24h', 24, 3_600_000],
    ['7d', 28, 21_600_000],
  ])('%s: sends by status and service, deliveries, webhooks', async (window, count, step) => {
    const { sends, queue, delivery, webhooks, ...head } = await overview(window)
    expect(head).toMatchObject({ window, step_ms: step, to: '2026-03-01T12:00:01.000Z' })
    expect(sends.is_cut).toBe(false)
    expect(sends.steps).toHaveLength(count)
    expect(sends.steps[0].at).toBe(head.from)
    const sums = Object.fromEntries(
      ['delivered', 'sent', 'waiting', 'failed', 'imessage', 'rcs', 'sms', 'received'].map((name) => [
        name,
        total(sends.steps, name),
      ]),
    )
    expect(sums.delivered + sums.sent + sums.waiting + sums.failed).toBe(5)
    expect(sums).toMatchObject({ delivered: 2, sent: 1, waiting: 1, failed: 1, received: 1 })
    expect(sums.imessage + sums.rcs + sums.sms).toBe(5)
    expect(sums.sms).toBeGreaterThanOrEqual(1)
    expect(delivery).toMatchObject({ sampled: 2, is_cut: false })
    expect(delivery.median_ms).toBeGreaterThanOrEqual(0)
    expect(queue).toMatchObject({ sampled: 3, is_cut: false })
    expect(queue.median_ms).toBeLessThanOrEqual(delivery.median_ms)
    expect(queue.steps).toHaveLength(count)
    expect(delivery.p95_ms).toBeGreaterThanOrEqual(delivery.median_ms)
    expect(delivery.steps.at(-1).median_ms).toBe(delivery.median_ms)
    expect(webhooks).toMatchObject({ delivered: 1, failed: 1, pending: 0, attempts: 2, success_rate: 0.5 })
    expect(total(webhooks.steps, 'failed')).toBe(1)
  })

  it('is of the account alone', async () => {
    const { sends, webhooks, lines, delivery } = await overview('1h', b.live)
    expect(sends.steps.every((step: Json) => step.delivered === 0 && step.failed === 0)).toBe(true)
    expect(delivery).toMatchObject({ sampled: 0, median_ms: null, p95_ms: null })
    expect(webhooks).toMatchObject({ delivered: 0, failed: 0, success_rate: null })
    expect(lines.map((line: Json) => line.number)).toEqual([B_LINE])
  })

  it('may be two seconds old, and no older', async () => {
    await overview('1h')
    await world.send({ number: ADA })
    await world.settle()
    await world.advance(2000)
    expect(total((await overview('1h')).sends.steps, 'delivered')).toBe(3)
  })

  it('refuses another window', async () => {
    const reply = await world.get('/v3/overview?window=1y')
    expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid'])
    expect(reply.body.error.message).toContain('window')
  })

  it('lines have health, queue, pace and totals of today', async () => {
    const lines = async (as?: Parameters<World['get']>[1]) => (await world.get('/v3/lines', as)).body.data
    const before = await lines()
    expect(before.map((line: Json) => line.number)).toEqual([LINE, SHARED_LINE])
    expect(before[0]).toMatchObject({
      kind: 'dedicated',
      driver: 'simulator',
      status: 'ONLINE',
      blocked_at: null,
      services: expect.arrayContaining(['iMessage', 'SMS']),
      features: expect.arrayContaining(['groups', 'app_cards']),
      pace_per_second: expect.any(Number),
      queue: { waiting: 0, is_more: false, oldest_at: null, oldest_age_ms: null, empty_in_ms: null },
      today: { sent: 4, failed: 1, received: 1 },
    })
    await world.setLine(LINE, { pace: 1 })
    for (const number of [ADA, BOB, EVE]) await world.send({ number })
    await world.settle()
    const [busy] = await lines()
    expect(busy).toMatchObject({ pace_per_second: 1, sent_last_second: 1, queue: { waiting: 2 } })
    await world.advance(500)
    expect((await lines())[0].queue).toMatchObject({ oldest_age_ms: 500, oldest_at: expect.any(String) })
    const token = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    expect((await lines(token)).map((line: Json) => line.number)).toEqual([LINE])
    expect((await lines(b.live)).map((line: Json) => line.number)).toEqual([B_LINE])
    await world.advance(10_000)
    expect((await lines())[0].queue.waiting).toBe(0)
    // Of those three the last waited for two seconds.
    expect((await overview('24h')).queue.p95_ms).toBeGreaterThanOrEqual(1000)
  })

  it('on a shared line everyone has a queue of their own', async () => {
    const shared = (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === SHARED_LINE && line.world === 'live',
    )
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
    await world.setLine(SHARED_LINE, { pace: 1 })
    for (const number of [ADA, BOB, EVE]) await world.send({ number, from_number: SHARED_LINE })
    await world.settle()
    const queues = async (as?: Parameters<World['get']>[1]) =>
      (await world.get('/v3/lines', as)).body.data.find((line: Json) => line.number === SHARED_LINE)?.queue
    expect((await queues()).waiting).toBe(2)
    expect((await queues(b.live))?.waiting ?? 0).toBe(0)
  })
})
