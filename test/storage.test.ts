import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Columns } from '../src/storage/db.js'
import { createWorld, ENGINES, type Json, LINE, type World } from './support/world.js'

/** What is written many at a time ends in the columns it is meant for. */
describe.each(ENGINES)('rows written together on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  it('statements of as many columns, but others, are told apart', async () => {
    const { db } = world.app.ctx
    const shared = { delivery_id: 'bigint', n: 'bigint', at: 'bigint', ms: 'bigint', request_headers: 'text' }
    const rows = (from: number, text: string) =>
      Array.from({ length: 20 }, (_, i) => [from + i, 1, 2, 3, '{}', text])
    await db.insertMany('webhook_attempts', { ...shared, reason: 'text' } as Columns, rows(1000, 'a reason'))
    await db.insertMany('webhook_attempts', { ...shared, answer: 'text' } as Columns, rows(2000, 'an answer'))
    const kept = await db.all(
      'select distinct reason, answer from webhook_attempts where delivery_id >= 1000 order by answer',
    )
    expect(kept).toHaveLength(2)
    expect(kept).toContainEqual({ reason: 'a reason', answer: null })
    expect(kept).toContainEqual({ reason: null, answer: 'an answer' })
  })

  it('messages that use different fields, many at once, keep them', async () => {
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    const draft = { account_id: account.id, email: 'ada@example.com', subject: 'ada' }
    const seat = (await world.post('/admin/seats', draft, 'admin')).body
    const sendMany = (fields: Json) =>
      Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const body = { number: `+1202555${2000 + n}`, from_number: LINE, content: `text ${n}`, ...fields }
          return (await world.post('/api/send-message', body)).body
        }),
      )
    const later = new Date(world.app.ctx.clock.now() + 3_600_000).toISOString()
    const [seated, timed, called] = [
      await sendMany({ seat_id: seat.id }),
      await sendMany({ send_at: later }),
      await sendMany({ status_callback: 'https://example.com/hook' }),
    ]
    const rowOf = async ({ message_handle }: Json) =>
      world.app.ctx.db.one<Json>('select * from messages where handle = $1', [message_handle])
    for (const [n, sent] of seated.entries())
      expect(await rowOf(sent)).toMatchObject({
        content: `text ${n}`,
        sender_email: 'ada@example.com',
        status_callback: null,
        due_at: null,
      })
    for (const [n, sent] of timed.entries())
      expect(await rowOf(sent)).toMatchObject({
        content: `text ${n}`,
        contact: `+1202555${2000 + n}`,
        due_at: Date.parse(later),
        seat_id: null,
        sender_email: null,
        status_callback: null,
      })
    for (const [n, sent] of called.entries())
      expect(await rowOf(sent)).toMatchObject({
        content: `text ${n}`,
        status_callback: 'https://example.com/hook',
        seat_id: null,
        due_at: null,
        extra: null,
      })
  })
})
