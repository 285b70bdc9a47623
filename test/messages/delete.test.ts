import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSink } from '../support/web/sink.js'
import {
  ADA,
  BOB,
  createWorld,
  DAN,
  ENGINES,
  type Json,
  LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'
const NO_HANDLE = '00000000-0000-4000-8000-000000000000'

describe.each(ENGINES)('deleting a message on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
  })
  afterAll(() => world.close())

  const remove = (handle: string, as: Who = 'live', path = '/api/message/') =>
    world.call('DELETE', path + handle, { as })
  const totals = async (query = '') =>
    (await world.get(`/api/v2/messages?limit=1${query}`)).body.pagination.total as number
  const delivered = async (fields: Record<string, unknown> = {}) => {
    const { message_handle } = await world.send(fields)
    await world.advance(1000)
    return message_handle as string
  }

  it.each(['/api/message/', '/api/v2/messages/'])('by DELETE %s{handle}', async (path) => {
    const handle = await delivered({ content: 'to be gone' })
    const before = await totals()
    const reply = await remove(handle, 'live', path)
    expect(reply).toMatchObject({
      status: 200,
      body: { status: 'OK', message: 'Message deleted', message_handle: handle },
    })
    expect(await totals()).toBe(before - 1)
    const { data } = (await world.get('/api/v2/messages?limit=1000')).body
    expect(data.map((message: Json) => message.message_handle)).not.toContain(handle)
    const absent = await world.get(`/api/v2/messages/${NO_HANDLE}`)
    expect(absent.status).toBe(404)
    for (const ask of [`/api/v2/messages/${handle}`, `/api/status?handle=${handle}`]) {
      const gone = await world.get(ask)
      expect([gone.status, gone.body]).toEqual([404, absent.body])
    }
    const again = await remove(handle, 'live', path)
    expect([again.status, again.body]).toEqual([404, absent.body])
    expect((await remove(NO_HANDLE, 'live', path)).body).toEqual(absent.body)
    expect((await world.get(`/api/v2/messages/${handle}`, 'admin')).status).toBe(404)
  })

  it('leaves no total that counts it', async () => {
    const queries = [
      '',
      `&number=${encodeURIComponent(BOB)}`,
      `&sendblue_number=${encodeURIComponent(LINE)}`,
      '&is_outbound=true',
      '&status=SENT',
      '&service=SMS',
      '&message_type=message',
      '&created_at_gte=2026-01-01&created_at_lte=2026-12-31',
      '&updated_at_gte=2026-01-01',
      '&sent_at_gte=2026-01-01',
      '&status=SENT&created_at_gte=2026-01-01',
    ]
    const counts = () => Promise.all(queries.map(totals))
    const before = await counts()
    const handle = await delivered({ number: BOB })
    expect(await counts()).toEqual(before.map((n) => n + 1))
    await remove(handle)
    expect(await counts()).toEqual(before)
  })

  it('hides an inbound message too, and its repeat from the carrier does not bring it back', async () => {
    await world.text(ADA, 'inbound to be gone')
    await world.settle()
    const find = async () =>
      (await world.get('/api/v2/messages?is_outbound=false')).body.data.map((m: Json) => m.content)
    const { data } = (await world.get('/api/v2/messages?is_outbound=false&limit=1')).body
    expect(data[0].content).toBe('inbound to be gone')
    expect((await remove(data[0].message_handle)).status).toBe(200)
    // The carrier hands it over once more, with the next one.
    const again = await world.app.ctx.db.run(
      'update phone_messages set due_at = 0, arrived_at = null where content = $1',
      ['inbound to be gone'],
    )
    expect(again).toBe(1)
    await world.text(ADA, 'the next one')
    await world.advance(1000)
    const due = await world.app.ctx.db.one(
      'select count(*) as n from phone_messages where due_at is not null',
    )
    expect(due).toEqual({ n: 0 })
    expect(await find()).not.toContain('inbound to be gone')
  })

  it('recalls nothing: what waits still goes out, and receipts leave the totals alone', async () => {
    await world.setLine(LINE, { pace: 1 })
    try {
      const sent = await Promise.all([1, 2, 3].map((n) => world.send({ content: `still goes ${n}` })))
      const before = await totals()
      for (const { message_handle } of sent) expect((await remove(message_handle)).status).toBe(200)
      expect(await totals()).toBe(before - 3)
      await world.advance(10_000)
      const inbox = (await world.inbox(ADA)).map((message) => message.content)
      for (const n of [1, 2, 3]) expect(inbox.filter((text) => text === `still goes ${n}`)).toHaveLength(1)
      expect(await totals()).toBe(before - 3)
      expect(await totals('&status=QUEUED')).toBe(0)
      for (const { message_handle } of sent) expect((await world.record(message_handle)) ?? null).toBe(null)
      const row = await world.app.ctx.db.one('select * from messages where handle = $1', [
        sent[0].message_handle,
      ])
      expect(row).toMatchObject({ status: 'DELIVERED', deleted_at: expect.any(Number) })
    } finally {
      await world.setLine(LINE, { pace: 0 })
    }
  })

  it('a receipt that comes later is kept and counted nowhere', async () => {
    const handle = await delivered({ number: DAN })
    const before = await totals('&status=DELIVERED')
    await remove(handle)
    await world.setPhone(DAN, { power: true })
    await world.advance(1000)
    await world.setPhone(DAN, { power: false })
    expect(await totals('&status=DELIVERED')).toBe(before)
    const events = (await world.events()).filter((event) => event.subject === handle)
    expect(events.map((event) => event.type)).toEqual([
      'message.created',
      'message.updated',
      'message.deleted',
      'message.updated',
    ])
    expect(events.at(-1).data.status).toBe('DELIVERED')
  })

  it('its callback hears nothing more of it', async () => {
    const sink = await createSink()
    try {
      const { message_handle } = await world.send({ number: DAN, status_callback: sink.url })
      await world.advance(1000)
      expect(sink.received.map(({ body }) => body.status)).toEqual(['QUEUED', 'SENT'])
      await remove(message_handle)
      await world.setPhone(DAN, { power: true })
      await world.advance(1000)
      await world.setPhone(DAN, { power: false })
      expect(sink.received).toHaveLength(2)
    } finally {
      await sink.close()
    }
  })

  it('what waits for a slow receiver is not posted any more', async () => {
    const sink = await createSink()
    const held: ServerResponse[] = []
    sink.answer((_, reply) => void held.push(reply))
    try {
      const sent: Json[] = []
      for (let n = 0; n < 12; n++)
        sent.push(await world.send({ content: `slow ${n}`, status_callback: sink.url }))
      // A new receiver gets one post at a time.
      await vi.waitUntil(() => held.length === 1, { timeout: 60_000 })
      const gone = sent.at(-1)!.message_handle
      expect((await remove(gone)).status).toBe(200)
      sink.answer(() => 200)
      for (const reply of held) reply.writeHead(200).end()
      await world.advance(1000)
      const told = new Set(sink.received.map(({ body }) => body.message_handle))
      expect([...told].sort()).toEqual(
        sent
          .slice(0, -1)
          .map(({ message_handle }) => message_handle)
          .sort(),
      )
    } finally {
      await sink.close()
    }
  })

  it('what is being posted when it goes is not posted again, whatever the receiver says', async () => {
    const sink = await createSink()
    const held: ServerResponse[] = []
    sink.answer((_, reply) => void held.push(reply))
    try {
      const { message_handle } = await world.send({ content: 'secret', status_callback: sink.url })
      await vi.waitUntil(() => held.length === 1, { timeout: 60_000 })
      expect((await remove(message_handle)).status).toBe(200)
      sink.answer(() => 200)
      held[0]!.writeHead(500).end()
      await world.settle()
      await world.advance(600_000)
      expect(sink.received).toHaveLength(1)
      const deliveries = await world.app.ctx.db.all(
        'select state, reason, next_at, attempts, body from webhook_deliveries where subject = $1 order by id',
        [message_handle],
      )
      const canceled = { state: 'canceled', reason: 'The message was deleted', next_at: null, body: '' }
      // The post was made, and the log says so.
      expect(deliveries[0]).toEqual({ ...canceled, attempts: 1 })
      for (const other of deliveries.slice(1)) expect(other).toEqual({ ...canceled, attempts: 0 })
    } finally {
      await sink.close()
    }
  })

  it('a repeat of its request is still told from a new one', async () => {
    const key = { 'idempotency-key': `deleted-${engine}` }
    const first = await world.send({ content: 'once' }, 'live', key)
    await world.advance(1000)
    await remove(first.message_handle)
    expect((await world.send({ content: 'once' }, 'live', key)).message_handle).toBe(first.message_handle)
    const retry = { 'x-stainless-retry-count': '1' }
    expect((await world.send({ content: 'once' }, 'live', retry)).message_handle).toBe(first.message_handle)
    await world.advance(1000)
    expect((await world.inbox(ADA)).filter((message) => message.content === 'once')).toHaveLength(1)
  })

  it('cannot be answered any more, but an answer on its way keeps its thread', async () => {
    const target = await delivered({ content: 'the question' })
    const question = (await world.inbox(ADA)).find((message) => message.content === 'the question')
    // The reaction waits behind another message while its target is deleted.
    await world.setLine(LINE, { pace: 1 })
    await world.send({ content: 'before the answer' })
    const reply = await world.send({ content: 'the answer', reply_to: { message_handle: target } })
    expect((await world.status(reply.message_handle)).status).toBe('QUEUED')
    await remove(target)
    await world.advance(5000)
    await world.setLine(LINE, { pace: 0 })
    const shown = (await world.inbox(ADA)).find((message) => message.content === 'the answer')
    expect(shown.reply_to).toBe(question.id)
    expect((await world.record(reply.message_handle)).reply_to).toEqual({ message_handle: target })
    const late = await world.post('/api/send-message', {
      from_number: LINE,
      number: ADA,
      content: 'x',
      reply_to: { message_handle: target },
    })
    expect(late.status).toBe(400)
  })

  it('twice at once: one succeeds, and the totals lose one', async () => {
    const handle = await delivered()
    const before = await totals()
    const replies = await Promise.all([1, 2, 3, 4].map(() => remove(handle)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
    expect(await totals()).toBe(before - 1)
  })

  it("another account's is exactly as absent, and an admin key belongs to none", async () => {
    const handle = await delivered()
    for (const as of [b.live, 'test'] as Who[]) {
      const absent = await remove(NO_HANDLE, as)
      const foreign = await remove(handle, as)
      expect([foreign.status, foreign.body]).toEqual([404, absent.body])
    }
    expect((await remove(handle, 'admin')).status).toBe(403)
    expect((await world.get(`/api/v2/messages/${handle}`)).status).toBe(200)
  })

  it.each(['%00', "'%20or%201=1%20--", '%25', '*', 'x'.repeat(500), '%F0%9F%98%80'])(
    'the handle %j finds nothing',
    async (handle) => {
      expect((await remove(handle)).status).toBe(handle === '%00' ? 400 : 404)
    },
  )

  it('lists behind many deleted ones use an index that does not hold them', async () => {
    const { db } = world.app.ctx
    const plan = await db.tx(async (sql) => {
      // PostgreSQL may sort the few rows of a test instead, once it has counted them.
      if (engine === 'postgres') await sql.run('set local enable_sort = off')
      return sql.all(
        `${engine === 'sqlite' ? 'explain query plan' : 'explain'} select id from messages
         where deleted_at is null and account_id = $1 order by created_at desc, id desc limit 10`,
        ['x'],
      )
    })
    expect(JSON.stringify(plan)).toMatch(/ messages_created\b/)
    const indexes = await db.all(
      engine === 'sqlite'
        ? "select sql as text from sqlite_master where type = 'index' and name = 'messages_created'"
        : "select indexdef as text from pg_indexes where indexname = 'messages_created'",
    )
    expect(String(indexes[0]!.text).toLowerCase()).toContain('deleted_at is null')
  })
})
