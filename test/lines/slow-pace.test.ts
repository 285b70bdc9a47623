import { describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, type Json, LINE } from '../support/world.js'

describe.each(ENGINES)('a line with a pace for each hour on %s', (engine) => {
  it('keeps it over a restart, tells when the queue is empty, and refuses what is no pace', async () => {
    const world = await createWorld(engine)
    const lines: Json[] = (await world.get('/admin/lines', 'admin')).body.data
    const { id } = lines.find(({ number, world: name }) => number === LINE && name === 'live')!
    const change = (body: object) => world.call('PATCH', `/admin/lines/${id}`, { as: 'admin', body })
    expect((await change({ pace: 180, pace_unit: 'hour' })).body).toMatchObject({
      pace: 180,
      pace_unit: 'hour',
    })
    await world.settle()
    const send = async (content: string) =>
      (await world.post('/api/send-message', { from_number: LINE, number: ADA, content })).body.message_handle
    await send('one')
    await world.advance(1000)
    await world.restart()
    const second = await send('two')
    await world.advance(18_000)
    expect((await world.record(second)).status).toBe('QUEUED')
    const why = (await world.get(`/v3/messages/${second}/why`)).body
    expect(JSON.stringify(why)).toContain('180 messages an hour')
    expect((await world.get('/v3/lines')).body.data[0]).toMatchObject({
      pace_per_second: 0.05,
      queue: { waiting: 1, empty_in_ms: 20_000 },
    })
    await world.advance(2000)
    expect((await world.record(second)).status).not.toBe('QUEUED')
    // The unit stays as it is.
    expect((await change({ pace: 90 })).body).toMatchObject({ pace: 90, pace_unit: 'hour' })
    for (const body of [
      { pace: -1 },
      { pace: 0.5 },
      { pace: 10_001 },
      { pace_unit: 'day' },
      { pace_unit: 1 },
    ]) {
      const reply = await change(body)
      expect([body, reply.status]).toEqual([body, 400])
      expect(reply.body.error.message).toContain(Object.keys(body)[0])
    }
    await world.close()
  })
})
