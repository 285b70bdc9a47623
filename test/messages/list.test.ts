import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createRandom,
  DAY,
  everything,
  expected,
  GONE_LINE,
  HOUR,
  handleOf,
  iso,
  MUTE_LINE,
  populate,
  type Query,
  randomQuery,
  SMS_LINE,
  STRANGER,
} from '../support/message-list.js'
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
  SHARED_LINE,
  type World,
} from '../support/world.js'

describe.each(ENGINES)('the message list on %s', (engine) => {
  let world: World
  /** Every record of the account, each asked for by its handle, with the database's id to break ties. */
  let all: { record: Json; id: number }[]
  let calls = 0

  beforeAll(async () => {
    world = await createWorld(engine, { line: { pace: 0 } })
    await populate(world)
    all = await everything(world)
  })
  afterAll(() => world?.close())

  async function list(query: Query): Promise<Json> {
    // The route allows 100 calls in 10 seconds of the world's time.
    if (++calls % 90 === 0) await world.advance(10_000)
    const reply = await world.get(`/api/v2/messages?${new URLSearchParams(query as Record<string, string>)}`)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return reply.body
  }

  /** Compares one answer with a filter over everything. */
  async function check(query: Query): Promise<number> {
    const matches = expected(all, query)
    const offset = Number(query.offset ?? 0)
    const limit = Math.min(Number(query.limit ?? 100), 1000)
    const page = matches.slice(offset, offset + limit)
    const { data, pagination } = await list(query)
    const shown = JSON.stringify(query)
    expect(pagination, shown).toEqual({
      hasMore: offset + page.length < matches.length,
      limit: page.length,
      offset,
      total: matches.length,
    })
    expect(data.map(handleOf), shown).toEqual(page.map(handleOf))
    expect(data, shown).toEqual(page)
    return matches.length
  }

  it('has a world worth listing', () => {
    const values = (name: string) => new Set(all.map(({ record }) => record[name]))
    expect(all.length).toBeGreaterThan(280)
    expect(values('status')).toEqual(new Set(['QUEUED', 'PENDING', 'SENT', 'DELIVERED', 'ERROR', 'RECEIVED']))
    expect(values('service')).toEqual(new Set(['iMessage', 'RCS', 'SMS']))
    expect(values('sendblue_number')).toEqual(new Set([LINE, SHARED_LINE, SMS_LINE, MUTE_LINE, GONE_LINE]))
    const days = new Set(all.map(({ record }) => record.date_created.slice(0, 10)))
    expect(days.size).toBeGreaterThan(6)
    // Ties, and dates that differ from each other by more than a day.
    expect(values('date_created').size).toBeLessThan(all.length - 30)
    const spread = ({ record }: Json) => Date.parse(record.date_updated) - Date.parse(record.date_created)
    expect(all.filter((one) => spread(one) > DAY).length).toBeGreaterThan(5)
    expect(all.some(({ record }) => record.date_sent !== record.date_created && record.is_outbound)).toBe(
      true,
    )
  })

  it('shows everything, newest first, without a filter', async () => {
    await check({})
    await check({ limit: '1000' })
    await check({ limit: '5000' })
  })

  it.each<Query>([
    { is_outbound: 'true' },
    { is_outbound: 'false' },
    ...['QUEUED', 'PENDING', 'SENT', 'DELIVERED', 'ERROR', 'RECEIVED'].map((status) => ({ status })),
    ...['iMessage', 'RCS', 'SMS'].map((service) => ({ service })),
    ...[LINE, SHARED_LINE, SMS_LINE, MUTE_LINE, GONE_LINE].map((number) => ({ sendblue_number: number })),
    ...[ADA, BOB, CLEO, DAN, EVE, LINE, SHARED_LINE, SMS_LINE, GONE_LINE].flatMap((number) => [
      { number },
      { from_number: number },
      { to_number: number },
    ]),
    { from_number: LINE, to_number: ADA },
    { from_number: ADA, to_number: LINE },
    { from_number: LINE, to_number: SMS_LINE },
    { from_number: LINE, to_number: LINE },
    { number: LINE, from_number: SMS_LINE },
    { number: LINE, sendblue_number: SMS_LINE },
    { number: ADA, sendblue_number: SHARED_LINE, message_type: 'message', order_by: 'sentAt' },
    { message_type: 'message' },
    { message_type: 'whatever' },
    { created_at_gte: '0001-01-01T00:00:00Z' },
    { sent_at_gte: '1969-12-31', updated_at_gte: '1900-02-28T00:00:00-08:00' },
  ])('matches a filter over everything: %j', async (query) => {
    expect(await check(query)).toBeGreaterThan(0)
  })

  it.each<Query>([
    { status: 'DECLINED' },
    { number: STRANGER },
    { sendblue_number: STRANGER },
    { sendblue_number: ADA },
    { from_number: ADA, to_number: BOB },
    { is_outbound: 'true', status: 'RECEIVED' },
    { message_type: 'group' },
    { group_id: 'no-such-group' },
    { account_email: 'somebody@else.example' },
    { created_at_gte: '2026-03-05', created_at_lte: '2026-03-04' },
    { created_at_gte: '9999-12-31T23:59:59Z' },
    { created_at_lte: '1969-12-31' },
  ])('is empty for %j', async (query) => {
    expect(await check(query)).toBe(0)
  })

  it('takes numbers as people type them', async () => {
    const plain = await list({ number: ADA })
    expect(plain.pagination.total).toBeGreaterThan(0)
    for (const number of [' 12025550101', '+1 (202) 555-0101']) expect(await list({ number })).toEqual(plain)
    const raw = await world.get(`/api/v2/messages?number=${ADA}`)
    expect(raw.body).toEqual(plain)
  })

  it.each(['created', 'updated', 'sent'])('orders by %s in both spellings and directions', async (field) => {
    for (const order_by of [`${field}At`, `${field}_at`]) {
      for (const direction of [{}, { order_direction: 'asc' }, { order_direction: 'desc' }] as Query[]) {
        await check({ order_by, ...direction, limit: '1000' })
        await check({ order_by, ...direction, status: 'DELIVERED', limit: '7', offset: '3' })
        await check({ order_by, ...direction, number: LINE, limit: '20', offset: '11' })
      }
    }
  })

  it.each(['created', 'updated', 'sent'])(
    'counts whole hours and days and cut ones, by %s',
    async (field) => {
      const times = all.map(({ record }) => Date.parse(record[`date_${field}`])).sort((a, b) => a - b)
      const first = times[0]!
      const middle = times[150]!
      const hourOf = (time: number) => Math.floor(time / HOUR) * HOUR
      const dayOf = (time: number) => Math.floor(time / DAY) * DAY
      const ranges: [from: number | undefined, to: number | undefined][] = [
        [middle, undefined],
        [undefined, middle],
        [middle, middle],
        [middle + 1, undefined],
        [undefined, middle - 1],
        [first, times.at(-1)],
        [first + 1, times.at(-1)! - 1],
        [hourOf(middle), hourOf(middle) + HOUR - 1],
        [hourOf(middle), hourOf(middle) + HOUR],
        [hourOf(middle) + 1, hourOf(middle) + 3 * HOUR],
        [dayOf(middle), dayOf(middle) + DAY - 1],
        [dayOf(middle), dayOf(middle) + DAY],
        [dayOf(middle) - DAY, dayOf(middle) + 2 * DAY - 1],
        [dayOf(middle) - 1, dayOf(middle) + 3 * DAY + 5 * HOUR + 17],
        [middle - 5 * HOUR - 13, middle + 7 * HOUR + 29],
        [middle - 2 * DAY - 3 * HOUR, middle + 2 * DAY + 3 * HOUR],
        [0, undefined],
      ]
      const filters: Query[] = [
        {},
        { is_outbound: 'true' },
        { status: 'DELIVERED', sendblue_number: LINE },
        { number: ADA },
      ]
      for (const [from, to] of ranges) {
        const range: Query = {}
        if (from !== undefined) range[`${field}_at_gte`] = iso(from)
        if (to !== undefined) range[`${field}_at_lte`] = iso(to)
        for (const filter of filters) await check({ ...filter, ...range, limit: '1000' })
      }
    },
  )

  it('matches a filter over everything for hundreds of random questions', async () => {
    const random = createRandom(20_260_301)
    let nonEmpty = 0
    for (let i = 0; i < 400; i++) nonEmpty += (await check(randomQuery(random, all))) > 0 ? 1 : 0
    expect(nonEmpty).toBeGreaterThan(150)
  })

  it.each<Query>([
    {},
    { order_by: 'updated_at', order_direction: 'asc' },
    { order_by: 'sentAt', is_outbound: 'true' },
    { number: LINE, order_direction: 'asc' },
    { status: 'DELIVERED', order_by: 'updatedAt' },
  ])('pages through every row exactly once: %j', async (filter) => {
    for (const limit of [7, 40, 100]) {
      const seen: string[] = []
      for (let offset = 0; ; offset += limit) {
        const { data, pagination } = await list({ ...filter, limit: String(limit), offset: String(offset) })
        seen.push(...data.map(handleOf))
        expect(pagination.hasMore).toBe(seen.length < pagination.total)
        if (!pagination.hasMore) break
      }
      expect(seen).toEqual(expected(all, filter).map(handleOf))
    }
    const total = expected(all, filter).length
    for (const offset of [total - 1, total, total + 1, 2_000_000_000])
      await check({ ...filter, limit: '5', offset: String(offset) })
  })

  it('counts the account of the other world apart', async () => {
    const reply = await world.get('/api/v2/messages', 'test')
    expect(reply.body.pagination).toMatchObject({ total: 0, hasMore: false })
    const other = (await world.get('/api/v2/messages?account_email=other@example.com&limit=1000', 'admin'))
      .body
    expect(other.pagination.total).toBe(5)
    expect(other.data.every((record: Json) => record.account_email === 'other@example.com')).toBe(true)
    const everybody = (await world.get('/api/v2/messages', 'admin')).body
    expect(everybody.pagination.total).toBe(all.length + 5)
    const byNumber = (await world.get(`/api/v2/messages?number=${encodeURIComponent(ADA)}`, 'admin')).body
    expect(byNumber.pagination.total).toBe(expected(all, { number: ADA }).length + 5)
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const line = lines.find((one: Json) => one.number === LINE && one.world === 'live')
    const byLine = (await world.get(`/api/v2/messages?worker_id=${line.id}`, 'admin')).body
    expect(byLine.pagination.total).toBe(expected(all, { sendblue_number: LINE }).length)
    expect((await world.get(`/api/v2/messages?worker_id=${line.id}`)).status).toBe(403)
  })

  it('allows 100 calls in 10 seconds', async () => {
    await world.advance(10_000)
    const statuses = []
    for (let i = 0; i < 101; i++) statuses.push((await world.get('/api/v2/messages?limit=1')).status)
    expect(statuses).toEqual([...new Array(100).fill(200), 429])
    await world.advance(10_000)
    calls = 1
    expect((await world.get('/api/v2/messages?limit=1')).status).toBe(200)
  })

  it('keeps its counters equal to the table', async () => {
    const { db } = world.app.ctx
    const dimensions = 'account_id, line_id, is_outbound, status, service, type'
    const byName = `order by ${dimensions}, bucket`
    const series = [{ name: 'all', width: 0, bucket: 'created_at * 0' }]
    for (const name of ['created', 'updated', 'sent']) {
      for (const width of [HOUR, DAY])
        series.push({ name, width, bucket: `${name}_at - ${name}_at % ${width}` })
    }
    for (const { name, width, bucket } of series) {
      const counted = await db.all(
        `select ${dimensions}, bucket, n from message_counts where series = $1 and width = $2 and n <> 0 ${byName}`,
        [name, width],
      )
      const real = await db.all(
        `select ${dimensions}, ${bucket} as bucket, count(*) as n from messages group by ${dimensions}, ${bucket} ${byName}`,
      )
      expect(real.length).toBeGreaterThan(20)
      expect(counted, `${name} ${width}`).toEqual(real)
    }
  })
})
