import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Deliverer } from '../../src/services/webhooks/delivery.js'
import { insertDeliveries, type NewDelivery } from '../../src/storage/webhooks/deliveries.js'
import { createLane } from '../../src/worker/webhooks/lane.js'
import { createSlots } from '../../src/worker/webhooks/slots.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, type Json, type World } from '../support/world.js'

const LANE_READING = /from webhook_deliveries where lane = .* order by id/
const SUBJECT_READING = /from webhook_deliveries\s+where subject = .* order by id/

describe.each(ENGINES)('what happens while a lane reads its queue on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    const webhooks = { receive: [`${sink.url}/in`] }
    expect((await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })).status).toBe(200)
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  const until = (isSo: () => unknown) =>
    vi.waitFor(async () => expect(await isSo()).toBeTruthy(), { timeout: 60_000, interval: 3 })
  const posted = (content: string) => sink.received.filter(({ body }) => body.content === content).length
  const deliveries = async (): Promise<Json[]> => (await world.get('/v3/webhook-deliveries')).body.data
  /** All that so many deliveries bring about is done, except what waits for the test. */
  const written = (count: number) =>
    until(async () => (await deliveries()).length === count && world.app.ctx.db.activity().open === 0)

  /** Does something to the answer of the next such reading. */
  function atReading<T>(pattern: RegExp, answer: (rows: T[]) => Promise<T[]>) {
    const { db } = world.app.ctx
    const { all } = db
    db.all = async <U>(sql: string, params: Parameters<typeof all>[1]) => {
      if (!pattern.test(sql)) return all<U>(sql, params)
      db.all = all
      return (await answer(await all<T>(sql, params))) as unknown as U[]
    }
  }

  /** The next such reading has its answer, and waits with it for the test. */
  function holdReading(pattern: RegExp) {
    let go = () => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const held = new Promise<void>((resolve) => {
      atReading(pattern, (rows) => {
        resolve()
        return gate.then(() => rows)
      })
    })
    return { held, go }
  }

  it('what is written meanwhile is read next', async () => {
    const reading = holdReading(LANE_READING)
    await world.text(ADA, 'One')
    await reading.held
    await world.text(BOB, 'Two')
    await written(2)
    reading.go()
    await world.settle()
    expect([posted('One'), posted('Two')]).toEqual([1, 1])
  })

  it('what is to be posted again is posted by one alone', async () => {
    await world.text(ADA, 'First')
    await world.settle()
    const [first] = await deliveries()
    const replies: ServerResponse[] = []
    sink.answer((_post, reply) => void replies.push(reply))
    await world.text(BOB, 'Second')
    await until(() => posted('Second') === 1)

    const reading = holdReading(LANE_READING)
    expect((await world.post(`/v3/webhook-deliveries/${first.id}/replay`, {})).status).toBe(202)
    await reading.held
    replies.pop()!.writeHead(200).end()
    await until(async () => (await deliveries())[0].status === 'delivered')
    await world.text(BOB, 'Third')
    await written(5)
    reading.go()
    await until(() => posted('First') >= 2 && posted('Third') === 1)

    sink.answer(() => 200)
    for (const reply of replies) reply.writeHead(200).end()
    await world.settle()
    expect([posted('First'), posted('Second'), posted('Third')]).toEqual([2, 1, 1])
  })

  it('what could not be read again at once is read a second later', async () => {
    const [{ id }] = await deliveries()
    atReading(LANE_READING, () => Promise.reject(new Error('The database is away')))
    await world.post(`/v3/webhook-deliveries/${id}/replay`, {})
    await world.settle()
    await world.advance(1000)
    expect(posted('Third')).toBe(2)
  })

  // Elsewhere the courier would soon find these deliveries, too.
  it.runIf(engine === 'sqlite')(
    'more of one subject than there is place for: it is not done before',
    async () => {
      const { ctx } = world.app
      const { db } = ctx
      const count = 501
      const waiting = Array.from(
        { length: count },
        (_, i): NewDelivery => ({
          accountId: 'nobody',
          lane: 'crowded',
          endpointId: null,
          type: 'receive',
          url: sink.url,
          eventSeq: i,
          eventType: 'message.received',
          subject: 'H',
          body: '{}',
          nextAt: 0,
          createdAt: 0,
        }),
      )
      await db.write((sql) => insertDeliveries(sql, waiting))
      const reading = holdReading(SUBJECT_READING)
      const seen: number[] = []
      const deliverer: Deliverer = {
        async post({ id, eventSeq }) {
          seen.push(eventSeq)
          const record = async () => {
            await db.run('update webhook_deliveries set next_at = null where id = $1', [id])
            return null
          }
          return { wentWell: true, record }
        },
      }
      let idle = 0
      const lane = createLane(ctx, 'crowded', 'nobody', deliverer, createSlots(), undefined, () => idle++)
      lane.wake()
      await reading.held
      await until(() => db.activity().open === 0)
      expect([idle, seen.length]).toEqual([0, count - 1])
      reading.go()
      await world.settle()
      expect(idle).toBe(1)
      expect(seen).toEqual(Array.from({ length: count }, (_, i) => i))
    },
  )
})
