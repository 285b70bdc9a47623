import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type App, createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import { holdConversation } from '../../src/services/messages/holds.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { findLine } from '../../src/storage/lines/lines.js'
import { createWorld, credentials, ENGINES, type Json, LINE, START, type World } from '../support/world.js'

/** Two machines that answer each other. */
describe.each(ENGINES)('the loop breaker on %s', (engine) => {
  let world: World
  let lineId: string
  let n = 0
  beforeAll(async () => {
    world = await createWorld(engine, { line: { config: { latency_ms: 0 }, loop_limit: 6 } })
    lineId = (await world.setLine(LINE, {})).id
  })
  afterAll(() => world.close())

  const someone = () => `+1202555${9000 + ++n}`
  const shown = async (number: string) => (await world.inbox(number)).map((one: Json) => one.content)
  const held = async () => (await world.get('/admin/conversations/held', 'admin')).body.data as Json[]
  const eventsOf = async (number: string) =>
    (await world.events()).filter(
      (event) => event.subject === number && event.type.startsWith('conversation.'),
    )
  const statusOf = async (handle: string) => (await world.record(handle)).status
  /** Both sides say something, so often, with a pause after each. */
  const chat = async (number: string, rounds: number, pauseMs = 100) => {
    for (let i = 0; i < rounds; i++) {
      await world.text(number, `machine ${i}`)
      await world.advance(pauseMs)
      await world.send({ number, content: `answer ${i}` })
      await world.advance(pauseMs)
    }
  }
  const release = (conversation: string, more: Json = {}) =>
    world.post('/admin/conversations/release', { line_id: lineId, conversation, ...more }, 'admin')

  it('holds a conversation in which both sides answer at once, again and again, and says so', async () => {
    const number = someone()
    await chat(number, 10)
    // Six turns: in, out, in, out, in, out, in; the answers after that are held.
    expect(await shown(number)).toEqual(['answer 0', 'answer 1', 'answer 2'])
    expect(await eventsOf(number)).toMatchObject([
      {
        type: 'conversation.held',
        data: { lineNumber: LINE, contact: number, groupId: null, alternations: 6 },
      },
    ])
    expect(await held()).toMatchObject([{ line_id: lineId, conversation: number, alternations: 6 }])
    // Inbound messages still arrive.
    const { data } = (
      await world.get(`/api/v2/messages?is_outbound=false&number=${encodeURIComponent(number)}`)
    ).body
    expect(data).toHaveLength(10)
    const waiting = await world.send({ number, content: 'one more' })
    expect(waiting).toMatchObject({ status: 'QUEUED', error_code: null })
    expect(await statusOf(waiting.message_handle)).toBe('REGISTERED')
    // Other conversations of the line go on.
    const other = someone()
    await world.send({ number: other, content: 'unharmed' })
    await world.advance(1000)
    expect(await shown(other)).toEqual(['unharmed'])

    await world.restart()
    await world.advance(60_000)
    expect(await shown(number)).toHaveLength(3)
    await world.advance(540_000)
    expect(await shown(number)).toEqual([...Array.from({ length: 10 }, (_, i) => `answer ${i}`), 'one more'])
    expect(await eventsOf(number)).toMatchObject([
      { type: 'conversation.held' },
      { type: 'conversation.released', data: { by: 'time' } },
    ])
    const log = (await world.events()).filter((event) => event.subject === waiting.message_handle)
    expect(log.map((event) => event.data.status)).toEqual(['REGISTERED', 'QUEUED', 'SENT', 'DELIVERED'])
    expect(await held()).toEqual([])
  })

  it('an operator releases it: what was held goes out now, in order', async () => {
    const number = someone()
    await chat(number, 5)
    expect(await shown(number)).toHaveLength(3)
    const headers = { 'idempotency-key': 'release-1' }
    const body = { line_id: lineId, conversation: number }
    const first = await world.post('/admin/conversations/release', body, 'admin', headers)
    expect(first).toMatchObject({ status: 200, body: { conversation: number, messages: 2 } })
    expect(await world.post('/admin/conversations/release', body, 'admin', headers)).toMatchObject(
      first.body && { status: 200, body: first.body },
    )
    await world.advance(1000)
    expect(await shown(number)).toEqual(['answer 0', 'answer 1', 'answer 2', 'answer 3', 'answer 4'])
    expect((await eventsOf(number)).at(-1)).toMatchObject({ data: { by: 'operator', messages: 2 } })
    expect((await release(number)).status).toBe(404)
    expect((await release('nobody')).status).toBe(404)
    expect((await world.post('/admin/conversations/release', body)).status).toBe(403)
  })

  it('or drops it; and who opted out meanwhile gets nothing of what was held', async () => {
    const [dropped, gone] = [someone(), someone()]
    await chat(dropped, 4)
    const { message_handle } = await world.send({ number: dropped, content: 'never' })
    expect(await release(dropped, { drop: true })).toMatchObject({ body: { messages: 2 } })
    await world.advance(1000)
    expect(await world.record(message_handle)).toMatchObject({
      status: 'ERROR',
      error_reason: 'conversation_held',
    })
    expect(await shown(dropped)).toHaveLength(3)

    await chat(gone, 4)
    const held = await world.send({ number: gone, content: 'too late' })
    await world.text(gone, 'STOP')
    await world.advance(600_000)
    expect(await world.record(held.message_handle)).toMatchObject({
      status: 'ERROR',
      error_code: 4002,
      opted_out: true,
    })
    expect(await shown(gone)).not.toContain('too late')
  })

  it('people who take their time are left alone, and so is a burst of one side', async () => {
    const [slow, burst] = [someone(), someone()]
    await chat(slow, 8, 5001)
    expect(await shown(slow)).toHaveLength(8)
    await world.text(burst, 'hello')
    for (let i = 0; i < 20; i++) await world.send({ number: burst, content: `news ${i}` })
    await world.advance(10_000)
    expect(await shown(burst)).toHaveLength(20)
    expect(await held()).toEqual([])
  })

  it('in a group, too', async () => {
    const [one, two] = [someone(), someone()]
    const group = { from_number: LINE, numbers: [one, two] }
    const { body } = await world.post('/api/send-group-message', { ...group, content: 'round 0' })
    await world.advance(100)
    for (let i = 1; i < 8; i++) {
      await world.text(one, `machine ${i}`, { to: undefined, group_id: body.group_id })
      await world.advance(100)
      await world.post('/api/send-group-message', { ...group, content: `round ${i}` })
      await world.advance(100)
    }
    expect(await held()).toMatchObject([{ conversation: body.group_id, group_id: body.group_id }])
    expect(await shown(two)).not.toContain('round 7')
    expect((await release(body.group_id)).status).toBe(200)
    await world.advance(1000)
    expect(await shown(two)).toContain('round 7')
  })

  it('can be switched off, for a line', async () => {
    await world.setLine(LINE, { loop_limit: 0 })
    const number = someone()
    await chat(number, 12)
    expect(await shown(number)).toHaveLength(12)
    expect(await held()).toEqual([])
    expect(await world.setLine(LINE, { loop_limit: null })).toMatchObject({ loop_limit: null })
    await chat(number, 9)
    expect(await held()).toEqual([])
    await chat(number, 3)
    expect(await held()).toMatchObject([{ alternations: 20 }])
  })
})

