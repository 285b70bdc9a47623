import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, CLEO, createWorld, ENGINES, LINE, type World } from '../support/world.js'

const DAY = 86_400_000
/** Twelve hours after the start of the world. */
const MIDNIGHT = '2026-03-02T00:00:00.000Z'

describe.each(ENGINES)('the daily limit of a line on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine, { line: { daily_limit: 3, pace: 0, config: { latency_ms: 0 } } })
  })
  afterAll(() => world.close())

  const contents = async (phone: string) => (await world.inbox(phone)).map(({ content }) => content)
  const statusOf = async (handle: string) => (await world.status(handle)).status
  const why = async (handle: string) => (await world.get(`/v3/messages/${handle}/why`)).body.data

  it('holds what is more until midnight, in its order, and why says so', async () => {
    const handles: string[] = []
    for (let i = 1; i <= 8; i++)
      handles.push((await world.send({ number: [ADA, BOB, CLEO][i % 3], content: `${i}` })).message_handle)
    await world.settle()
    expect(await Promise.all(handles.map(statusOf))).toEqual([
      'SENT',
      'DELIVERED',
      'DELIVERED',
      ...Array(5).fill('QUEUED'),
    ])
    const story = await why(handles[3]!)
    expect(story).toMatchObject({
      verdict: 'daily_limit',
      summary: 'The line has sent its daily limit of 3 messages today.',
      next_step: `Wait until ${MIDNIGHT}, use another line, or ask the operator to raise the daily limit.`,
    })
    expect(story.steps.at(-1)).toMatchObject({ what: 'waits' })

    // The next driver of the line counts the messages that went before.
    await world.restart()
    await world.send({ number: ADA, content: '9' })
    await world.advance(DAY / 2 - 1)
    expect(await contents(ADA)).toEqual(['3'])
    await world.advance(1)
    expect(await Promise.all(handles.map(statusOf))).toEqual([
      'SENT',
      'DELIVERED',
      'DELIVERED',
      'SENT',
      'DELIVERED',
      'DELIVERED',
      'QUEUED',
      'QUEUED',
    ])
    await world.advance(DAY)
    expect([await contents(BOB), await contents(CLEO), await contents(ADA)]).toEqual([
      ['1', '4', '7'],
      ['2', '5', '8'],
      ['3', '6', '9'],
    ])
  })

  it('does not count what never left the line, nor a message twice that goes out by another service', async () => {
    await world.advance(DAY)
    await world.setLine(LINE, { config: { latency_ms: 0, fault: 'unreachable', fault_times: 2 } })
    const { message_handle: handle } = await world.send({ number: '+12025550131' })
    await world.settle()
    await world.advance(60_000)
    expect(await statusOf(handle)).toBe('DELIVERED')
    for (const number of ['+12025550132', '+12025550133']) await world.send({ number })
    await world.settle()
    expect(await world.inbox('+12025550133')).toHaveLength(1)
    expect(await statusOf((await world.send({ number: '+12025550134' })).message_handle)).toBe('QUEUED')
  })

  it('may be raised in the middle of the day, and taken away', async () => {
    const { message_handle: handle } = await world.send({ number: '+12025550135' })
    expect(await why(handle)).toMatchObject({ verdict: 'daily_limit' })
    expect(await world.setLine(LINE, { daily_limit: 4, config: { latency_ms: 0 } })).toMatchObject({
      daily_limit: 4,
    })
    expect(await statusOf(handle)).toBe('QUEUED')
    expect(await world.inbox('+12025550134')).toHaveLength(1)
    await world.setLine(LINE, { daily_limit: 0 })
    expect(await statusOf(handle)).toBe('DELIVERED')
  })

  it('is a whole number from 0', async () => {
    const [line] = (await world.get('/admin/lines', 'admin')).body.data
    for (const daily_limit of [-1, 1.5, 'many', 1e12, null]) {
      const reply = await world.call('PATCH', `/admin/lines/${line.id}`, {
        as: 'admin',
        body: { daily_limit },
      })
      expect([daily_limit, reply.status]).toEqual([daily_limit, 400])
      expect(reply.body.error.message).toContain('daily_limit')
    }
  })
})
