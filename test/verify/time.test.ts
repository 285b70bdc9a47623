import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, type Json, type World } from '../support/world.js'

const SERVICES = '/api/v2/verify/services'
const LIST = '/api/v2/verify/verifications'

describe.each(ENGINES)('verifications and time on %s', (engine) => {
  let world: World
  afterAll(() => world.close())
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  const begin = async (fields: Json = {}) => {
    const service = (await world.post(SERVICES, { friendly_name: 'Example', ...fields })).body
    return (await world.post(`${SERVICES}/${service.sid}/verifications`, { to: ADA })).body
  }
  const read = async (one: Json) =>
    (await world.get(`${SERVICES}/${one.service_sid}/verifications/${one.sid}`)).body
  const ends = async (one: Json) =>
    (await world.events()).filter((event) => event.subject === one.sid).map((event) => [event.type, event.at])

  it('expires by the clock, with an event that nobody has to ask for', async () => {
    const now = world.app.ctx.clock.now()
    const [longer, shorter] = [await begin({ ttl_seconds: 120 }), await begin({ ttl_seconds: 60 })]
    await world.advance(59_999)
    expect(await ends(shorter)).toEqual([])
    await world.advance(1)
    expect(await ends(shorter)).toEqual([['verification.expired', now + 60_000]])
    expect(await ends(longer)).toEqual([])
    await world.advance(3_600_000)
    expect(await ends(longer)).toEqual([['verification.expired', now + 120_000]])
    const { delivery_target, ...rest } = shorter
    expect(await read(shorter)).toEqual({
      ...rest,
      status: 'expired',
      date_updated: new Date(now + 60_000).toISOString(),
    })
    await world.text(ADA, delivery_target.code, { to: delivery_target.pool_number })
    await world.settle()
    expect(await ends(shorter)).toHaveLength(1)
    const reply = await world.call(
      'DELETE',
      `${SERVICES}/${shorter.service_sid}/verifications/${shorter.sid}`,
    )
    expect([reply.status, reply.body.message]).toEqual([409, expect.stringContaining('expired')])
  })

  it('is approved in the last millisecond and not after it', async () => {
    const [early, late] = [await begin(), await begin()]
    const text = async ({ delivery_target: { code, pool_number } }: Json) => {
      await world.text(ADA, code, { to: pool_number })
      await world.settle()
    }
    await world.advance(299_999)
    await text(early)
    await world.advance(1)
    await text(late)
    expect([(await read(early)).status, (await read(late)).status]).toEqual(['approved', 'expired'])
  })

  it('keeps its time over a restart, and what fell due meanwhile ends at once', async () => {
    const [due, later] = [await begin({ ttl_seconds: 60 }), await begin({ ttl_seconds: 600 })]
    await world.app.ctx.db.run('update verifications set expires_at = $2 where sid = $1', [
      due.sid,
      world.app.ctx.clock.now() - 1,
    ])
    await world.restart()
    expect(await ends(due)).toHaveLength(1)
    expect(await ends(later)).toEqual([])
    await world.advance(600_000)
    expect(await ends(later)).toHaveLength(1)
  })

  it('is expired for a reader even before the timer has run', async () => {
    const one = await begin()
    await world.app.ctx.db.run('update verifications set expires_at = $2 where sid = $1', [
      one.sid,
      world.app.ctx.clock.now(),
    ])
    expect((await read(one)).status).toBe('expired')
    const two = await begin()
    await world.app.ctx.db.run('update verifications set expires_at = $2 where sid = $1', [
      two.sid,
      world.app.ctx.clock.now(),
    ])
    expect((await world.get(LIST)).body.data.find((row: Json) => row.sid === two.sid).status).toBe('expired')
    expect(await ends(two)).toHaveLength(1)
  })
})
