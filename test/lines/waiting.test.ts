import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMessagesByHandle } from '../../src/storage/messages/messages.js'
import { listQueue } from '../../src/storage/messages/queue.js'
import { readWaiting } from '../../src/worker/lines/waiting.js'
import { ADA, BOB, createWorld, ENGINES, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('a message that a line takes from memory on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_ALLOW_HOSTS: 'localhost' } })
  })
  afterAll(() => world.close())

  const recent = (handle: string) => world.app.ctx.acceptance.recent(handle)

  it('is the one in the table, whatever it says', async () => {
    const first = (await world.send({ from_number: LINE, number: ADA, content: 'first' })).message_handle
    await world.settle()
    const to = { from_number: LINE, number: ADA }
    const images = ['https://example.com/1.png', 'https://example.com/2.png']
    const sends: [string, object][] = [
      ['/api/send-message', { ...to, content: 'a\tb \u{1f600}', send_style: 'slam' }],
      ['/api/send-message', { ...to, content: 'answer', reply_to: { message_handle: first } }],
      ['/api/send-message', { ...to, content: 'called', status_callback: 'http://localhost:1/x' }],
      ['/api/send-message', { ...to, media_url: 'https://example.com/1.png' }],
      ['/api/send-message', { ...to, content: 'later', send_at: '2026-06-01T00:00:00Z' }],
      ['/api/send-group-message', { from_number: LINE, numbers: [ADA, BOB], content: 'all' }],
      ['/api/send-carousel', { ...to, media_urls: images, metadata: { a: [1, null] } }],
    ]
    await world.setLine(LINE, { pace: 1, pace_unit: 'hour' })
    for (const [path, body] of sends) {
      const reply = await world.post(path, body)
      expect(reply.body).toMatchObject({ message_handle: expect.any(String) })
      const handle: string = reply.body.message_handle
      const { id, ...stored } = (await findMessagesByHandle(world.app.ctx.db, [handle])).get(handle)!
      expect(recent(handle)).toEqual(stored)
    }
  })

  it('is read again if somebody has changed it since', async () => {
    const { ctx } = world.app
    await world.setLine(LINE, { pace: 1, pace_unit: 'hour' })
    const { message_handle: handle } = await world.send({ from_number: LINE, number: BOB, content: 'old' })
    const change = (content: string, by: number) =>
      ctx.db.run('update messages set content = $1, version = version + $2 where handle = $3', [
        content,
        by,
        handle,
      ])
    const { lineId, id } = (await findMessagesByHandle(ctx.db, [handle])).get(handle)!
    const seen = () => listQueue(ctx.db, lineId, id - 1, 1)
    const entry = { id, handle, accountId: '', conversation: BOB, contact: BOB, dueAt: 0 }
    const content = async (rows: Awaited<ReturnType<typeof seen>>) =>
      (await readWaiting(ctx, [entry], rows))[0]!.content
    await change('in the table', 0)
    expect(await content(await seen())).toBe('old')
    expect(await content([])).toBe('in the table')
    await change('new', 1)
    expect(await content(await seen())).toBe('new')
  })
})
