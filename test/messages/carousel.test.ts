import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, DAN, ENGINES, type Json, LINE, type World } from '../support/world.js'

const images = (n: number) => Array.from({ length: n }, (_, i) => `https://images.example.com/${i + 1}.jpg`)
const SMS_LINE = '+12025550160'
const B_LINE = '+12025550150'

describe.each(ENGINES)('carousels on %s', (engine) => {
  let world: World
  let seat: Json
  beforeAll(async () => {
    world = await createWorld(engine)
    const { id: account_id } = (await world.get('/admin/accounts', 'admin')).body.data[0]
    seat = (
      await world.post('/admin/seats', { account_id, email: 'rep@example.com', subject: 'sub-1' }, 'admin')
    ).body
    const line = { account_id, number: SMS_LINE, config: { services: ['SMS'] } }
    expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
    await world.settle()
  })
  afterAll(() => world.close())

  const send = (fields: Json = {}, headers?: Record<string, string>) =>
    world.post(
      '/api/send-carousel',
      { from_number: LINE, number: ADA, media_urls: images(3), ...fields },
      'live',
      headers,
    )

  it('is one message whose images all reach the phone', async () => {
    const metadata = { campaign: 'spring', ids: [1, null, { deep: 'ü' }] }
    const { status, body } = await send({ metadata, send_style: 'confetti', seat_id: seat.id })
    expect(status).toBe(202)
    expect(body).toMatchObject({
      accountEmail: 'dev@trunkline.local',
      account_email: 'dev@trunkline.local',
      from_number: LINE,
      is_outbound: true,
      media_url: images(1)[0],
      media_urls: images(3),
      message_type: 'carousel',
      number: ADA,
      to_number: ADA,
      status: 'QUEUED',
      content: '',
      send_style: 'confetti',
      sender_email: 'rep@example.com',
      seat_id: seat.id,
      metadata,
    })
    await world.advance(1000)
    const record = await world.record(body.message_handle)
    expect(record).toMatchObject({
      status: 'DELIVERED',
      service: 'iMessage',
      message_type: 'carousel',
      metadata,
    })
    expect(await world.status(body.message_handle)).toMatchObject({ status: 'DELIVERED', metadata })
    const shown = (await world.inbox(ADA)).find((one) => one.message_handle === body.message_handle)
    expect(shown).toMatchObject({ media_url: images(1)[0], media_urls: images(3), send_style: 'confetti' })
  })

  it.each([2, 20])('takes %i images', async (n) => {
    const { status, body } = await send({ media_urls: images(n) })
    expect(status).toBe(202)
    await world.advance(1000)
    const shown = (await world.inbox(ADA)).find((one) => one.message_handle === body.message_handle)
    expect(shown.media_urls).toEqual(images(n))
  })

  it('the same image may come twice', async () => {
    expect((await send({ media_urls: [...images(1), ...images(1)] })).status).toBe(202)
  })

  it.each<[string, Json, RegExp]>([
    ['no media_urls', { media_urls: undefined }, /missing required parameter: media_urls/],
    ['null as media_urls', { media_urls: null }, /missing required parameter: media_urls/],
    ['one URL as text', { media_urls: images(1)[0] }, /^media_urls: must be array/],
    ['no image', { media_urls: [] }, /^media_urls: .*send-message/],
    ['one image: points to send-message', { media_urls: images(1) }, /^media_urls: .*\/api\/send-message/],
    ['21 images', { media_urls: images(21) }, /^media_urls: .*at most 20/],
    [
      'an image over http',
      { media_urls: [...images(19), 'http://example.com/a.jpg'] },
      /^media_urls\.19: .*https/,
    ],
    ['an empty URL', { media_urls: ['', ...images(2)] }, /^media_urls\.0: /],
    ['a number among them', { media_urls: [...images(2), 5] }, /^media_urls\.2: /],
    ['null among them', { media_urls: [...images(2), null] }, /^media_urls\.2: /],
    ['a data URL', { media_urls: [...images(2), 'data:image/png;base64,iVBORw0='] }, /^media_urls\.2: /],
    [
      'a private address',
      { media_urls: [...images(2), 'https://10.0.0.1/a.jpg'] },
      /^media_urls\.2: .*private/,
    ],
    [
      'credentials',
      { media_urls: ['https://a:b@example.com/a.jpg', ...images(2)] },
      /^media_urls\.0: .*credentials/,
    ],
    [
      'a film, by its extension',
      { media_urls: [...images(2), 'https://example.com/a.MP4?width=5'] },
      /^media_urls\.2: a carousel takes images only, and this URL names video\/mp4\./,
    ],
    ['no number', { number: undefined }, /missing required parameter: number/],
    ['no from_number', { from_number: undefined }, /missing required parameter: from_number/],
    ['an unknown line', { from_number: '+12025550177' }, /This phone number is not defined/],
    ['a line that is no V2 Mac line', { from_number: SMS_LINE }, /^from_number: .*V2 Mac line/],
    ['the line itself', { number: LINE }, /Cannot send messages to self/],
    ['a style in upper case', { send_style: 'CONFETTI' }, /^send_style: /],
    ['a callback over http', { status_callback: 'http://example.com/' }, /^status_callback: /],
    ['a reply to nothing known', { reply_to: { message_handle: 'nope' } }, /^reply_to.message_handle: /],
    ['an unknown seat', { seat_id: 'nobody' }, /^seat_id: /],
    ['metadata of 70,000 characters', { metadata: 'x'.repeat(70_000) }, /^metadata: must be at most/],
  ])('refuses %s', async (_name, fields, text) => {
    const total = async () => (await world.get('/api/v2/messages?limit=1')).body.pagination.total
    const before = await total()
    const { status, body } = await send(fields)
    expect(status).toBe(400)
    expect(body).toEqual({
      status: 'ERROR',
      message: expect.stringMatching(text),
      error_code: 4000,
      error_message: body.message,
    })
    expect(await total()).toBe(before)
  })

  it('metadata deeper than 32 levels is refused, a thousand too', async () => {
    for (const depth of [33, 1000]) {
      const text = JSON.stringify({ from_number: LINE, number: ADA, media_urls: images(2), metadata: 0 })
      const payload = text.replace('"metadata":0', `"metadata":${'['.repeat(depth)}${']'.repeat(depth)}`)
      const reply = await world.call('POST', '/api/send-carousel', {
        body: payload,
        headers: { 'content-type': 'application/json' },
      })
      expect([reply.status, reply.body.message]).toEqual([400, expect.stringMatching(/deeper than 32/)])
    }
  })

  it.each<[string, unknown]>([
    ['text', 'plain'],
    ['a number', 12.5],
    ['false', false],
    ['a list', [1, [2, [3]]]],
    ['an empty object', {}],
    ['of names that JavaScript has', { constructor: { prototype: 1 }, prototype: 'x', toString: null }],
  ])('metadata may be %s', async (_name, metadata) => {
    const { body } = await send({ metadata })
    expect(body.metadata).toEqual(metadata)
    expect((await world.record(body.message_handle)).metadata).toEqual(metadata)
  })

  it('older names of the fields work', async () => {
    for (const fields of [
      { recipient: ADA, fromNumber: LINE, mediaURLs: images(2), sendStyle: 'lasers' },
      { to: ADA, from: LINE, media_urls: images(2), statusCallback: 'https://example.com/hook' },
      { number: ADA, sendblue_number: LINE, media_urls: images(2) },
    ]) {
      const { status, body } = await world.post('/api/send-carousel', fields)
      expect([status, body.number, body.from_number]).toEqual([202, ADA, LINE])
    }
  })

  it('empty choices are no choices, under older names too', async () => {
    for (const empty of [
      { sendStyle: '', statusCallback: '' },
      { send_style: '', status_callback: '', seat_id: '' },
    ]) {
      const { status, body } = await send(empty)
      expect([status, body.send_style]).toEqual([202, ''])
      const kept = await world.app.ctx.db.one('select status_callback from messages where handle = $1', [
        body.message_handle,
      ])
      expect(kept).toEqual({ status_callback: null })
    }
  })

  it('never falls back to SMS: it fails with a reason', async () => {
    const { body } = await send({ number: BOB })
    await world.advance(1000)
    expect(await world.record(body.message_handle)).toMatchObject({
      status: 'ERROR',
      error_code: 10001,
      error_reason: 'not_imessage',
      error_message: expect.stringMatching(/not on iMessage/),
    })
    expect(await world.inbox(BOB)).toEqual([])
  })

  it('waits for a phone that is off', async () => {
    const { body } = await send({ number: DAN })
    await world.advance(1000)
    expect(await world.record(body.message_handle)).toMatchObject({ status: 'SENT', service: 'iMessage' })
  })

  it('may be an inline reply', async () => {
    const { message_handle } = await world.send({ content: 'Which one?' })
    await world.advance(1000)
    const { body } = await send({ reply_to: { message_handle } })
    expect(body).toMatchObject({
      reply_to: { message_handle },
      thread_originator: { message_handle, part: '0' },
    })
  })

  it('an Idempotency-Key, a retry of the published client, and two at once make one message', async () => {
    const key = { 'idempotency-key': 'carousel-1' }
    const [a, b] = await Promise.all([send({}, key), send({}, key)])
    const c = await send({}, key)
    expect(new Set([a, b, c].map(({ body }) => body.message_handle)).size).toBe(1)
    expect((await send({ metadata: 1 }, key)).status).toBe(422)

    const first = await send({ media_urls: images(7) })
    const retry = await send({ media_urls: images(7) }, { 'x-stainless-retry-count': '1' })
    expect(retry.body.message_handle).toBe(first.body.message_handle)
    const other = await send(
      { media_urls: [...images(6), 'https://example.com/other.jpg'] },
      { 'x-stainless-retry-count': '1' },
    )
    expect(other.body.message_handle).not.toBe(first.body.message_handle)
  })

  it("another account's line, seat and message answer as absent ones do", async () => {
    const b = await world.addAccount('b@example.com', B_LINE)
    const theirs = (await world.send({ from_number: B_LINE }, b.live)).message_handle
    await world.settle()
    const compare = async (field: (value: string) => Json, other: string, absent: string) => {
      const ask = async (value: string) => {
        const { status, body } = await send(field(value))
        return [status, JSON.stringify(body).replaceAll(value, '<asked>')]
      }
      expect(await ask(other)).toEqual(await ask(absent))
    }
    await compare((from_number) => ({ from_number }), B_LINE, '+12025550159')
    await compare((message_handle) => ({ reply_to: { message_handle } }), theirs, 'nope')
  })

  it('on the free plan it goes to verified contacts only', async () => {
    const email = 'free@example.com'
    const account = (await world.post('/admin/accounts', { email, plan: 'free' }, 'admin')).body
    const key = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
    const number = '+12025550152'
    await world.post('/admin/lines', { account_id: account.id, number }, 'admin')
    const body = { from_number: number, number: ADA, media_urls: images(2) }
    const { status, body: said } = await world.post('/api/send-carousel', body, key)
    expect([status, said.message]).toEqual([403, expect.stringMatching(/not a verified contact/)])
  })

  it('is in the list, found as a 1:1 message', async () => {
    const { body } = await send()
    const list = (await world.get(`/api/v2/messages?number=${encodeURIComponent(ADA)}&limit=1`)).body.data
    expect(list[0]).toMatchObject({ message_handle: body.message_handle, message_type: 'carousel' })
  })
})
