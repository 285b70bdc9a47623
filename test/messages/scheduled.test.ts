import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { queueDue } from '../../src/services/messages/schedule.js'
import type { Sql } from '../../src/storage/engine/db.js'
import { listBlockedBacklog, listOrphans } from '../../src/storage/lines/lines.js'
import type { Hold } from '../../src/storage/messages/holds.js'
import { listHeld, listQueue, listQueueOf } from '../../src/storage/messages/queue.js'
import { findNextDue, listDue, listScheduled } from '../../src/storage/messages/schedule.js'
import { createSink } from '../support/web/sink.js'
import {
  BOB,
  CLEO,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type World,
} from '../support/world.js'

const MINUTE = 60_000
const DAY = 86_400_000

describe.each(ENGINES)('scheduled sends on %s', (engine) => {
  let world: World
  let n = 0
  beforeAll(async () => {
    world = await createWorld(engine, { line: { config: { latency_ms: 0 } } })
  })
  afterAll(() => world.close())

  const someone = () => `+1202555${7000 + ++n}`
  const ahead = (ms: number) => new Date(world.app.ctx.clock.now() + ms).toISOString()
  const shown = async (number: string) => (await world.inbox(number)).map((one: Json) => one.content)
  const statusOf = async (handle: string) => (await world.record(handle)).status
  const storyOf = async (handle: string) =>
    (await world.events()).filter((event) => event.subject === handle).map((event) => event.data.status)
  const listed = async (query = '') => (await world.get(`/v3/scheduled-messages${query}`)).body
  const cancel = (handle: string, as?: Json) =>
    world.call('DELETE', `/v3/scheduled-messages/${handle}`, as ? { as } : {})
  const plan = (number: string, content: string, ms: number, more: Json = {}) =>
    world.send({ number, content, send_at: ahead(ms), ...more })

  it('goes out at its time and not before, and says so on the way', async () => {
    const number = someone()
    const sendAt = ahead(10 * MINUTE)
    const reply = await world.post('/api/send-message', {
      from_number: LINE,
      number,
      content: 'later',
      send_at: sendAt,
    })
    expect(reply).toMatchObject({
      status: 202,
      body: { status: 'QUEUED', send_at: sendAt, error_code: null },
    })
    const { message_handle } = reply.body
    expect(await world.record(message_handle)).toMatchObject({ status: 'REGISTERED', send_at: sendAt })
    await world.advance(10 * MINUTE - 1)
    expect(await shown(number)).toEqual([])
    await world.advance(1)
    expect(await shown(number)).toEqual(['later'])
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED', send_at: sendAt })
    expect(await storyOf(message_handle)).toEqual(['REGISTERED', 'QUEUED', 'SENT', 'DELIVERED'])
    const { body } = await world.get(`/api/status?handle=${message_handle}`)
    expect(body).toMatchObject({ send_at: sendAt, date_sent: sendAt })
  })

  it('webhooks and callbacks hear of every step', async () => {
    const sink = await createSink()
    const webhooks = { outbound: [`${sink.url}/out`] }
    expect((await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })).status).toBe(200)
    const { send_at } = await plan(someone(), 'heard', MINUTE, { status_callback: `${sink.url}/callback` })
    await world.advance(2 * MINUTE)
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: {} } })
    for (const path of ['/out', '/callback']) {
      const posts = sink.received.filter((post) => post.path === path)
      expect(posts.map((post) => post.body.status)).toEqual(['REGISTERED', 'QUEUED', 'SENT', 'DELIVERED'])
      expect(posts.every((post) => post.body.send_at === send_at)).toBe(true)
    }
    await sink.close()
  })

  it('two processes at the same time queue each once, in one order', async () => {
    const numbers = Array.from({ length: 5 }, someone)
    const sendAt = ahead(MINUTE)
    const handles: string[] = []
    for (const content of ['one', 'two', 'three'])
      for (const number of numbers)
        handles.push((await world.send({ number, content, send_at: sendAt })).message_handle)
    const due = world.advance(MINUTE)
    for (let turns = 0; turns < 30; turns++) {
      await new Promise((done) => setImmediate(done))
      await Promise.all([queueDue(world.app.ctx), queueDue(world.app.ctx)])
    }
    await due
    await world.advance(1000)
    for (const number of numbers) expect(await shown(number)).toEqual(['one', 'two', 'three'])
    for (const handle of handles)
      expect(await storyOf(handle)).toEqual(['REGISTERED', 'QUEUED', 'SENT', 'DELIVERED'])
  })

  it('two processes that read the same due message queue it once', async () => {
    const { message_handle } = await plan(someone(), 'once', MINUTE)
    const { ctx } = world.app
    let bothHaveRead = () => {}
    const reading = new Promise<void>((done) => (bothHaveRead = done))
    let readers = 0
    const write: typeof ctx.db.write = async (fn) => {
      if (++readers === 2) bothHaveRead()
      await reading
      return ctx.db.write(fn)
    }
    const now = ctx.clock.now() + MINUTE
    const later = { ...ctx, db: { ...ctx.db, write }, clock: { ...ctx.clock, now: () => now } }
    await Promise.all([queueDue(later), queueDue(later)])
    expect(await storyOf(message_handle)).toEqual(['REGISTERED', 'QUEUED'])
    await world.advance(MINUTE)
  })

  it.runIf(engine === 'sqlite')('nothing reads past what waits, or past all messages', async () => {
    const { db } = world.app.ctx
    const plans: string[] = []
    const explain = async (text: string, params: Parameters<Sql['all']>[1]) => {
      for (const row of await db.all(`explain query plan ${text}`, params)) plans.push(String(row.detail))
      return []
    }
    const sql = { ...db, all: explain, one: explain } as unknown as Sql
    const planOf = async (work: Promise<unknown>) => {
      await work
      return plans.splice(0).join('\n')
    }
    expect(await planOf(listQueue(sql, 'x', 1, 10))).toMatch(/SEARCH messages USING INDEX messages_queue /)
    const hold = { lineId: 'x', conversation: 'y', accountId: 'a', until: 1 } as Hold
    expect(await planOf(listHeld(sql, hold, 0, 10))).toContain('INDEX messages_queue ')
    const due = await planOf(listDue(sql, 1, { dueAt: 0, id: 0 }, 10))
    expect(due).toContain('INDEX messages_due ')
    expect(due).not.toContain('TEMP B-TREE')
    for (const conversation of [null, 'y'])
      expect(
        await planOf(listQueueOf(sql, 'x', { accountId: 'a', conversation, from: 1, limit: 10 })),
      ).toMatch(/SEARCH messages USING INDEX messages_queue /)
    expect(await planOf(findNextDue(sql))).toContain('INDEX messages_due')
    expect(await planOf(listScheduled(sql, 'x', null, undefined, 10))).toMatch(
      /^SEARCH .* messages_scheduled /,
    )
    for (const work of [listBlockedBacklog(sql, 10), listOrphans(sql, 1, 10)])
      expect(await planOf(work)).not.toMatch(/SCAN messages/)
  })

  it('several are due in the order of their times, two at once in the order they were sent', async () => {
    const number = someone()
    await plan(number, 'third', 3 * MINUTE)
    await plan(number, 'first', MINUTE)
    const sendAt = ahead(2 * MINUTE)
    for (const content of ['second a', 'second b']) await world.send({ number, content, send_at: sendAt })
    await world.advance(3 * MINUTE)
    expect(await shown(number)).toEqual(['first', 'second a', 'second b', 'third'])
  })

  it('what is sent meanwhile to the same person goes out first, as if nothing waited', async () => {
    const number = someone()
    await plan(number, 'scheduled', MINUTE)
    await world.send({ number, content: 'now' })
    await world.advance(1000)
    expect(await shown(number)).toEqual(['now'])
    await world.advance(MINUTE)
    expect(await shown(number)).toEqual(['now', 'scheduled'])
  })

  it('takes its turn in its conversation from when it is due, also after a restart', async () => {
    const number = someone()
    await plan(number, 'scheduled', MINUTE)
    await world.settle()
    const line = await world.setLine(LINE, {})
    await world.setLine(LINE, { pace: 1 })
    await world.advance(MINUTE - 100)
    const before = ['before 1', 'before 2', 'before 3']
    for (const content of before) await world.send({ number, content })
    await world.advance(100)
    await world.send({ number, content: 'after it' })
    await world.restart()
    await world.advance(2 * MINUTE)
    expect(await shown(number)).toEqual([...before, 'scheduled', 'after it'])
    await world.setLine(LINE, { pace: line.pace })
  })

  it('survives restarts, and goes out late when nobody was there at its time', async () => {
    const number = someone()
    const { message_handle } = await plan(number, 'durable', 5 * MINUTE)
    await world.restart()
    await world.advance(4 * MINUTE)
    expect(await statusOf(message_handle)).toBe('REGISTERED')
    await world.restart()
    await world.advance(MINUTE)
    expect(await shown(number)).toEqual(['durable'])
  })

  it('within the next second counts as now', async () => {
    const number = someone()
    const { message_handle } = await plan(number, 'at once', 1000)
    await world.settle()
    expect(await storyOf(message_handle)).not.toContain('REGISTERED')
    await world.advance(0)
    expect(await shown(number)).toEqual(['at once'])
  })

  it('carousels and messages to groups, too', async () => {
    const [one, two] = [someone(), someone()]
    const group = await world.post('/api/send-group-message', {
      from_number: LINE,
      numbers: [one, two],
      content: 'all of you',
      send_at: ahead(MINUTE),
    })
    expect(group).toMatchObject({ status: 202, body: { status: 'QUEUED', number: [one, two] } })
    const carousel = await world.post('/api/send-carousel', {
      from_number: LINE,
      number: one,
      media_urls: ['https://example.com/1.png', 'https://example.com/2.png'],
      send_at: ahead(2 * MINUTE),
    })
    expect(carousel).toMatchObject({ status: 202, body: { status: 'QUEUED', send_at: ahead(2 * MINUTE) } })
    expect((await listed()).data.map((one: Json) => [one.message_handle, one.number])).toEqual([
      [group.body.message_handle, `${one},${two}`],
      [carousel.body.message_handle, one],
    ])
    expect(await shown(two)).toEqual([])
    await world.advance(MINUTE)
    expect(await shown(two)).toEqual(['all of you'])
    expect(await world.inbox(one)).toHaveLength(1)
    await world.advance(MINUTE)
    expect(await world.inbox(one)).toHaveLength(2)
  })

  it('an App Card is continued when it has gone out, not before', async () => {
    const number = someone()
    const app_card = {
      appName: 'Chess',
      extensionBundleId: 'com.example.chess.messages',
      teamId: 'A1B2C3D4E5',
      layout: {},
      url: 'data:,1',
    }
    const { message_handle } = await plan(number, '', MINUTE, { app_card })
    const update = () =>
      world.post(`/api/messages/${message_handle}/update-app-card`, {
        url: 'data:,2',
        idempotency_key: 'move',
      })
    const early = await update()
    expect([early.status, early.body.message]).toEqual([
      422,
      expect.stringMatching(/^message_handle: .*not been sent/),
    ])
    await world.advance(MINUTE)
    expect((await update()).status, 'the refusal was not kept').toBe(202)
    await world.advance(1000)
    expect((await world.inbox(number)).map((one: Json) => one.app_card.url)).toEqual(['data:,1', 'data:,2'])
  })

  it('a reply to it goes out after it, or is refused', async () => {
    const [number, other] = [someone(), someone()]
    const question = await plan(number, 'question', 2 * MINUTE)
    const toGroup = async (more: Json) =>
      world.post('/api/send-group-message', { from_number: LINE, numbers: [number, other], ...more })
    const all = (await toGroup({ content: 'all of you?', send_at: ahead(2 * MINUTE) })).body
    const reply_to = { message_handle: question.message_handle }
    const replies = (send_at?: string) => [
      world.post('/api/send-message', { from_number: LINE, number, content: 'early', reply_to, send_at }),
      world.post('/api/send-carousel', {
        from_number: LINE,
        number,
        media_urls: ['https://example.com/1.png', 'https://example.com/2.png'],
        reply_to,
        send_at,
      }),
      toGroup({ content: 'early', reply_to: { message_handle: all.message_handle }, send_at }),
    ]
    for (const send_at of [undefined, ahead(MINUTE), ahead(2 * MINUTE - 1)]) {
      for (const reply of await Promise.all(replies(send_at))) {
        expect([reply.status, reply.body.message]).toEqual([
          422,
          expect.stringMatching(/^reply_to\.message_handle: .*not been sent/),
        ])
      }
    }
    await plan(number, 'same moment', 2 * MINUTE, { reply_to })
    const later = await Promise.all(replies(ahead(3 * MINUTE)))
    expect(later.map((reply) => reply.status)).toEqual([202, 202, 202])
    await world.advance(3 * MINUTE)
    const screen = await world.inbox(number)
    const idOf = (content: string) => screen.find((one: Json) => one.content === content).id
    const shape = screen.map((one: Json) => [one.content, one.reply_to])
    expect(shape.filter(([content]) => content !== 'all of you?').sort()).toEqual(
      [
        ['', idOf('question')],
        ['early', idOf('question')],
        ['early', idOf('all of you?')],
        ['question', null],
        ['same moment', idOf('question')],
      ].sort(),
    )
    const now = await world.send({ number, content: 'now', reply_to })
    expect(now).toMatchObject({ status: 'QUEUED', reply_to })
  })

  it('is listed soonest first, page by page, and by its status', async () => {
    const number = someone()
    for (const minutes of [3, 1, 2]) await plan(number, `in ${minutes}`, minutes * MINUTE)
    const first = await listed('?limit=2')
    expect(first.data.map((one: Json) => one.content)).toEqual(['in 1', 'in 2'])
    const second = await listed(`?limit=2&cursor=${first.next_cursor}`)
    expect(second.data).toMatchObject([{ content: 'in 3', status: 'REGISTERED' }])
    expect(second.next_cursor).toBeNull()
    const byStatus = await world.get('/api/v2/messages?status=REGISTERED')
    expect(byStatus.body.pagination.total).toBe(3)
    for (const bad of ['?cursor=x', '?cursor=1', '?limit=0', '?limit=x'])
      expect((await world.get(`/v3/scheduled-messages${bad}`)).status, bad).toBe(400)
    await world.advance(3 * MINUTE)
    expect((await listed()).data).toEqual([])
  })

  it('can be canceled until its time has come, once', async () => {
    const number = someone()
    const { message_handle } = await plan(number, 'never', MINUTE)
    const reply = await cancel(message_handle)
    expect(reply).toMatchObject({
      status: 200,
      body: { data: { status: 'DECLINED', error_reason: 'canceled', message_handle } },
    })
    expect(await world.status(message_handle)).toMatchObject({ status: 'ERROR', error_reason: 'canceled' })
    const again = await cancel(message_handle)
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(again.headers['x-should-retry']).toBe('false')
    await world.advance(2 * MINUTE)
    expect(await shown(number)).toEqual([])
    expect(await storyOf(message_handle)).toEqual(['REGISTERED', 'DECLINED'])

    const ordinary = await world.send({ number })
    expect((await cancel(ordinary.message_handle)).status).toBe(409)
    expect((await cancel('nothing')).status).toBe(404)
  })

  it('canceling and becoming due at the same moment: exactly one of them happens', async () => {
    const numbers = Array.from({ length: 12 }, someone)
    const sendAt = ahead(MINUTE)
    const handles: string[] = []
    for (const number of numbers)
      handles.push((await world.send({ number, content: 'race', send_at: sendAt })).message_handle)
    const due = world.advance(MINUTE)
    // As other processes would, at the same time.
    const others = Promise.all([1, 2, 3].map(() => queueDue(world.app.ctx)))
    const replies = await Promise.all(
      handles.map(async (handle, index) => {
        for (let turns = 0; turns < index * 3; turns++) await new Promise((done) => setImmediate(done))
        return cancel(handle)
      }),
    )
    await due
    await others
    await world.advance(1000)
    for (const [index, reply] of replies.entries()) {
      expect([200, 409]).toContain(reply.status)
      expect(await shown(numbers[index]!)).toEqual(reply.status === 200 ? [] : ['race'])
      expect(await statusOf(handles[index]!)).toBe(reply.status === 200 ? 'DECLINED' : 'DELIVERED')
    }
  })

  it('two cancel at once: one does', async () => {
    const { message_handle } = await plan(someone(), 'never', MINUTE)
    const replies = await Promise.all([cancel(message_handle), cancel(message_handle)])
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409])
  })

  it('deleting one cancels it', async () => {
    const number = someone()
    const { message_handle } = await plan(number, 'deleted', MINUTE)
    expect((await world.call('DELETE', `/api/v2/messages/${message_handle}`)).status).toBe(200)
    expect((await cancel(message_handle)).status).toBe(404)
    expect((await listed()).data).toEqual([])
    await world.advance(2 * MINUTE)
    expect(await shown(number)).toEqual([])
    expect((await world.get('/api/v2/messages?status=DECLINED&limit=1')).body.pagination.total).toBe(
      (await world.get('/api/v2/messages?status=DECLINED&limit=1000')).body.data.length,
    )
  })

  it('who opted out meanwhile gets nothing', async () => {
    const number = someone()
    const { message_handle } = await plan(number, 'too late', MINUTE)
    await world.text(number, 'STOP')
    await world.advance(MINUTE)
    expect(await world.record(message_handle)).toMatchObject({
      status: 'ERROR',
      error_code: 4002,
      opted_out: true,
    })
    expect(await shown(number)).not.toContain('too late')
    expect(await plan(number, 'refused at once', MINUTE)).toMatchObject({ status: 'ERROR', error_code: 4002 })
    expect((await listed()).data).toEqual([])
  })

  it('a held conversation holds it when its time comes, and its release lets go only what is due', async () => {
    const number = someone()
    const { id } = await world.setLine(LINE, { loop_limit: 4 })
    const { message_handle } = await plan(number, 'due in the hold', MINUTE)
    const later = await plan(number, 'due after it', 30 * MINUTE)
    for (let i = 0; i < 5; i++) {
      await world.text(number, `machine ${i}`)
      await world.advance(100)
      await world.send({ number, content: `answer ${i}` })
      await world.advance(100)
    }
    await world.advance(2 * MINUTE)
    expect(await shown(number)).not.toContain('due in the hold')
    expect(await statusOf(message_handle)).toBe('REGISTERED')
    expect((await cancel(message_handle)).status).toBe(409)
    await world.post('/admin/conversations/release', { line_id: id, conversation: number }, 'admin')
    await world.advance(1000)
    expect((await shown(number)).at(-1)).toBe('due in the hold')
    expect(await storyOf(message_handle)).toEqual(['REGISTERED', 'QUEUED', 'SENT', 'DELIVERED'])
    expect(await statusOf(later.message_handle)).toBe('REGISTERED')
    await world.advance(30 * MINUTE)
    expect((await shown(number)).at(-1)).toBe('due after it')
    await world.setLine(LINE, { loop_limit: null })
  })

  it('a blocked line ends what waits on it, and so does a removed one', async () => {
    const b = await world.addAccount('lines@example.com', '+12025550160')
    const { id } = await world.setLine('+12025550160', {})
    const number = someone()
    const send = async () =>
      (
        await world.post(
          '/api/send-message',
          { from_number: '+12025550160', number, content: 'stuck', send_at: ahead(MINUTE) },
          b.live,
        )
      ).body.message_handle
    const blocked = await send()
    await world.setLine('+12025550160', { blocked: true })
    await world.settle()
    expect(await world.record(blocked, b.live)).toMatchObject({
      status: 'ERROR',
      error_reason: 'line_blocked',
    })
    await world.setLine('+12025550160', { blocked: false })
    const removed = await send()
    await world.call('DELETE', `/admin/lines/${id}`, { as: 'admin' })
    await world.settle()
    expect(await world.record(removed, b.live)).toMatchObject({ status: 'ERROR' })
    await world.advance(2 * MINUTE)
    expect(await shown(number)).toEqual([])
  })

  it("another account's, and another line's than a token's, are absent", async () => {
    const b = await world.addAccount('b@example.com', '+12025550161')
    const { message_handle } = await plan(BOB, 'mine', MINUTE)
    const { token } = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    const absent = await cancel('absent', b.live)
    expect(await cancel(message_handle, b.live)).toMatchObject({ status: 404, body: absent.body })
    expect((await world.get('/v3/scheduled-messages', b.live)).body).toEqual({ data: [], next_cursor: null })

    const elsewhere = await world.post('/api/send-message', {
      from_number: SHARED_LINE,
      number: CLEO,
      content: 'other line',
      send_at: ahead(MINUTE),
    })
    expect(elsewhere.status).toBe(202)
    const seen = await world.get('/v3/scheduled-messages', { token })
    expect(seen.body.data.map((one: Json) => one.content)).toEqual(['mine'])
    expect((await cancel(elsewhere.body.message_handle, { token })).status).toBe(404)
    expect((await cancel(message_handle, { token })).status).toBe(200)
    expect((await cancel(elsewhere.body.message_handle)).status).toBe(200)
  })

  it('a repeat gets the first answer, also when the time is over; another time is another send', async () => {
    const number = someone()
    const body = { from_number: LINE, number, content: 'once', send_at: ahead(MINUTE) }
    const keyed = { 'idempotency-key': `scheduled-${number}` }
    const first = await world.post('/api/send-message', body, 'live', keyed)
    const retry = { 'x-stainless-retry-count': '1' }
    const same = await world.post('/api/send-message', body, 'live', retry)
    expect(same.body.message_handle).toBe(first.body.message_handle)
    const other = await world.post(
      '/api/send-message',
      { ...body, send_at: ahead(2 * MINUTE) },
      'live',
      retry,
    )
    expect(other.body.message_handle).not.toBe(first.body.message_handle)
    const clash = await world.post(
      '/api/send-message',
      { ...body, send_at: ahead(3 * MINUTE) },
      'live',
      keyed,
    )
    expect(clash.status).toBe(422)
    await world.advance(MINUTE - 500)
    const soon = await world.post('/api/send-message', body, 'live', retry)
    expect(soon.body.message_handle).toBe(first.body.message_handle)
    await world.advance(2 * MINUTE)
    for (const headers of [keyed, retry]) {
      const late = await world.post('/api/send-message', body, 'live', headers)
      expect(late).toMatchObject({ status: 202, body: first.body })
    }
    const unknown = { 'idempotency-key': `new-${number}` }
    expect((await world.post('/api/send-message', body, 'live', unknown)).status).toBe(400)
    expect(await shown(number)).toEqual(['once', 'once'])
  })

  it.each([
    ['the past', () => ahead(-1)],
    ['too far ahead', () => ahead(366 * DAY + 1)],
    ['words', () => 'tomorrow'],
    ['nothing', () => ''],
    ['a date alone', () => ahead(DAY).slice(0, 10)],
    ['no such day', () => '2027-02-30T09:00:00Z'],
    ['a number', () => Date.now() + DAY],
    ['a list', () => [ahead(DAY)]],
    ['an object', () => ({})],
  ])('refuses %s, naming the field', async (_, value) => {
    for (const [path, more] of [
      ['/api/send-message', { number: BOB, content: 'x' }],
      ['/api/send-group-message', { numbers: [BOB, CLEO], content: 'x' }],
      ['/api/send-carousel', { number: BOB, media_urls: ['https://example.com/1', 'https://example.com/2'] }],
    ] as const) {
      const reply = await world.post(path, { from_number: LINE, ...more, send_at: value() })
      expect(reply.status, path).toBe(400)
      expect(JSON.stringify(reply.body), path).toContain('send_at')
    }
  })

  it('takes an offset, and the last day', async () => {
    const at = world.app.ctx.clock.now() + 366 * DAY
    const text = `${new Date(at + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`
    const { message_handle, send_at } = await world.send({ number: BOB, send_at: text })
    expect(send_at).toBe(new Date(at).toISOString())
    expect((await cancel(message_handle)).status).toBe(200)
  })

  it('200 messages over 30 days, each at its time', async () => {
    await world.close()
    world = await createWorld(engine, { line: { config: { latency_ms: 0 } } })
    const numbers = Array.from({ length: 20 }, someone)
    const start = world.app.ctx.clock.now()
    const planned: { number: string; content: string; at: number }[] = []
    for (let i = 0; i < 200; i++) {
      // Spread without order: 7919 has no factor in common with 200.
      const at = start + (((i * 7919) % 200) + 1) * ((30 * DAY) / 200)
      planned.push({ number: numbers[i % 20]!, content: `plan ${i}`, at })
    }
    await Promise.all(
      planned.map(({ at, ...fields }) => world.send({ ...fields, send_at: new Date(at).toISOString() })),
    )
    await world.advance(30 * DAY)
    for (const number of numbers) {
      const mine = planned.filter((one) => one.number === number).sort((a, b) => a.at - b.at)
      expect(await shown(number)).toEqual(mine.map((one) => one.content))
    }
    const { data } = (await world.get('/api/v2/messages?limit=200&order_by=sentAt')).body
    for (const one of data) expect(one.date_sent).toBe(one.send_at)
  })
})
