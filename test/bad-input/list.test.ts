import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  START,
  type World,
} from '../support/world.js'

const at = (ms: number) => new Date(START + ms).toISOString()

describe.each(ENGINES)('list parameters on %s', (engine) => {
  let world: World
  let total: number

  beforeAll(async () => {
    world = await createWorld(engine)
    // One a minute: ada 0, bob 1, cleo 2 (inbound), shared 3, ada2 4.
    await world.send({ content: 'ada' })
    await world.advance(60_000)
    await world.send({ number: BOB, content: 'bob' })
    await world.advance(60_000)
    await world.text(CLEO, 'cleo')
    await world.advance(60_000)
    await world.send({ from_number: SHARED_LINE, content: 'shared' })
    await world.advance(60_000)
    await world.send({ content: 'ada2' })
    await world.advance(60_000)
    total = 5
  })
  afterAll(() => world.close())

  /** A list call; the clock moves so that the limit of 100 in 10 s is never the reason for an answer. */
  const list = async (query: string, as?: Parameters<World['get']>[1]) => {
    await world.advance(150)
    return world.get(`/api/v2/messages?${query}`, as)
  }
  const contents = async (query: string) => {
    const reply = await list(query)
    expect([query, reply.status, reply.body.message]).toEqual([query, 200, undefined])
    expect(reply.body.pagination.total).toBeGreaterThanOrEqual(reply.body.data.length)
    return reply.body.data.map((message: Json) => message.content)
  }

  it.each([
    ...['limit', 'offset'].flatMap((name) =>
      ['-1', '1.5', 'NaN', 'abc', '1,2', '1;2', '0 or 1=1', '١', '%00', '[]', '-1e3', 'null', '--1'].map(
        (value) => `${name}=${value}`,
      ),
    ),
    'limit=0',
    'limit=1&limit=2',
    'limit[]=1&limit[]=2',
    'offset=1&offset=1',
    'number=%2B12025550101&number=%2B12025550101',
    'status=SENT&status=SENT',
    ...[
      'order_by=id',
      'order_by=created_at;drop table messages',
      'order_by=CREATEDAT',
      'order_by=createdAt,sentAt',
    ],
    ...['order_direction=up', 'order_direction=DESC', 'order_direction=asc;'],
    ...[
      'status=sent',
      'status=READ',
      'status=SENT,ERROR',
      'status=%',
      "status='",
      'service=imessage',
      'service=MMS',
    ],
    ...['is_outbound=1', 'is_outbound=yes', 'is_outbound=TRUE', 'is_outbound=null'],
    ...['number', 'from_number', 'to_number', 'sendblue_number'].flatMap((name) =>
      [
        '%25',
        '*',
        "'",
        '%2B1202555%25',
        '%2B1202555*',
        "%2B12025550101'",
        '2025550101',
        'ada@example.com',
        '%2B0',
        '%00',
        '%2B12025550101,%2B12025550102',
        '%2B12025550101%20%2B12025550102',
        '1'.repeat(5000),
        '+',
        '%20',
      ].map((value) => `${name}=${value}`),
    ),
    ...[
      'created_at_gte',
      'created_at_lte',
      'sent_at_gte',
      'sent_at_lte',
      'updated_at_gte',
      'updated_at_lte',
    ].flatMap((name) =>
      [
        '2026-03-01T12',
        '2026-02-30',
        '2026-13-01',
        '2026-00-10',
        '2026-01-00',
        '2026-06-30T23:59:60Z',
        '-0001-01-01',
        '+002026-01-01',
        '10000-01-01',
        '0000-01-01',
        '1772366400000',
        '1772366400',
        'yesterday',
        'now',
        '2026-03-01T24:00:00Z',
        '2026-03-01T12:60:00Z',
        '2026-03-01T12:00:00%2B25:00',
        '2026-3-1',
        '2026-03',
        '2026',
        '2026-03-01T12:00:00ZZ',
        'T12:00:00Z',
        '%20',
      ].map((value) => `${name}=${value}`),
    ),
  ])('%s is refused', async (query) => {
    const reply = await list(query)
    expect(reply.status).toBe(400)
    const [name] = query.split(/[[=]/)
    expect(reply.body).toEqual({
      status: 'ERROR',
      message: expect.any(String),
      error_code: 4000,
      error_message: reply.body.message,
    })
    expect(reply.body.message.startsWith(`${name}`)).toBe(true)
  })

  it.each([
    ['limit=', 100, 0],
    ['limit=1000', 1000, 0],
    ['limit=1001', 1000, 0],
    ['limit=1e3', 1000, 0],
    ['limit=9223372036854775808', 1000, 0],
    ['limit=1e300', 1000, 0],
    ['limit=3&offset=', 3, 0],
    ['limit=3&offset=1e0', 3, 1],
  ])('%s gives a page of at most %i from %i', async (query, limit, offset) => {
    const { body } = await list(query)
    const returned = Math.min(limit, total - offset)
    expect(body.pagination).toEqual({ limit: returned, offset, total, hasMore: total > offset + limit })
    expect(body.data).toHaveLength(returned)
  })

  it.each(['5', '6', '1000000', '2147483648', '9007199254740993', '9223372036854775808', '1e300'])(
    'offset=%s is past the end: empty, with the total',
    async (offset) => {
      const { status, body } = await list(`offset=${offset}`)
      expect({ status, data: body.data }).toEqual({ status: 200, data: [] })
      expect(body.pagination).toMatchObject({ total, hasMore: false })
    },
  )

  const all = ['ada2', 'shared', 'cleo', 'bob', 'ada']
  it.each<[string, string[]]>([
    ['', all],
    [
      'number=&status=&order_by=&order_direction=&created_at_gte=&is_outbound=&worker_id=&account_email=&service=&message_type=',
      all,
    ],
    ['unknown=1&filter[x]=2&__proto__=3&constructor=4', all],
    ['message_type=inbound', all],
    ['message_type=MESSAGE', all],
    ["message_type=' or 1=1", all],
    ['message_type=message', all],
    ['message_type=group', []],
    ['group_id=nothing', []],
    ["group_id=' or ''='", []],
    ['group_id=%25', []],
    ['status=REGISTERED', []],
    ['service=SMS', ['bob']],
    ['is_outbound=false', ['cleo']],
    ['is_outbound=true', ['ada2', 'shared', 'bob', 'ada']],
    ['order_direction=asc', all.toReversed()],
    ...['createdAt', 'created_at', 'sentAt', 'sent_at', 'updatedAt', 'updated_at'].map(
      (order): [string, string[]] => [`order_by=${order}&order_direction=asc`, all.toReversed()],
    ),
    [`number=${ADA}`, ['ada2', 'shared', 'ada']],
    [`number=%2B${ADA.slice(1)}`, ['ada2', 'shared', 'ada']],
    [`number=%20${ADA.slice(1)}`, ['ada2', 'shared', 'ada']],
    [`number=${encodeURIComponent('+1 (202) 555-0101')}`, ['ada2', 'shared', 'ada']],
    ['number=%2B12025550177', []],
    [`number=${LINE}`, ['ada2', 'cleo', 'bob', 'ada']],
    [`from_number=${LINE}`, ['ada2', 'bob', 'ada']],
    [`to_number=${LINE}`, ['cleo']],
    [`from_number=${CLEO}`, ['cleo']],
    [`to_number=${CLEO}`, []],
    [`sendblue_number=${SHARED_LINE}`, ['shared']],
    [`sendblue_number=${ADA}`, []],
    [`sendblue_number=${LINE}&is_outbound=false`, ['cleo']],
    [`number=${ADA}&sendblue_number=${LINE}&message_type=message&order_by=sentAt&limit=1&offset=1`, ['ada']],
    ['created_at_gte=2026-03-01', all],
    ['created_at_lte=2026-03-01', []],
    ['created_at_gte=9999-12-31T23:59:59Z', []],
    ['created_at_lte=9999-12-31', all],
    ['created_at_gte=1970-01-01', all],
    ['created_at_gte=2028-02-29', []],
    [`created_at_gte=${at(60_000)}&created_at_lte=${at(180_000)}`, ['shared', 'cleo', 'bob']],
    [`created_at_gte=${at(180_000)}&created_at_lte=${at(60_000)}`, []],
    ['created_at_gte=9999-12-31&created_at_lte=1970-01-01', []],
    ['created_at_gte=2026-03-01T14:01:00%2B02:00&created_at_lte=2026-03-01T12:01:00Z', ['bob']],
    ['created_at_gte=2026-03-01T14:01:00+02:00&created_at_lte=2026-03-01T12:01:00Z', ['bob']],
    [`created_at_gte=${at(60_000)}&sent_at_lte=${at(60_000)}&updated_at_lte=${at(61_000)}`, ['bob']],
    ['account_email=dev@trunkline.local', all],
    ['account_email=other@example.com', []],
    ["account_email=' or 1=1 --", []],
    ['account_email=%25', []],
  ])('%s', async (query, expected) => {
    expect(await contents(query)).toEqual(expected)
  })

  it('worker_id is for operators', async () => {
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const { id } = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
    for (const as of ['live', 'test'] as const) {
      const { status, body } = await list(`worker_id=${id}`, as)
      expect({ status, body }).toMatchObject({
        status: 403,
        body: { status: 'ERROR', message: expect.stringContaining('worker_id') },
      })
    }
    const reply = await list(`worker_id=${id}`, 'admin')
    expect(reply.body.data.map((message: Json) => message.content)).toEqual(['shared'])
    expect(reply.body.pagination.total).toBe(1)
    expect((await list("worker_id=' or 1=1", 'admin')).body).toMatchObject({
      data: [],
      pagination: { total: 0 },
    })
  })

  it('a page never repeats or skips rows of one moment', async () => {
    const many = await createWorld(engine, { line: { pace: 0 } })
    try {
      await Promise.all(Array.from({ length: 30 }, (_, i) => many.send({ content: `${i}` })))
      const seen: string[] = []
      for (let offset = 0; offset < 30; offset += 7) {
        const { body } = await many.get(`/api/v2/messages?limit=7&offset=${offset}`)
        expect(body.pagination).toMatchObject({ total: 30, hasMore: offset + 7 < 30 })
        seen.push(...body.data.map((message: Json) => message.message_handle))
      }
      expect(new Set(seen).size).toBe(30)
    } finally {
      await many.close()
    }
  })
})

describe.each(ENGINES)('the limit of lists on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  it('is 100 in 10 seconds for an account, and only for that one', async () => {
    const many = async (n: number) =>
      (await Promise.all(Array.from({ length: n }, () => world.get('/api/v2/messages?limit=1')))).map(
        (reply) => reply.status,
      )
    expect(new Set(await many(50))).toEqual(new Set([200]))
    await world.advance(4000)
    expect(new Set(await many(50))).toEqual(new Set([200]))
    const reply = await world.get('/api/v2/messages')
    expect(reply).toMatchObject({
      status: 429,
      headers: { 'retry-after': '6', 'retry-after-ms': '6000' },
      body: { status: 'ERROR', error_code: 4001, error_message: reply.body.message },
    })
    expect((await world.get('/api/v2/messages', 'test')).status).toBe(200)
    expect((await world.get('/api/v2/messages', 'admin')).status).toBe(200)
    expect((await world.get('/api/status?handle=x')).status).toBe(404)
    await world.advance(5999)
    expect((await world.get('/api/v2/messages')).status).toBe(429)
    await world.advance(1)
    // The first fifty have left the window; the second fifty still count.
    expect((await many(51)).filter((status) => status === 200)).toHaveLength(50)
    await world.advance(10_000)
    expect(new Set(await many(100))).toEqual(new Set([200]))
    expect((await many(1))[0]).toBe(429)
  })
})
