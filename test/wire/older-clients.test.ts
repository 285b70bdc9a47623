import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSink } from '../support/web/sink.js'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  DAN,
  ENGINES,
  EVE,
  type Json,
  LINE,
  type World,
} from '../support/world.js'

/** Requests as programs written for this API send them, beyond what its specification says. */
describe.each(ENGINES)('older clients on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const list = async (query: string) => (await world.get(`/api/v2/messages?${query}`)).body
  const handles = (body: Json) => body.data.map((one: Json) => one.message_handle)

  it.each(['+15551234567', '+1202555010', '+1234567', '+123456789012345'])(
    'sends to %s, a well-formed number',
    async (number) => {
      expect(await world.send({ number })).toMatchObject({ status: 'QUEUED', number })
    },
  )

  it.each(['regular', ''])('send_style %j means no style', async (send_style) => {
    const body = { from_number: LINE, content: 'Plain', send_style }
    expect(await world.send(body)).toMatchObject({ status: 'QUEUED', send_style: '' })
    const media_urls = ['https://example.com/a.png', 'https://example.com/b.png']
    for (const [path, fields] of [
      ['/api/send-message', { number: ADA, sendStyle: send_style, send_style: undefined }],
      ['/api/send-group-message', { numbers: [ADA, CLEO] }],
      ['/api/send-carousel', { number: ADA, media_urls, content: undefined }],
    ] as const)
      expect((await world.post(path, { ...body, ...fields })).body).toMatchObject({ send_style: '' })
  })

  it('media_url may be a list with one entry', async () => {
    const url = 'https://example.com/a.png'
    expect(await world.send({ media_url: [url] })).toMatchObject({ status: 'QUEUED', media_url: url })
    expect(await world.send({ media_url: [] })).toMatchObject({ status: 'QUEUED', media_url: '' })
    const group = { from_number: LINE, numbers: [ADA, CLEO], content: 'x', mediaUrl: [url] }
    expect((await world.post('/api/send-group-message', group)).body).toMatchObject({ media_url: url })
    for (const media_url of [[url, url], [5], [[url]]]) {
      const { status, message } = await world.send({ media_url })
      expect([status, message]).toEqual(['ERROR', expect.stringMatching(/^media_url: /)])
    }
  })

  it('order_by takes the names of a record, in both spellings, also within a group', async () => {
    const group = { from_number: LINE, numbers: [CLEO, EVE], content: 'first' }
    const { group_id } = (await world.post('/api/send-group-message', group)).body
    await world.send({ number: DAN, content: 'first' })
    for (const [path, to, filter] of [
      ['/api/send-message', { number: DAN }, `number=${DAN}`],
      ['/api/send-group-message', { group_id }, `group_id=${group_id}`],
    ] as const) {
      const made: string[] = []
      for (const [content, seconds] of [
        ['a', 120],
        ['b', 60],
        ['c', 86_400],
      ] as const) {
        await world.advance(1000)
        const send_at = new Date(world.app.ctx.clock.now() + seconds * 1000).toISOString()
        made.push(
          (await world.post(path, { from_number: LINE, ...to, content, send_at })).body.message_handle,
        )
      }
      await world.advance(180_000)
      expect((await world.call('DELETE', `/v3/scheduled-messages/${made[2]}`)).status).toBe(200)
      // What was never sent counts from its acceptance.
      for (const [spellings, expected] of [
        [['createdAt', 'created_at', 'date_created', 'dateCreated'], 'first a b c'],
        [['sentAt', 'sent_at', 'date_sent', 'dateSent'], 'first c b a'],
        [['updatedAt', 'updated_at', 'date_updated', 'dateUpdated'], 'first b a c'],
      ] as const)
        for (const order_by of spellings) {
          const { data } = await list(`order_by=${order_by}&order_direction=asc&${filter}`)
          expect([order_by, data.map((one: Json) => one.content).join(' ')]).toEqual([order_by, expected])
        }
    }
    expect((await list('order_by=date')).message).toMatch(/^order_by: /)
  })

  it('times without a zone are UTC, as Python writes them', async () => {
    const now = new Date(world.app.ctx.clock.now())
    const { message_handle } = await world.send({ number: BOB, content: 'now' })
    const python = (ms: number) => new Date(now.getTime() + ms).toISOString().replace('Z', '456')
    expect(handles(await list(`number=${BOB}&created_at_gte=${python(-1000)}`))).toEqual([message_handle])
    expect(handles(await list(`number=${BOB}&created_at_lte=${python(-1000)}`))).toEqual([])
    const scheduled = await world.send({ number: BOB, send_at: python(3600_000) })
    expect(scheduled.send_at).toBe(new Date(now.getTime() + 3600_000).toISOString())
  })

  it('pagination.limit is the number of rows returned', async () => {
    const { data, pagination } = await list('limit=2')
    expect([data.length, pagination.limit, pagination.hasMore]).toEqual([2, 2, true])
    const all = await list('limit=500')
    expect(all.pagination.limit).toBe(all.data.length)
    expect((await list(`number=%2B12025550199`)).pagination).toEqual({
      hasMore: false,
      limit: 0,
      offset: 0,
      total: 0,
    })
  })

  it('GET /api/status of an inbound message answers one of four values: it was delivered to its line', async () => {
    const sink = await createSink()
    const webhooks = { receive: [`${sink.url}/in`] }
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })
    await world.text(ADA, 'Hello', { send_style: 'slam' })
    await world.settle()
    const [record] = (await list(`is_outbound=false&number=${ADA}`)).data
    expect(record).toMatchObject({ status: 'RECEIVED', send_style: '' })
    expect(await world.status(record.message_handle)).toMatchObject({ status: 'DELIVERED', send_style: '' })
    expect(sink.received).toMatchObject([{ body: { content: 'Hello', send_style: '' } }])
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: {} } })
    await sink.close()
  })

  it('the contact paths of 2023 take and answer camelCase', async () => {
    const number = '+14155552671'
    const body = { firstName: 'John', lastName: 'Doe', number, companyName: 'ACME Inc' }
    const made = await world.post('/accounts/contacts', body)
    const contactData = {
      account_email: 'dev@trunkline.local',
      firstName: 'John',
      lastName: 'Doe',
      companyName: 'ACME Inc',
      phone: number,
      displayPhone: '+1 415 555 2671',
      cid: made.body.contact,
    }
    expect([made.status, made.body]).toMatchObject([200, { status: 'OK', contactData }])
    const again = await world.post('/accounts/contacts', body)
    expect([again.status, again.body.message]).toEqual([409, 'Contact already exists'])

    const listed = (await world.get('/accounts/contacts?order_by=last_date&limit=1')).body
    expect(listed).toMatchObject([contactData])
    for (const id of [made.body.contact, made.body.contact.toUpperCase(), encodeURIComponent(number)]) {
      const one = await world.get(`/accounts/contacts/${id}`)
      expect([one.status, one.body]).toMatchObject([200, { status: 'OK', contact: contactData }])
    }
    const stranger = (await world.addAccount('b@example.com', '+12025550150')).live
    for (const [id, as] of [
      ['nope', 'live'],
      [made.body.contact, stranger],
    ] as const) {
      const { status, body } = await world.get(`/accounts/contacts/${id}`, as)
      expect([status, body.status]).toEqual([404, 'ERROR'])
    }
    expect((await world.get('/accounts/contacts', stranger)).body).toEqual([])
  })

  it('the message paths of 2023 answer the message and the list', async () => {
    const { message_handle } = await world.send({ number: BOB, content: 'By an older path' })
    await world.settle()
    const { status, body } = await world.get(`/api/message/${message_handle}`)
    expect([status, body]).toEqual([200, await world.record(message_handle)])
    expect((await world.get('/api/message/nope')).status).toBe(404)
    const { messages } = (await world.get('/api/accounts/messages?limit=1')).body
    expect(messages).toMatchObject([{ uuid: message_handle, content: 'By an older path' }])
    expect((await world.get('/accounts/messages?limit=1')).body.messages).toEqual(messages)
  })
})
