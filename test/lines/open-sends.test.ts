import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { SendResult } from '../../src/core/messages/outcome.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { CLEO, createWorld, ENGINES, type World } from '../support/world.js'

const [LINE, OTHER] = ['+12025550171', '+12025550172']
const DAY = 24 * 3_600_000
/** By the content of the message. */
const RESULTS: Record<string, SendResult> = {
  sent: { outcome: 'accepted', providerId: 'p-sent', status: 'SENT' },
  done: { outcome: 'accepted', providerId: 'p-done', status: 'SUCCESS' },
  doubt: { outcome: 'unknown', code: 'x', detail: 'y' },
  no: { outcome: 'refused', code: 'x', detail: 'y' },
  early: { outcome: 'accepted', providerId: 'p-early', status: 'ACCEPTED' },
}

describe.each(ENGINES)('the open sends that a driver gets on %s', (engine) => {
  let world: World
  let puppet: Puppet
  beforeEach(async () => {
    await world?.close()
    puppet = createPuppet()
    puppet.acts.send = async (message) => RESULTS[message.content]!
    world = await createWorld(engine, { drivers: [puppet] })
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    for (const number of [LINE, OTHER]) {
      const line = { account_id: account.id, number, driver: 'puppet' }
      expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
    }
    await world.app.ctx.db.run('update lines set settle_ms = 200000000')
    await world.settle()
  })
  afterAll(() => world.close())

  async function send(content: string) {
    await world.send({ from_number: LINE, number: CLEO, content })
    await world.settle()
    await world.advance(10)
  }
  const open = (number = LINE) => puppet.on(number).host.openSends()
  /** Attempts that came after all others. */
  async function addAttempts(messageId: unknown, lineId: unknown, state: string) {
    await world.app.ctx.db.run(
      `insert into attempts (ref, message_id, n, line_id, epoch, service, state, wire_at, provider_id, lookups)
       with recursive many(i) as (select 1 union all select i + 1 from many where i < 10500)
       select 'ffffffff-' || i, $1, i + 100, $2, 1, 'SMS', $3, 0, 'many-' || i, 0 from many`,
      [Number(messageId), String(lineId), state],
    )
  }

  it('are those of a day, newest first, of its own line', async () => {
    await send('early')
    await world.advance(DAY)
    for (const content of ['sent', 'done', 'no', 'doubt']) await send(content)
    const sends = await open()
    expect(sends.map(({ providerId, content }) => [content, providerId])).toEqual([
      ['doubt', null],
      ['sent', 'p-sent'],
    ])
    expect(sends[1]).toMatchObject({ to: CLEO, service: 'SMS', wireAt: expect.any(Number) })
    expect(puppet.sent.map((message) => message.ref)).toContain(sends[0]!.ref)
    expect(await open(OTHER)).toEqual([])
    // Its end becomes known.
    await puppet
      .on(LINE)
      .host.receipt({ providerId: 'p-sent', status: 'DELIVERED', at: world.app.ctx.clock.now() })
    expect((await open()).map(({ content }) => content)).toEqual(['doubt'])
    const { message_id, line_id } = (await world.app.ctx.db.one(
      "select * from attempts where state = 'unknown'",
    ))!
    await addAttempts(message_id, line_id, 'refused')
    expect((await open()).map(({ content }) => content)).toEqual(['doubt'])
  })

  it('include those that were given up, however many others wait for their receipts', async () => {
    for (const content of ['sent', 'doubt']) await send(content)
    const { db } = world.app.ctx
    await db.run("update attempts set state = 'given_up' where state = 'unknown'")
    await db.run("update messages set status = 'ERROR', next_action_at = null where content = 'doubt'")
    const { message_id, line_id } = (await db.one("select * from attempts where provider_id = 'p-sent'"))!
    await addAttempts(message_id, line_id, 'accepted')
    const sends = await open()
    expect(sends).toHaveLength(1000)
    expect(sends.at(-1)).toMatchObject({ content: 'doubt', providerId: null })
  })
})
