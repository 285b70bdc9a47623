import { afterEach, describe, expect, it } from 'vitest'
import { createSink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, LINE, START, type World } from '../support/world.js'

const DAY = 86_400_000

describe.each(ENGINES)('a clock that was a day ahead until the restart, on %s', (engine) => {
  let world: World
  afterEach(() => world.close())

  it('delays no waiting message; a scheduled one keeps its time', async () => {
    // A pace of one message a second: of several sends the rest waits, and the last wire time is in the future.
    world = await createWorld(engine, { startAt: START + DAY, line: { pace: 1 } })
    const sends = []
    for (const content of ['one', 'two', 'three']) sends.push(await world.send({ content }))
    await world.send({
      number: BOB,
      content: 'later',
      send_at: new Date(START + 2 * DAY).toISOString(),
    })
    await world.advance(300)
    expect(await world.inbox(ADA)).toHaveLength(1)

    await world.restart(START)
    await world.advance(5000)
    expect((await world.inbox(ADA)).map(({ content }) => content)).toEqual(['one', 'two', 'three'])
    for (const { message_handle } of sends.slice(1))
      expect((await world.status(message_handle)).status).toBe('DELIVERED')
    await world.advance(DAY)
    expect(await world.inbox(BOB)).toHaveLength(0)
    await world.advance(DAY + 1000)
    expect(await world.inbox(BOB)).toHaveLength(1)
  })

  it('delays no retry of a message that never left', async () => {
    world = await createWorld(engine, { startAt: START + DAY, line: { config: { fault: 'unreachable' } } })
    const { message_handle } = await world.send()
    await world.settle()
    await world.restart(START)
    await world.setLine(LINE, { config: {} })
    await world.advance(5000)
    expect((await world.status(message_handle)).status).toBe('DELIVERED')
  })

  it('hides no message from a look-up: one that the carrier has is not sent again', async () => {
    world = await createWorld(engine, {
      startAt: START + DAY,
      line: { config: { fault: 'accept-then-drop', fault_times: 1 }, settle_ms: 5000 },
    })
    const { message_handle } = await world.send()
    await world.settle()
    await world.restart(START)
    await world.advance(60_000)
    expect((await world.status(message_handle)).status).toBe('SENT')
    await world.advance(DAY)
    expect(await world.inbox(ADA)).toHaveLength(1)
  })

  it('delays no webhook', async () => {
    world = await createWorld(engine, { startAt: START + DAY })
    const sink = await createSink()
    sink.answer(() => 500)
    await world.post('/api/account/webhooks', { webhooks: { receive: [sink.url] } })
    await world.text(ADA, 'Hi')
    await world.advance(300)
    const posts = sink.received.length
    expect(posts).toBeGreaterThan(0)
    await world.restart(START)
    await world.advance(1000)
    expect(sink.received.length).toBeGreaterThan(posts)
    await sink.close()
  })
})
