import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { insertDeliveries, type NewDelivery } from '../../src/storage/webhooks/deliveries.js'
import { LANES_PER_ACCOUNT } from '../../src/worker/webhooks/courier.js'
import { SLOT_LIMITS } from '../../src/worker/webhooks/slots.js'
import { createSilence, type Silence, silentOrigin } from '../support/web/silence.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, ENGINES, type Json, type World } from '../support/world.js'

const HOSTILE_LINE = '+12025550160'
const NEIGHBOUR_LINE = '+12025550161'
/** More than there are slots in all. */
const ORIGINS = SLOT_LIMITS.quick + 44

describe.each(ENGINES)('callbacks to silent receivers on distinct origins on %s', (engine) => {
  let world: World
  let sink: Sink
  let silence: Silence
  beforeAll(async () => {
    world = await createWorld(engine)
    ;[sink, silence] = await Promise.all([createSink(), createSilence()])
  })
  afterAll(async () => {
    await silence.close()
    await world.close()
    await sink.close()
  })

  it('hold only the slots of their account: a neighbour gets its webhooks', async () => {
    const hostile = await world.addAccount('hostile@example.com', HOSTILE_LINE)
    const neighbour = await world.addAccount('neighbour@example.com', NEIGHBOUR_LINE)
    const webhooks = { outbound: [`${sink.url}/out`] }
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks }, as: neighbour.live })

    const answers = await Promise.all(
      Array.from({ length: ORIGINS }, (_, i) =>
        world.send(
          {
            from_number: HOSTILE_LINE,
            number: `+1202556${String(1000 + i)}`,
            status_callback: silentOrigin(silence, i),
          },
          hostile.live,
        ),
      ),
    )
    expect(answers.filter(({ status }) => status !== 'QUEUED')).toEqual([])
    await vi.waitFor(() => expect(silence.open.size).toBe(SLOT_LIMITS.untrusted), 60_000)

    for (const content of ['One', 'Two', 'Three']) {
      await world.send({ from_number: NEIGHBOUR_LINE, number: ADA, content }, neighbour.live)
      await vi.waitFor(
        () => expect(sink.received.some(({ body }) => body.content === content)).toBe(true),
        60_000,
      )
    }
    // The hostile account's own attempts are still the first ones.
    expect(silence.open.size).toBe(SLOT_LIMITS.untrusted)
  })

  it('beyond the lanes in memory wait in the table and are posted, each once', async () => {
    const { ctx } = world.app
    const account = (await ctx.db.one<{ id: string }>(
      "select id from accounts where email = 'neighbour@example.com' and world = 'live'",
    ))!
    const count = LANES_PER_ACCOUNT + 50
    const waiting = Array.from(
      { length: count },
      (_, i): NewDelivery => ({
        accountId: account.id,
        lane: `callback:${account.id}:${i}`,
        endpointId: null,
        type: 'status_callback',
        url: `${sink.url}/many`,
        eventSeq: i,
        eventType: 'message.updated',
        subject: `H${i}`,
        body: JSON.stringify({ i }),
        nextAt: 0,
        createdAt: 0,
      }),
    )
    await ctx.db.write((sql) => insertDeliveries(sql, waiting))
    await silence.close()
    await world.restart()
    const posts = () => sink.received.filter(({ path }) => path === '/many')
    await vi.waitFor(() => expect(posts()).toHaveLength(count), 100_000)
    expect(new Set(posts().map(({ body }) => body.i)).size).toBe(count)
  })

  it('do not pile up: beyond the budget the oldest fail, and their log says why', async () => {
    const piling = await world.addAccount('piling@example.com', '+12025550162')
    const body = { budgets: { deliveries: 20 } }
    await world.call('PATCH', `/admin/accounts/${piling.id}`, { as: 'admin', body })
    for (let i = 0; i < 60; i++)
      await world.send(
        {
          from_number: '+12025550162',
          number: `+1202557${1000 + i}`,
          status_callback: `http://127.2.0.${i}:${silence.port}/`,
        },
        piling.live,
      )
    await world.advance(0)
    const rows = await world.app.ctx.db.all<{ id: number; state: string; reason: string | null }>(
      'select id, state, reason from webhook_deliveries where account_id = $1 order by id',
      [piling.id],
    )
    const waiting = rows.filter(({ state }) => state === 'pending')
    const failed = rows.filter(({ state }) => state === 'failed')
    expect(failed.length).toBeGreaterThan(30)
    expect([waiting.length >= 20, waiting.length < 22]).toEqual([true, true])
    for (const { reason } of failed) expect(reason).toContain('budget "deliveries"')
    expect(failed.at(-1)!.id).toBeLessThan(waiting[0]!.id)
    const { data: usage } = (await world.get('/v3/usage', piling.live)).body
    expect(usage.find((one: Json) => one.name === 'deliveries')).toMatchObject({
      used: waiting.length,
      limit: 20,
    })
  })
})