describe.skipIf(!ENGINES.includes('postgres'))('the loop breaker at two processes', () => {
  it('what another process released goes out, also when the word of it was lost', async () => {
    const world = await createWorld('postgres', { line: { config: { latency_ms: 0 } } })
    let other: App | undefined
    try {
      const { ctx } = world.app
      const { id: lineId } = await world.setLine(LINE, {})
      const db = await openPostgres(world.config.databaseUrl!)
      // The process drives no line, and its word reaches nobody.
      other = await createApp(world.config, {
        storage: Promise.resolve({ ...db, notify: async () => {} }),
        clock: createClock(START),
      })
      const number = '+12025559001'
      const line = (await findLine(ctx.db, lineId))!
      await holdConversation(ctx, line, { accountId: line.accountId!, contact: number, groupId: null }, 6)
      await world.send({ number, content: 'held' })
      await world.advance(5000)
      expect(await world.inbox(number)).toEqual([])
      const reply = await other.server.inject({
        method: 'POST',
        url: '/admin/conversations/release',
        headers: credentials('admin'),
        payload: { line_id: lineId, conversation: number },
      })
      expect([reply.statusCode, reply.json().messages]).toEqual([200, 1])
      await vi.waitUntil(async () => (await world.inbox(number)).length > 0, {
        timeout: 60_000,
        interval: 50,
      })
      await world.send({ number, content: 'and more' })
      await world.advance(1000)
      expect((await world.inbox(number)).map((one: Json) => one.content)).toEqual(['held', 'and more'])
    } finally {
      await other?.stop()
      await world.close()
    }
  })
})
