import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, CLEO, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

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
    const group = { from_number: LINE, numbers: [ADA, CLEO], content: 'first' }
    const { group_id } = (await world.post('/api/send-group-message', group)).body
    await world.advance(1000)
    await world.post('/api/send-group-message', { from_number: LINE, group_id, content: 'second' })
    await world.send({ content: 'later', send_at: '2026-03-02T12:00:00Z' })
    await world.advance(1000)
    for (const filter of ['', `&group_id=${group_id}`])
      for (const [column, spellings] of [
        ['createdAt', ['date_created', 'dateCreated']],
        ['sentAt', ['date_sent', 'dateSent']],
        ['updatedAt', ['date_updated', 'dateUpdated']],
      ] as const)
        for (const order_by of spellings) {
          const found = await list(`order_by=${order_by}&order_direction=asc${filter}`)
          expect(handles(found).length).toBeGreaterThan(1)
          expect(handles(found)).toEqual(
            handles(await list(`order_by=${column}&order_direction=asc${filter}`)),
          )
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
    await world.text(ADA, 'Hello', { send_style: 'slam' })
    await world.settle()
    const [record] = (await list(`is_outbound=false&number=${ADA}`)).data
    expect(record).toMatchObject({ status: 'RECEIVED', send_style: '' })
    expect(await world.status(record.message_handle)).toMatchObject({ status: 'DELIVERED', send_style: '' })
  })
})
