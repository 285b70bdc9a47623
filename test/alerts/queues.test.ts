import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { toldFrom } from '../../src/core/alerts/alert.js'
import { BOB, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'
import { MINUTE, ownId, setState, states, told } from './support.js'

describe.each(ENGINES)('queue.age on %s', (engine) => {
  let world: World
  let neighbour: Json
  beforeAll(async () => {
    world = await createWorld(engine)
    neighbour = await world.addAccount('neighbour@example.com', '+12025550170')
  })
  beforeEach(async () => {
    await setState(world, 'ONLINE', LINE)
    await world.reset()
    await setState(world, 'OFFLINE', LINE)
  })
  afterAll(() => world.close())

  const heard = (accountId?: string) => states(world, 'queue.age', accountId)
  const lineId = async (number: string) =>
    (await world.get('/admin/lines', 'admin')).body.data.find(
      (one: Json) => one.number === number && one.world === 'live',
    ).id

  it('begins when a message has waited for ten minutes, once, and ends when it is sent', async () => {
    await world.send()
    const since = world.app.ctx.clock.now()
    await world.advance(10 * MINUTE - 1)
    expect(await heard()).toEqual([])
    await world.advance(30_001)
    await world.send({ number: BOB })
    await world.advance(30 * MINUTE)
    expect(await told(world, 'queue.age')).toEqual([
      {
        state: 'began',
        since,
        endedAt: null,
        lineId: await lineId(LINE),
        lineNumber: LINE,
        ageSeconds: 630,
      },
    ])
    const kinds = (await world.get('/v3/alerts')).body.data.map((one: Json) => [one.alert, one.age_seconds])
    expect(kinds).toEqual([
      ['line.offline', undefined],
      ['queue.age', 630],
    ])
    await setState(world, 'ONLINE', LINE)
    await world.advance(10_000)
    await world.advance(10_000)
    expect(await heard()).toEqual(['began', 'ended'])
    expect(await heard(neighbour.id)).toEqual([])
  })

  it('does not count messages that wait for their send time', async () => {
    const send_at = new Date(world.app.ctx.clock.now() + 60 * MINUTE).toISOString()
    await world.send({ send_at })
    await world.advance(65 * MINUTE)
    expect(await heard()).toEqual([])
    await world.advance(5 * MINUTE)
    expect((await told(world, 'queue.age')).map(({ ageSeconds }) => ageSeconds)).toEqual([600])
  })

  it('does not count messages of a conversation that is held', async () => {
    const { ctx } = world.app
    await world.send({ number: BOB })
    const until = ctx.clock.now() + 30 * MINUTE
    await ctx.db.run(
      `insert into conversation_holds (line_id, conversation, account_id, group_id, alternations, held_at, held_until)
       values ($1, $2, $3, null, 20, $4, $5)`,
      [await lineId(LINE), BOB, await ownId(world), ctx.clock.now(), until],
    )
    await world.advance(20 * MINUTE)
    expect(await heard()).toEqual([])
    await world.advance(11 * MINUTE)
    expect(await heard()).toEqual(['began'])
  })

  it('sees an old message behind a scheduled one that has just become due', async () => {
    const send_at = new Date(world.app.ctx.clock.now() + 11 * MINUTE).toISOString()
    await world.send({ send_at })
    await world.send({ number: BOB })
    await world.advance(12 * MINUTE)
    expect(await heard()).toEqual(['began'])
  })

  it('is told to the account whose message waits, not to the others of a shared line', async () => {
    const id = await lineId(SHARED_LINE)
    await world.post(`/admin/lines/${id}/members`, { account_id: neighbour.id }, 'admin')
    await world.text(BOB, 'Hello', { to: SHARED_LINE })
    await world.advance(1000)
    await setState(world, 'OFFLINE', SHARED_LINE)
    const sent = await world.send({ from_number: SHARED_LINE, number: BOB })
    await world.advance(11 * MINUTE)
    expect((await world.record(sent.message_handle)).status).toBe('QUEUED')
    expect([await heard(), await heard(neighbour.id)]).toEqual([['began'], []])
    await setState(world, 'ONLINE', SHARED_LINE)
  })
})

it('has the threshold of the alert in the Prometheus rules', () => {
  const rules = readFileSync('deploy/prometheus/trunkline.rules.yml', 'utf8')
  const [, seconds] = /trunkline_queue_age_seconds\) > (\d+)/.exec(rules)!
  expect(toldFrom('queue.age', 0)).toBe(-1000 * Number(seconds))
})
