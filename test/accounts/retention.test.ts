import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createRetention } from '../../src/services/accounts/retention.js'
import { saveRetention, takePolicy } from '../../src/storage/accounts/retention.js'
import { take } from '../events/support.js'
import { blobs, formOf, upload } from '../media/support.js'
import { runCli } from '../support/cli.js'
import { dumpOf } from '../support/dump.js'
import { PNG } from '../support/files.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { follow } from '../support/web/sse.js'
import { BOB, CLEO, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const DAY = 86_400_000
const MARK = 'Plugh-Xyzzy'

describe.each(ENGINES)('retention of an account on %s', (engine) => {
  let world: World
  let sink: Sink
  let id: string
  beforeAll(async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_EVENT_DAYS: '0', TRUNKLINE_WEBHOOK_DAYS: '0' } })
    sink = await createSink()
    id = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  })
  afterEach(() => keep({ messages: null, media: null, events: null, attempts: null }))
  afterAll(async () => {
    await sink.close()
    await world.close()
  })

  const keep = (retention: Json, account = id) =>
    world.call('PATCH', `/admin/accounts/${account}`, { as: 'admin', body: { retention } })
  const rowsOf = async (table: string, where = '1 = 1') =>
    (await world.app.ctx.db.one<{ n: number }>(`select count(*) as n from ${table} where ${where}`))!.n
  const total = async (query = '') => (await world.get(`/api/v2/messages?${query}`)).body.pagination.total
  const metric = async (name: string) =>
    Number(
      new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(
        (await world.get('/metrics', null)).body,
      )?.[1],
    )

  it('is set and shown by kind of data; too few days are refused with the reason, and null keeps it again', async () => {
    expect((await world.get(`/admin/accounts/${id}`, 'admin')).body.retention).toEqual({})
    expect(await keep({ messages: 30, media: 7 })).toMatchObject({
      status: 200,
      body: { retention: { messages: 30, media: 7 } },
    })
    expect((await keep({ messages: null, attempts: 14 })).body.retention).toEqual({ media: 7, attempts: 14 })
    expect((await world.get('/admin/accounts', 'admin')).body.data[0].retention).toEqual({
      media: 7,
      attempts: 14,
    })
    for (const wrong of [
      { messages: 2 },
      { attempts: 6 },
      { events: 0 },
      { media: 1.5 },
      { texts: 3 },
      { media: '7' },
    ]) {
      const refused = await keep(wrong)
      expect([refused.status, JSON.stringify(refused.body)], JSON.stringify(wrong)).toEqual([
        400,
        expect.stringContaining('retention'),
      ])
    }
    expect((await keep({ media: null, attempts: null })).body.retention).toEqual({})
    expect(await rowsOf('retention_policies')).toBe(0)
  })

  it('is set by the command line', async () => {
    const cli = (...args: string[]) =>
      runCli(['account', 'set', id, ...args, '--json'], { TRUNKLINE_URL: world.app.url() })
    const made = await cli('--keep', 'messages=90', '--keep', 'media=30')
    expect(JSON.parse(made.stdout).retention).toEqual({ messages: 90, media: 30 })
    expect((await cli('--keep', 'texts=1')).stderr).toContain('messages, media, events, attempts')
    const cleared = await cli('--keep', 'messages=none', '--keep', 'media=none')
    expect(JSON.parse(cleared.stdout).retention).toEqual({})
  })

  it('keeps everything by default, and removes only what is over its time and not under way', async () => {
    const neighbour = await world.addAccount('neighbour@example.com', '+12025550150')
    await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { outbound: [`${sink.url}/out`] } },
    })
    const old = await world.send({ content: `${MARK} old` })
    const failing = await world.send({
      content: `${MARK} to nobody`,
      number: '+12025550199',
      media_url: `https://files.example.com/${MARK}.png`,
    })
    await world.text(BOB, `${MARK} in`)
    const hidden = await world.send({ number: CLEO })
    await world.send({ from_number: '+12025550150', content: 'of the neighbour' }, neighbour.live)
    await world.advance(60_000)
    await world.call('DELETE', `/api/v2/messages/${hidden.message_handle}`)
    const scheduled = await world.send({
      content: 'scheduled',
      send_at: new Date(world.app.ctx.clock.now() + 200 * DAY).toISOString(),
    })
    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    const queued = await world.send({ content: 'waits for its line' })
    const before = await total()
    await world.advance(100 * DAY)
    expect(await total()).toBe(before)

    await keep({ messages: 30 })
    await world.advance(DAY)
    expect((await world.get(`/api/status?handle=${old.message_handle}`)).status).toBe(404)
    expect((await world.get(`/api/v2/messages/${failing.message_handle}`)).status).toBe(404)
    expect((await world.get(`/v3/messages/${old.message_handle}/why`)).status).toBe(404)
    for (const { message_handle } of [scheduled, queued])
      expect((await world.get(`/api/v2/messages/${message_handle}`)).status).toBe(200)
    expect(await rowsOf('messages', `account_id = '${id}'`)).toBe(2)
    expect(await rowsOf('attempts', 'message_id not in (select id from messages)')).toBe(0)
    expect(await rowsOf('messages', `account_id = '${neighbour.id}'`)).toBe(1)
    for (const query of [
      '',
      'status=DELIVERED',
      'status=QUEUED',
      'is_outbound=false',
      'created_at_gte=2026-01-01',
    ])
      expect(await total(query), query).toBe((await world.get(`/api/v2/messages?${query}`)).body.data.length)
    await world.app.ctx.db.run('delete from phone_messages')
    expect(await dumpOf(world.app)).not.toContain(MARK)
    expect(await metric('trunkline_retention_removed_total{data="messages"}')).toBe(4)
    expect(await metric('trunkline_retention_lag_seconds{data="messages"}')).toBe(0)

    // Sent late: its age counts from then.
    await world.setLine(LINE, { config: {} })
    await world.advance(60_000)
    await world.advance(20 * DAY)
    expect((await world.status(queued.message_handle)).status).toBe('DELIVERED')
    await world.advance(12 * DAY)
    expect((await world.get(`/api/status?handle=${queued.message_handle}`)).status).toBe(404)
  })

  it('a message that may still get its receipt stays, and so does one that a webhook waits for', async () => {
    await keep({ messages: 3 })
    await world.setPhone(BOB, { power: false })
    const sent = await world.send({ number: BOB })
    await world.advance(60_000)
    const awaited = await world.send()
    await world.advance(60_000)
    const { db, clock } = world.app.ctx
    await db.run("update webhook_deliveries set next_at = $1, state = 'pending' where subject = $2", [
      clock.now() + 20 * DAY,
      awaited.message_handle,
    ])
    await world.advance(6 * DAY)
    expect((await world.status(sent.message_handle)).status).toBe('SENT')
    expect((await world.status(awaited.message_handle)).status).toBe('DELIVERED')
    await db.run("update webhook_deliveries set next_at = null, state = 'failed' where next_at is not null")
    await world.advance(DAY)
    expect((await world.get(`/api/status?handle=${awaited.message_handle}`)).status).toBe(404)
  })

  it('removes attempts, deliveries and events, and leaves the messages; a reader of removed events gets a gap', async () => {
    const old = await world.send({ content: 'with a history' })
    await world.advance(60_000)
    expect(await rowsOf('attempts')).toBeGreaterThan(0)
    await keep({ attempts: 7, events: 5 })
    await world.advance(4 * DAY)
    expect([await rowsOf('attempts'), await rowsOf('webhook_deliveries')]).not.toContain(0)
    const since = new Date(world.app.ctx.clock.now() - 4 * DAY - 120_000).toISOString()
    await world.advance(5 * DAY)
    const ended = `account_id = '${id}'`
    expect([
      await rowsOf('attempts', `message_id in (select id from messages where ${ended})`),
      await rowsOf('webhook_deliveries', ended),
      await rowsOf('events', ended),
    ]).toEqual([0, 0, 0])
    expect((await world.status(old.message_handle)).status).toBe('DELIVERED')
    expect((await world.get(`/v3/messages/${old.message_handle}/why`)).status).toBe(200)
    const fresh = await world.send({ content: 'after the gap' })
    const late: [string, Record<string, string>][] = [
      ['', { 'last-event-id': '1' }],
      [`?since=${encodeURIComponent(since)}`, {}],
    ]
    for (const [query, headers] of late) {
      const reader = await follow(world, `/api/v2/events${query}`, 'live', headers)
      const [, gap, next] = await take(reader, 3)
      expect([gap!.event, next!.event, next!.data.data.message_handle]).toEqual([
        'recovery.gap',
        'message.created',
        fresh.message_handle,
      ])
      reader.close()
    }
  })

  it('removes media with its bytes, but not what a waiting message needs', async () => {
    const [gone, needed] = await Promise.all([upload(world, formOf(PNG)), upload(world, formOf(PNG))])
    const due = new Date(world.app.ctx.clock.now() + 30 * DAY).toISOString()
    await world.send({ media_url: needed.body.media_url, send_at: due })
    await keep({ media: 2 })
    await world.advance(4 * DAY)
    expect((await fetch(gone.body.media_url)).status).toBe(404)
    expect((await fetch(needed.body.media_url)).status).toBe(200)
    expect(await blobs(world)).toHaveLength(1)
    await world.advance(30 * DAY)
    expect([(await fetch(needed.body.media_url)).status, await blobs(world)]).toEqual([404, []])
  })

  it('gives an account to one process at a time, and after a minute to another', async () => {
    const { db } = world.app.ctx
    await saveRetention(db, { id: 'one', twinId: 'two' }, { events: 1 })
    const taken = await Promise.all([1, 2, 3].map(() => db.tx((sql) => takePolicy(sql, 1000, 61_000))))
    expect(taken.map((policy) => policy?.accountId).sort()).toEqual(['one', 'two', undefined])
    expect((await db.tx((sql) => takePolicy(sql, 61_000, 121_000)))?.accountId).toBe('one')
    await saveRetention(db, { id: 'one', twinId: 'two' }, {})
  })

  it('two processes together remove each message once, in slices with the writes of others between them', async () => {
    const { db } = world.app.ctx
    await Promise.all(
      Array.from({ length: 450 }, (_, i) => world.send({ number: `+1202556${1000 + i}`, from_number: LINE })),
    )
    await world.advance(10 * 60_000)
    const left = () => rowsOf('messages', `account_id = '${id}' and next_action_at is null`)
    const whole = await left()
    expect(whole).toBeGreaterThanOrEqual(450)
    await keep({ messages: 3 })
    // Without a day's tick, which would remove them.
    await db.run(
      `update messages set updated_at = updated_at - $1, created_at = created_at - $1, sent_at = sent_at - $1 where account_id = $2`,
      [40 * DAY, id],
    )
    await db.run(`update message_counts set bucket = bucket - $1 where account_id = $2 and width > 0`, [
      40 * DAY,
      id,
    ])
    const seen: number[] = []
    const [one, other] = [createRetention(world.app.ctx), createRetention(world.app.ctx)]
    const removal = Promise.all([one.run(), other.run()])
    let isOver = false
    void removal.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await db.run("update accounts set name = name where id = 'neighbour'")
      seen.push(await left())
    }
    await removal
    expect(seen.filter((n) => n > 0 && n < whole).length).toBeGreaterThan(2)
    expect(await left()).toBe(0)
    expect(await total()).toBe(await rowsOf('messages', `account_id = '${id}' and deleted_at is null`))
    expect(await rowsOf('message_counts', `account_id = '${id}' and n < 0`)).toBe(0)
    await Promise.all([one.stop(), other.stop()])
  })
})
