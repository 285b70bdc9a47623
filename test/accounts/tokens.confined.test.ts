import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  type Reply,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'
const NO_LINE = '+12025550159'
const NO_ID = '00000000-0000-4000-8000-000000000000'

describe.each(ENGINES)('a token confined to a line on %s', (engine) => {
  let world: World
  let token: { token: string }
  let both: { token: string }
  let handles: Record<'one' | 'two' | 'in' | 'inTwo', string>

  beforeAll(async () => {
    world = await createWorld(engine)
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    token = await mint({ phone_number: LINE, expires_in_seconds: 86_400 })
    both = await mint({ phone_numbers: [LINE, SHARED_LINE], expires_in_seconds: 86_400 })
    const one = await world.send({ content: 'one' })
    await world.advance(1000)
    const two = await world.send({ content: 'two', from_number: SHARED_LINE })
    await world.advance(1000)
    await world.send({ content: 'three', number: BOB })
    await world.text(ADA, 'in')
    await world.text(ADA, 'in two', { to: SHARED_LINE })
    await world.advance(1000)
    await world.send({ content: 'four', number: CLEO, from_number: SHARED_LINE })
    await world.advance(1000)
    const inbound = (await world.get('/api/v2/messages?is_outbound=false')).body.data
    const handle = (content: string) =>
      inbound.find((message: Json) => message.content === content).message_handle
    handles = { one: one.message_handle, two: two.message_handle, in: handle('in'), inTwo: handle('in two') }
  })
  afterAll(() => world.close())

  const seen = async (as: Who, query: string) => {
    const { body } = await world.get(`/api/v2/messages?order_direction=asc&${query}`, as)
    return { contents: body.data.map((message: Json) => message.content), total: body.pagination.total }
  }

  it('is not made from a misspelt field: the token would be good for every line', async () => {
    for (const field of ['phone_numer', 'phoneNumbers', 'scopes']) {
      const { status, body } = await world.post('/v3/auth/tokens', { [field]: LINE })
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(`${field}: not a field`)])
    }
  })

  it('lists, and counts, only what its line sent and got', async () => {
    expect(await seen(token, '')).toEqual({ contents: ['one', 'three', 'in'], total: 3 })
    expect(await seen('live', '')).toMatchObject({ total: 6 })
    expect(await seen(both, '')).toEqual(await seen('live', ''))
  })

  it.each([
    ['number', `number=${ADA}`],
    ['number of the line', `number=${LINE}`],
    ['number of the other line', `number=${SHARED_LINE}`],
    ['from_number', `from_number=${LINE}`],
    ['from_number, a contact', `from_number=${ADA}`],
    ['from_number, the other line', `from_number=${SHARED_LINE}`],
    ['to_number', `to_number=${ADA}`],
    ['to_number, the other line', `to_number=${SHARED_LINE}`],
    ['from_number and to_number', `from_number=${SHARED_LINE}&to_number=${ADA}`],
    ['sendblue_number', `sendblue_number=${LINE}`],
    ['sendblue_number, the other line', `sendblue_number=${SHARED_LINE}`],
    ['is_outbound', 'is_outbound=true'],
    ['is_outbound, inbound', 'is_outbound=false'],
    ['status', 'status=DELIVERED'],
    ['service', 'service=iMessage'],
    ['message_type', 'message_type=message'],
    ['group_id', 'group_id=x'],
    ['account_email', `account_email=${DEFAULT_WORLD.email}`],
    ['created_at', 'created_at_gte=2026-03-01T12:00:01Z&created_at_lte=2026-03-01T12:00:02Z'],
    ['created_at over days', 'created_at_gte=2026-02-01&created_at_lte=2026-04-01'],
    ['updated_at', 'updated_at_gte=2026-03-01T12:00:01Z'],
    ['sent_at and order', 'sent_at_gte=2026-03-01T12:00:00Z&order_by=sentAt'],
    ['order_by updatedAt', 'order_by=updatedAt'],
  ])(
    'filtered by %s it sees a part of what the account sees, and the total of that',
    async (_name, query) => {
      const whole = (await world.get(`/api/v2/messages?${query}`)).body.data
      const own = whole.filter((message: Json) => message.sendblue_number === LINE)
      const { body } = await world.get(`/api/v2/messages?${query}`, token)
      expect(body.data).toEqual(own)
      expect(body.pagination.total).toBe(own.length)
    },
  )

  it('pages through its own', async () => {
    const first = (await world.get('/api/v2/messages?limit=2', token)).body
    const rest = (await world.get('/api/v2/messages?limit=2&offset=2', token)).body
    expect(first.pagination).toEqual({ hasMore: true, limit: 2, offset: 0, total: 3 })
    expect(rest.pagination).toEqual({ hasMore: false, limit: 1, offset: 2, total: 3 })
    expect([...first.data, ...rest.data].map((message: Json) => message.content)).toEqual([
      'in',
      'three',
      'one',
    ])
  })

  it('what another line has answers as absent things do', async () => {
    const plain = (reply: Reply) => [reply.status, reply.body]
    for (const path of ['/api/v2/messages/', '/api/status?handle=', '/api/status?message_handle=']) {
      const absent = plain(await world.get(path + NO_ID, token))
      expect(absent[0]).toBe(404)
      for (const handle of [handles.two, handles.inTwo])
        expect(plain(await world.get(path + handle, token))).toEqual(absent)
      for (const handle of [handles.one, handles.in])
        expect((await world.get(path + handle, token)).status).toBe(200)
    }
    for (const path of ['/api/message/', '/api/v2/messages/']) {
      const absent = plain(await world.call('DELETE', path + NO_ID, { as: token }))
      expect(plain(await world.call('DELETE', path + handles.two, { as: token }))).toEqual(absent)
    }
    expect((await world.get(`/api/status?handle=${handles.two}`)).status).toBe(200)
  })

  it('sends from its line and is refused on any other', async () => {
    const send = (from_number: string, fields = {}, headers = {}) =>
      world.post('/api/send-message', { from_number, number: CLEO, content: 'x', ...fields }, token, headers)
    for (const number of [SHARED_LINE, B_LINE, NO_LINE]) {
      const reply = await send(number)
      expect([number, reply.status, reply.body.status]).toEqual([number, 403, 'ERROR'])
    }
    const key = { 'idempotency-key': 'of-the-other-line' }
    const theirs = { from_number: SHARED_LINE, number: CLEO, content: 'x' }
    expect((await world.post('/api/send-message', theirs, 'live', key)).status).toBe(202)
    expect((await send(SHARED_LINE, {}, key)).status).toBe(403)
    const reply = await send(LINE, { reply_to: { message_handle: handles.two } })
    expect(reply).toMatchObject({ status: 400, body: { message: expect.stringContaining('reply_to') } })
    expect((await send(LINE)).status).toBe(202)
  })

  it('may not filter by worker_id, and every route that is not marked refuses it', async () => {
    expect((await world.get('/api/v2/messages?worker_id=x', token)).status).toBe(403)
    expect((await world.get('/sim/phones', token)).status).toBe(403)
    expect((await world.get('/sim/phones', (await world.post('/v3/auth/tokens', {})).body)).status).toBe(200)
  })

  it('sees its line among the lines, and forwards only its calls', async () => {
    expect((await world.get('/api/lines', token)).body).toEqual({ numbers: [LINE] })
    expect((await world.get('/api/lines', both)).body).toEqual({ numbers: [LINE, SHARED_LINE] })
    expect((await world.get('/api/v2/lines/state', token)).status).toBe(403)
    const path = (number: string) => `/api/lines/${number}/call-forwarding`
    const body = { forwarding_number: BOB }
    for (const number of [SHARED_LINE, B_LINE, NO_LINE]) {
      expect((await world.get(path(number), token)).status).toBe(403)
      expect((await world.call('PUT', path(number), { as: token, body })).status).toBe(403)
      expect((await world.call('DELETE', path(number), { as: token })).status).toBe(403)
    }
    expect((await world.call('PUT', path(LINE), { as: token, body })).status).toBe(200)
    expect((await world.get(path(LINE))).body.forwarding_number).toBe(BOB)
    expect((await world.call('DELETE', path(LINE), { as: token })).status).toBe(200)
  })

  it('keeps to the number when the line changes hands', async () => {
    const c = await world.addAccount(`c-${engine}@example.com`, '+12025550161')
    const confined = (await world.post('/v3/auth/tokens', { phone_number: '+12025550161' }, c.live)).body
    expect((await world.send({ from_number: '+12025550161' }, confined)).status).toBe('QUEUED')
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const { id } = lines.find((line: Json) => line.number === '+12025550161' && line.world === 'live')
    await world.call('DELETE', `/admin/lines/${id}`, { as: 'admin' })
    const d = await world.addAccount(`d-${engine}@example.com`, '+12025550161')
    await world.send({ from_number: '+12025550161', content: 'not for c' }, d.live)
    expect((await world.send({ from_number: '+12025550161' }, confined)).message).toContain('not defined')
    expect(await seen(confined, '')).toEqual({ contents: ['Hello'], total: 1 })
  })
})
