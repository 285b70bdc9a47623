import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDeliverers } from '../../src/services/webhooks/delivery.js'
import { DELIVERIES, insertDeliveries } from '../../src/storage/webhooks/deliveries.js'
import { listDeliveryAttempts, reopenDeliveries } from '../../src/storage/webhooks/log.js'
import { createSink, type Received, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, EVE, type Json, LINE, type World } from '../support/world.js'

function flood(socket: Socket, start: string) {
  socket.write(start)
  const more = () => {
    while (!socket.destroyed && socket.write('x'.repeat(16_384))) {}
  }
  socket.on('drain', more)
  more()
}

function breakOff(socket: Socket, start: string) {
  socket.write(start, () => socket.resetAndDestroy())
}

describe.each(ENGINES)('webhooks on %s', (engine) => {
  let world: World
  let sink: Sink

  beforeAll(async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_WEBHOOK_TIMEOUT_MS: '300' } })
    sink = await createSink()
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })
  afterEach(async () => {
    sink.answer(() => 200)
    await configure({})
    await world.advance(600_000)
    sink.received.splice(0)
  })

  const configure = async (webhooks: Json) => {
    const reply = await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  const at = (path: string) => sink.received.filter((post) => post.path === path)
  const statuses = (posts: Received[]) => posts.map((post) => post.body.status)
  const deliveries = async (query = '') => (await world.get(`/v3/webhook-deliveries${query}`)).body.data

  it('an inbound message is posted as its record, once', async () => {
    await configure({ receive: [`${sink.url}/in`] })
    await world.text(ADA, 'Hello there')
    await world.advance(1000)
    expect(sink.received).toHaveLength(1)
    const [{ body, headers }] = sink.received as [Received]
    expect(headers['content-type']).toBe('application/json')
    const record = (await world.get(`/api/v2/messages/${body.message_handle}`)).body.data
    const { account_email, date_created, row_id, ...same } = record
    const { event_seq, occurred_at, ...posted } = body
    expect([String(event_seq), occurred_at]).toEqual([headers['x-trunkline-sequence'], record.date_sent])
    expect(posted).toEqual(same)
    expect(body).toMatchObject({
      status: 'RECEIVED',
      is_outbound: false,
      from_number: ADA,
      number: ADA,
      to_number: LINE,
      sendblue_number: LINE,
      content: 'Hello there',
      media_url: '',
      group_id: '',
      group_display_name: null,
      was_downgraded: null,
      error_code: null,
      send_style: '',
    })
  })

  it('an outbound message is posted with every status, in order, to its webhook and its callback', async () => {
    await configure({ outbound: [`${sink.url}/out`] })
    const sent = await world.send({ status_callback: `${sink.url}/callback` })
    await world.advance(5000)
    expect(statuses(at('/out'))).toEqual(['QUEUED', 'SENT', 'DELIVERED'])
    expect(statuses(at('/callback'))).toEqual(['QUEUED', 'SENT', 'DELIVERED'])
    expect(at('/callback').map((post) => post.text)).toEqual(at('/out').map((post) => post.text))
    for (const { body } of sink.received)
      expect(body).toMatchObject({ message_handle: sent.message_handle, is_outbound: true, number: ADA })
    expect(at('/out').map((post) => post.body.was_downgraded)).toEqual([null, false, false])
  })

  it('a callback needs no webhook, and gets no header of the account', async () => {
    await world.send({ status_callback: `${sink.url}/alone` })
    await world.advance(5000)
    expect(statuses(at('/alone'))).toEqual(['QUEUED', 'SENT', 'DELIVERED'])
    for (const { headers } of at('/alone'))
      expect(Object.keys(headers).filter((name) => name.startsWith('sb-'))).toEqual([])
  })

  it('a failure carries its error', async () => {
    await configure({ outbound: [`${sink.url}/out`] })
    await world.send({ number: EVE })
    await world.advance(5000)
    expect(at('/out').at(-1)!.body).toMatchObject({
      status: 'ERROR',
      error_code: 10001,
      error_reason: 'refused',
      error_message: expect.any(String),
      error_detail: expect.any(String),
    })
  })

  it('is signed: the plain secret, and what the standardwebhooks package verifies', async () => {
    const whsec = `whsec_${Buffer.from('a key of twenty-four byt').toString('base64')}`
    await configure({
      receive: [{ url: `${sink.url}/own`, secret: whsec }, `${sink.url}/global`],
      globalSecret: 'the-global-one',
    })
    await world.text(ADA, 'Signed')
    await world.advance(1000)
    const verify = (post: Received, webhook: Webhook) =>
      webhook.verify(post.text, post.headers as Record<string, string>)
    const [own] = at('/own') as [Received]
    const [global] = at('/global') as [Received]
    expect(own.headers['sb-signing-secret']).toBe(whsec)
    expect(global.headers['sb-signing-secret']).toBe('the-global-one')
    expect(verify(own, new Webhook(whsec))).toEqual(own.body)
    expect(verify(global, new Webhook('the-global-one', { format: 'raw' }))).toEqual(global.body)
    expect(() => verify(own, new Webhook('another', { format: 'raw' }))).toThrow()
    expect(() => verify({ ...own, text: `${own.text} ` }, new Webhook(whsec))).toThrow()
    expect(own.headers['webhook-id']).toBe(global.headers['webhook-id'])
    for (const name of ['id', 'timestamp', 'signature'])
      expect(own.headers[`x-webhook-${name}`]).toBe(own.headers[`webhook-${name}`])
  })

  it('both secrets sign for a day after a change', async () => {
    await configure({ receive: [{ url: `${sink.url}/in`, secret: 'first' }] })
    await configure({ receive: [{ url: `${sink.url}/in`, secret: 'second' }] })
    await world.text(ADA, 'Changing over')
    await world.advance(1000)
    const [post] = at('/in') as [Received]
    expect(post.headers['sb-signing-secret']).toBe('second')
    for (const secret of ['first', 'second'])
      new Webhook(secret, { format: 'raw' }).verify(post.text, post.headers as Record<string, string>)
    await world.advance(24 * 3_600_000)
    await world.text(ADA, 'Changed')
    await world.advance(1000)
    const last = at('/in').at(-1)!
    expect(() =>
      new Webhook('first', { format: 'raw' }).verify(last.text, last.headers as Record<string, string>),
    ).toThrow()
  })

  it('carries the number of the event in the log of the account', async () => {
    await configure({ outbound: [`${sink.url}/out`] })
    await world.send()
    await world.advance(5000)
    const log = await world.events()
    for (const { headers, body } of at('/out')) {
      const event = log.find((one) => one.seq === Number(headers['x-trunkline-sequence']))
      expect(event).toMatchObject({ subject: body.message_handle, type: headers['x-trunkline-event'] })
      expect(event.data.status).toBe(body.status)
    }
  })

  describe('what an answer leads to', () => {
    it.each([
      ['200', 1, 'delivered'],
      ['204', 1, 'delivered'],
      ['299', 1, 'delivered'],
      [
        '301',
        4,
        'failed',
        'The receiver answered 301, a redirect, which is not followed. All 3 retries failed.',
      ],
      [
        '302',
        4,
        'failed',
        'The receiver answered 302, a redirect, which is not followed. All 3 retries failed.',
      ],
      [
        '400',
        1,
        'failed',
        'The receiver answered 400. A refusal is not retried. Fix the receiver, then replay the delivery.',
      ],
      ['401', 1, 'failed', /^The receiver answered 401\. A refusal is not retried\./],
      ['404', 1, 'failed', /^The receiver answered 404\. A refusal is not retried\./],
      ['408', 4, 'failed', 'The receiver answered 408. All 3 retries failed.'],
      ['425', 4, 'failed', 'The receiver answered 425. All 3 retries failed.'],
      ['429', 4, 'failed', 'The receiver answered 429. All 3 retries failed.'],
      ['500', 4, 'failed', 'The receiver answered 500. All 3 retries failed.'],
      ['502', 4, 'failed', 'The receiver answered 502. All 3 retries failed.'],
      ['503', 4, 'failed', 'The receiver answered 503. All 3 retries failed.'],
      ['599', 4, 'failed', 'The receiver answered 599. All 3 retries failed.'],
    ])('%s: posted %i times, then %s', async (status, posts, end, reason: string | RegExp | null = null) => {
      await configure({ receive: [`${sink.url}/in`] })
      sink.answer(() => Number(status))
      await world.text(ADA, `Answer ${status}`)
      await world.advance(600_000)
      expect(sink.received).toHaveLength(posts)
      expect(new Set(sink.received.map((post) => post.headers['webhook-id'])).size).toBe(1)
      expect(sink.received.map((post) => post.headers['x-trunkline-attempt'])).toEqual(
        Array.from({ length: posts }, (_, i) => String(i + 1)),
      )
      const [delivery] = await deliveries('?limit=1')
      expect(delivery).toMatchObject({ status: end, attempts: posts, http_status: Number(status) })
      if (reason instanceof RegExp) expect(delivery.reason).toMatch(reason)
      else expect(delivery.reason).toBe(reason)
    })

    it('a refusal is retried where the webhook asks for the extended schedule', async () => {
      await configure({ receive: [{ url: `${sink.url}/in`, retry_schedule: 'extended' }] })
      sink.answer(() => 404)
      await world.text(ADA, 'Not deployed yet')
      await world.advance(10_000)
      const [waiting] = await deliveries('?limit=1')
      expect(waiting).toMatchObject({ status: 'pending', attempts: 2, reason: 'The receiver answered 404.' })
      sink.answer(() => 200)
      await world.advance(600_000)
      expect((await deliveries('?limit=1'))[0]).toMatchObject({
        status: 'delivered',
        attempts: 3,
        reason: null,
      })
    })

    it('no answer in time: retried 3 times', async () => {
      await configure({ receive: [`${sink.url}/in`] })
      sink.answer(() => undefined)
      await world.text(ADA, 'Hello?')
      await world.advance(600_000)
      expect(sink.received).toHaveLength(4)
      const [{ id }] = await deliveries('?limit=1')
      const { attempt_log: log } = (await world.get(`/v3/webhook-deliveries/${id}`)).body.data
      expect(log).toHaveLength(4)
      for (const attempt of log)
        expect(attempt).toMatchObject({ http_status: null, reason: expect.any(String) })
    })

    it('comes back after a while: later tries succeed', async () => {
      await configure({ receive: [`${sink.url}/in`] })
      let answers = 0
      sink.answer(() => (++answers < 3 ? 503 : 200))
      await world.text(ADA, 'Third time lucky')
      await world.advance(600_000)
      expect(sink.received).toHaveLength(3)
      expect((await deliveries('?limit=1'))[0]).toMatchObject({
        status: 'delivered',
        attempts: 3,
        reason: null,
      })
    })

    it('410 Gone removes the webhook, and only that one', async () => {
      await configure({ receive: [`${sink.url}/gone`, `${sink.url}/here`] })
      sink.answer(({ path }) => (path === '/gone' ? 410 : 200))
      await world.text(ADA, 'One')
      await world.text(ADA, 'Two')
      await world.advance(1000)
      const { webhooks } = (await world.get('/api/account/webhooks')).body
      expect(webhooks.receive).toEqual([`${sink.url}/here`])
      await world.text(ADA, 'Three')
      await world.advance(600_000)
      expect(at('/here')).toHaveLength(3)
      expect(at('/gone').length).toBeLessThan(3)
      const types = (await world.events()).map(({ type }) => type)
      expect(types.at(-1)).toBe('message.received')
      expect(types.filter((type) => type === 'webhook.removed')).toHaveLength(1)
    })

    it('410 Gone does not remove a contact_profile webhook', async () => {
      await configure({ contact_profile: [`${sink.url}/profile`] })
      sink.answer(() => 410)
      await world.post('/api/v2/contact-sharing/profile', { from_number: LINE, first_name: 'Trunk' })
      await world.advance(60_000)
      expect(at('/profile')).toHaveLength(1)
      expect((await deliveries('?limit=1'))[0]).toMatchObject({
        status: 'failed',
        http_status: 410,
        reason: 'The receiver answered 410.',
      })
      const { webhooks } = (await world.get('/api/account/webhooks')).body
      expect(webhooks.contact_profile).toEqual([`${sink.url}/profile`])
    })

    it.each([
      ['1', 5000],
      ['7', 7000],
      ['86400', 10_000],
    ])('503 with Retry-After %s: again after %i ms, neither sooner nor much later', async (after, ms) => {
      await configure({ receive: [`${sink.url}/in`] })
      sink.answer((_post, reply) => {
        reply.writeHead(503, { 'retry-after': after }).end()
      })
      await world.text(ADA, `Later ${after}`)
      await world.advance(ms - 100)
      expect(sink.received).toHaveLength(1)
      await world.advance(600)
      expect(sink.received).toHaveLength(2)
    })

    it('the long schedule goes on for about three days', async () => {
      await configure({ receive: [{ url: `${sink.url}/in`, retry_schedule: 'extended' }] })
      sink.answer(() => 500)
      await world.text(ADA, 'Patience')
      await world.advance(2 * 86_400_000)
      expect(sink.received.length).toBeGreaterThan(7)
      expect((await deliveries('?limit=1'))[0].status).toBe('pending')
      await world.advance(3 * 86_400_000)
      expect(sink.received).toHaveLength(10)
      expect((await deliveries('?limit=1'))[0].status).toBe('failed')
    })
  })

  describe('receivers without manners', () => {
    const head = 'HTTP/1.1 200 OK\r\n'
    it.each<[string, string, number, (socket: Socket) => void]>([
      ['hangs up', 'failed', 4, (socket) => socket.resetAndDestroy()],
      ['talks something else', 'failed', 4, (socket) => socket.end('HELLO THERE\r\n\r\n')],
      [
        'sends a header without an end',
        'failed',
        4,
        (socket) => socket.write(`${head}x: ${'y'.repeat(40_000)}`),
      ],
      ['acknowledges, then talks for ever', 'delivered', 1, (socket) => flood(socket, `${head}\r\n`)],
      [
        'acknowledges, then drips',
        'delivered',
        1,
        (socket) => socket.write(`${head}content-length: 9\r\n\r\n.`),
      ],
      [
        'acknowledges, then breaks off',
        'delivered',
        1,
        (socket) => breakOff(socket, `${head}content-length: 9\r\n\r\n.`),
      ],
      [
        'sends us home',
        'failed',
        4,
        (socket) =>
          socket.end(`HTTP/1.1 302 Found\r\nlocation: ${sink.url}/home\r\ncontent-length: 0\r\n\r\n`),
      ],
    ])('one that %s: %s after %i', async (_name, end, posts, behave) => {
      const rude = createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => behave(socket))
      })
      await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve))
      await configure({ receive: [`http://127.0.0.1:${(rude.address() as AddressInfo).port}/`] })
      await world.text(ADA, 'Manners')
      await world.advance(600_000)
      expect((await deliveries('?limit=1'))[0]).toMatchObject({ status: end, attempts: posts })
      expect(sink.received).toEqual([])
      rude.close()
    })

    it('one that speaks no TLS: failed, with a reason and no fallback', async () => {
      await configure({ receive: [`${sink.url.replace('http:', 'https:')}/in`] })
      await world.text(ADA, 'Closed')
      await world.advance(600_000)
      expect((await deliveries('?limit=1'))[0]).toMatchObject({
        status: 'failed',
        attempts: 4,
        reason: expect.any(String),
      })
      expect(sink.received).toEqual([])
    })
  })

  it('never an older status of a message after a newer one, while others go on', async () => {
    await configure({ outbound: [`${sink.url}/out`] })
    const stuck = await world.send({ content: 'Stuck' })
    let refused = 0
    sink.answer(({ body }) => (body.message_handle === stuck.message_handle && ++refused <= 2 ? 500 : 200))
    const other = await world.send({ number: BOB, content: 'Passing' })
    await world.advance(3000)
    const of = (sent: Json) => at('/out').filter((post) => post.body.message_handle === sent.message_handle)
    expect(statuses(of(other))).toEqual(['QUEUED', 'SENT'])
    expect(new Set(statuses(of(stuck)))).toEqual(new Set(['QUEUED']))
    await world.advance(600_000)
    expect(statuses(of(stuck))).toEqual(['QUEUED', 'QUEUED', 'QUEUED', 'SENT', 'DELIVERED'])
  })

  it('a webhook with sendblue_numbers hears of those lines only', async () => {
    await configure({
      outbound: [
        { url: `${sink.url}/mine`, sendblue_numbers: [LINE] },
        { url: `${sink.url}/other`, sendblue_numbers: ['+12025550190'] },
      ],
    })
    await world.send()
    await world.advance(5000)
    expect(at('/mine')).toHaveLength(3)
    expect(at('/other')).toHaveLength(0)
  })

  it('a webhook that was removed gets nothing more, and what it had not got is called off visibly', async () => {
    await configure({ receive: [`${sink.url}/in`] })
    sink.answer(() => 500)
    await world.text(ADA, 'Never mind')
    await world.advance(1000)
    await configure({})
    await world.advance(600_000)
    expect(sink.received).toHaveLength(1)
    expect((await deliveries('?limit=1'))[0]).toMatchObject({
      status: 'canceled',
      reason: 'The webhook was removed',
    })
  })

  it('what is pending goes on after a restart', async () => {
    await configure({ receive: [`${sink.url}/in`] })
    sink.answer(() => 500)
    await world.text(ADA, 'Before')
    await world.advance(1000)
    expect(sink.received).toHaveLength(1)
    await world.restart()
    sink.answer(() => 200)
    await world.advance(600_000)
    expect(sink.received).toHaveLength(2)
    expect(new Set(sink.received.map((post) => post.headers['webhook-id'])).size).toBe(1)
  })

  it('who lost a delivery to another process changes nothing about it any more', async () => {
    const { ctx } = world.app
    const now = ctx.clock.now()
    const lane = `nobody ${sink.url}`
    // Of an account without a feed: nobody else posts it.
    const fresh = { accountId: 'nobody', lane, endpointId: null, type: 'callback', url: `${sink.url}/two` }
    const event = { eventSeq: 1, eventType: 'message.updated', subject: 'two', body: '{}' }
    await ctx.db.tx((sql) => insertDeliveries(sql, [{ ...fresh, ...event, nextAt: now, createdAt: now }]))
    const row = async () => (await ctx.db.one('select * from webhook_deliveries where lane = $1', [lane]))!
    const delivery = DELIVERIES.read(await row())
    const { node, ...lease } = (await ctx.db.one<{ node: string; shard: number; epoch: number }>(
      'select node_id as node, shard, epoch from webhook_shards where shard = 0',
    ))!
    const held = { ...lease, isHeld: () => true, lose() {} }
    const record = async (status: number) => {
      sink.answer(() => status)
      const posted = await createDeliverers(ctx, node)(held).post(delivery, () => true)
      return () => posted!.record()
    }
    const [slow, quick, later] = [await record(500), await record(200), await record(200)]
    await quick()
    const delivered = await row()
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 1, next_at: null })
    await slow()
    expect(await row()).toEqual(delivered)
    // A replay is not done by what was posted before.
    await ctx.db.tx((sql) => reopenDeliveries(sql, 'nobody', [delivery.id], now))
    const reopened = await row()
    await later()
    await slow()
    expect(await row()).toEqual(reopened)
    expect(await listDeliveryAttempts(ctx.db, delivery.id)).toMatchObject([{ n: 1, httpStatus: 200 }])
  })

  it('another account hears nothing', async () => {
    await configure({ receive: [`${sink.url}/in`], outbound: [`${sink.url}/out`] })
    await world.call('PUT', '/api/account/webhooks', {
      as: 'test',
      body: { webhooks: { receive: [`${sink.url}/test`], outbound: [`${sink.url}/test`] } },
    })
    await world.send()
    await world.text(ADA, 'Live')
    await world.advance(5000)
    expect(at('/test')).toHaveLength(0)
    const [{ id }] = await deliveries('?limit=1')
    expect((await world.get(`/v3/webhook-deliveries/${id}`, 'test')).status).toBe(404)
    expect((await world.get('/v3/webhook-deliveries', 'test')).body.data).toEqual([])
    expect((await world.post(`/v3/webhook-deliveries/${id}/replay`, {}, 'test')).status).toBe(404)
    await world.call('PUT', '/api/account/webhooks', { as: 'test', body: { webhooks: {} } })
  })

  describe('the log of deliveries', () => {
    it('shows every attempt with what was posted and answered, without the secret', async () => {
      await configure({ receive: [{ url: `${sink.url}/in`, secret: 'canary-secret' }] })
      sink.answer((_post, reply) => {
        reply.writeHead(500, { 'x-why': 'tired' }).end('come back later')
      })
      await world.text(ADA, 'Log me')
      await world.advance(600_000)
      const [delivery] = await deliveries('?status=failed&limit=1')
      const whole = (await world.get(`/v3/webhook-deliveries/${delivery.id}`)).body.data
      const [post] = sink.received as [Received]
      expect(whole.body).toBe(post.text)
      expect(whole.webhook_id).toBe(post.headers['webhook-id'])
      expect(whole.attempt_log).toHaveLength(4)
      expect(whole.attempt_log[0]).toMatchObject({
        attempt: 1,
        http_status: 500,
        response_body: 'come back later',
        response_headers: { 'x-why': 'tired' },
        request_headers: { 'webhook-signature': post.headers['webhook-signature'] },
      })
      expect(JSON.stringify(whole)).not.toContain('canary-secret')
    })

    it('replays one, under its stable id', async () => {
      await configure({ receive: [`${sink.url}/in`] })
      await world.text(ADA, 'Again')
      await world.advance(1000)
      const [delivery] = await deliveries('?limit=1')
      const replay = await world.post(`/v3/webhook-deliveries/${delivery.id}/replay`, {})
      expect(replay.status).toBe(202)
      expect(replay.body.data.status).toBe('pending')
      await world.advance(1000)
      expect(sink.received).toHaveLength(2)
      expect(sink.received[1]!.text).toBe(sink.received[0]!.text)
      expect(sink.received[1]!.headers['webhook-id']).toBe(sink.received[0]!.headers['webhook-id'])
      expect((await deliveries('?limit=1'))[0]).toMatchObject({ status: 'delivered', attempts: 2 })
    })

    it('replays all failed ones, and those of a period', async () => {
      await configure({ receive: [`${sink.url}/in`] })
      sink.answer(() => 400)
      for (const text of ['a', 'b', 'c']) await world.text(ADA, text)
      await world.advance(1000)
      const since = (await deliveries('?limit=1'))[0].created_at
      sink.answer(() => 200)
      sink.received.splice(0)
      const replay = await world.post('/v3/webhook-deliveries/replay', {
        status: 'failed',
        created_at_gte: since,
      })
      expect(replay.body).toEqual({ data: { replayed: 3, more: false } })
      await world.advance(1000)
      expect(sink.received.map((post) => post.body.content).sort()).toEqual(['a', 'b', 'c'])
      expect(await deliveries(`?status=failed&created_at_gte=${since}`)).toEqual([])
      const period = await world.post('/v3/webhook-deliveries/replay', { created_at_gte: since })
      expect(period.body.data.replayed).toBe(3)
    })

    it('pages through everything once', async () => {
      await configure({ outbound: [`${sink.url}/out`] })
      for (let i = 0; i < 3; i++) await world.send({ content: `page ${i}` })
      await world.advance(5000)
      const all = await deliveries('?limit=1000')
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`
        const page: Json = (await world.get(`/v3/webhook-deliveries?limit=4${query}`)).body
        seen.push(...page.data.map((one: Json) => one.id))
        cursor = page.next_cursor
      }
      expect(seen).toEqual(all.map((one: Json) => one.id))
    })

    it('forgets the body of a message that was deleted', async () => {
      await configure({ receive: [`${sink.url}/in`] })
      await world.text(ADA, 'Secret of the day')
      await world.advance(1000)
      const handle = sink.received[0]!.body.message_handle
      const [{ id }] = await deliveries(`?message_handle=${handle}`)
      await world.call('DELETE', `/api/message/${handle}`)
      expect((await world.get(`/v3/webhook-deliveries/${id}`)).body.data.body).toBe('')
      expect((await world.post(`/v3/webhook-deliveries/${id}/replay`, {})).status).toBe(409)
    })
  })
})
