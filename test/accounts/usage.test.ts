import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const DAY = 86_400_000
const B_LINE = '+12025550150'

describe.each(ENGINES)('usage by day on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let id: string
  beforeAll(async () => {
    world = await createWorld(engine)
    id = (await world.get('/admin/accounts', 'admin')).body.data[0].id
    b = await world.addAccount('b@example.com', B_LINE)
  })
  beforeEach(() => world.reset())
  afterAll(() => world.close())

  const now = () => world.app.ctx.clock.now()
  const dayAt = (time: number) => new Date(time).toISOString().slice(0, 10)
  const read = async (query = '', as: Who = 'live') => (await world.get(`/v3/usage/days?${query}`, as)).body
  const brief = (rows: Json[]) =>
    rows.map((row) => [row.day, row.line, row.accepted, row.delivered, row.failed, row.received])

  it('counts by day, line and outcome, with totals', async () => {
    const first = dayAt(now())
    await world.send({ content: 'one' })
    await world.text(BOB, 'STOP')
    await world.advance(60_000)
    await world.send({ content: 'refused: Bob has opted out', number: BOB })
    await world.advance(DAY)
    const second = dayAt(now())
    await world.send({ content: 'two' })
    await world.advance(60_000)
    // With the reply to STOP.
    const { data, totals, next_cursor } = await read()
    expect(brief(data)).toEqual([
      [first, LINE, 3, 1, 1, 1],
      [second, LINE, 1, 1, 0, 0],
    ])
    expect([totals, next_cursor]).toEqual([{ accepted: 4, delivered: 2, failed: 1, received: 1 }, null])
    expect(brief((await read(`from=${second}&to=${second}`)).data)).toEqual([[second, LINE, 1, 1, 0, 0]])
    const page = await read('limit=1')
    expect(brief(page.data)).toEqual([[first, LINE, 3, 1, 1, 1]])
    const rest = await read(`limit=1&cursor=${page.next_cursor}`)
    expect([brief(rest.data), rest.totals]).toEqual([[[second, LINE, 1, 1, 0, 0]], null])
    for (const line of [`line=${encodeURIComponent(LINE)}`, `line_id=${data[0].line_id}`])
      expect((await read(line)).totals.accepted).toBe(4)
  })

  it('stays the same when messages are deleted, removed by retention or erased, and goes on', async () => {
    const sent: Json[] = []
    for (const content of ['one', 'two', 'three']) sent.push(await world.send({ content }))
    await world.send({ content: 'of Bob', number: BOB })
    await world.text(ADA, 'in')
    await world.advance(60_000)
    const before = await read()
    expect(before.totals).toEqual({ accepted: 4, delivered: 3, failed: 0, received: 1 })
    await world.call('DELETE', `/api/v2/messages/${sent[0]!.message_handle}`)
    expect((await world.get('/api/v2/messages')).body.pagination.total).toBe(4)
    expect(await read()).toEqual(before)
    await world.post('/admin/erasures', { person: BOB, account_id: id }, 'admin')
    await world.advance(3_600_000)
    expect((await world.get('/api/v2/messages')).body.pagination.total).toBe(3)
    expect(await read()).toEqual(before)
    const keep = (messages: number | null) =>
      world.call('PATCH', `/admin/accounts/${id}`, { as: 'admin', body: { retention: { messages } } })
    await keep(30)
    await world.advance(35 * DAY)
    expect((await world.get('/api/v2/messages')).body.pagination.total).toBe(0)
    await keep(null)
    const range = `from=${before.data[0].day}&to=${dayAt(now())}`
    expect(await read(range)).toEqual(before)
    await world.restart()
    await world.send({ content: 'later' })
    expect((await read(range)).totals).toMatchObject({ accepted: 5, received: 1 })
  })

  it('a deleted message that fails or is delivered afterwards moves, too', async () => {
    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    const { message_handle } = await world.send({ content: 'waits' })
    await world.call('DELETE', `/api/v2/messages/${message_handle}`)
    expect((await read()).totals).toEqual({ accepted: 1, delivered: 0, failed: 0, received: 0 })
    await world.setLine(LINE, { config: { state: 'ONLINE' } })
    await world.advance(60_000)
    expect((await read()).totals).toEqual({ accepted: 1, delivered: 1, failed: 0, received: 0 })
  })

  it('another account sees nothing of it, and a foreign line looks like none', async () => {
    await world.send({ content: 'mine' })
    const { data } = await read()
    const empty = {
      data: [],
      totals: { accepted: 0, delivered: 0, failed: 0, received: 0 },
      next_cursor: null,
    }
    expect(await read('', b.live)).toEqual(empty)
    expect(await read('', 'test')).toEqual(empty)
    for (const line of [
      `line=${encodeURIComponent(LINE)}`,
      'line=%2B12025550159',
      `line_id=${data[0].line_id}`,
      'line_id=x',
    ])
      expect(await read(line, b.live), line).toEqual(empty)
    const cursor = `0.${id}.`
    expect((await read(`cursor=${cursor}`, b.live)).data).toEqual([])
  })

  it('an operator sees one account or all of them, page by page', async () => {
    await world.send({ content: 'mine' })
    await world.send({ content: 'theirs', from_number: B_LINE }, b.live)
    const admin = async (query: string) => (await world.get(`/admin/usage/days?${query}`, 'admin')).body
    expect(await admin(`account_id=${id}`)).toEqual(await read())
    const rows: Json[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await admin(`limit=1${cursor && `&cursor=${cursor}`}`)
      rows.push(...page.data)
      cursor = page.next_cursor
    }
    expect(rows.map((row) => [row.account_id, row.line, row.accepted]).sort()).toEqual(
      [
        [id, LINE, 1],
        [b.id, B_LINE, 1],
      ].sort(),
    )
    expect((await world.get('/admin/usage/days?account_id=nobody', 'admin')).status).toBe(404)
    expect((await world.get('/admin/usage/days', 'live')).status).toBe(403)
  })

  it.each([
    'from=yesterday',
    'to=2026-02-30',
    'from=2026-03-02&to=2026-03-01',
    'from=2020-01-01&to=2026-01-01',
    'from=2026-01-01&to=2026-04-03',
    'limit=0',
    'limit=x',
    'line=x',
    `line=${encodeURIComponent("' or 1 = 1 --")}`,
    'cursor=x',
    'cursor=1.x',
    `cursor=${'9'.repeat(16)}.a.b`,
    `from=${'2'.repeat(300)}`,
    'from=2026-03-01&from=2026-03-02',
  ])('refuses %s', async (query) => {
    expect((await world.get(`/v3/usage/days?${query}`)).status).toBe(400)
    if (!query.startsWith('line'))
      expect((await world.get(`/admin/usage/days?${query}`, 'admin')).status).toBe(400)
  })

  it('allows 92 days', async () => {
    expect((await world.get('/v3/usage/days?from=2026-01-01&to=2026-04-02')).status).toBe(200)
  })

  it('is printed and exported by the command line', async () => {
    await world.send({ content: 'one' })
    await world.advance(60_000)
    const day = dayAt(now())
    const key = { TRUNKLINE_URL: world.app.url() }
    const table = (await runCli(['usage'], key)).stdout
    expect(table).toMatch(new RegExp(`^${day} +\\${LINE} .* 1 +1 +0 +0$`, 'm'))
    expect(table).toMatch(/^total .* 1 +1 +0 +0$/m)
    expect(JSON.parse((await runCli(['usage', '--json', '--line', LINE], key)).stdout)).toEqual(
      (await read()).data,
    )
    const csv = (await runCli(['usage', '--csv', '--from', day], key)).stdout.split('\r\n')
    expect(csv[0]).toBe('day,line,line_id,accepted,delivered,failed,received')
    expect(csv[1]).toMatch(new RegExp(`^${day},\\${LINE},[^,]+,1,1,0,0`))
    expect((await runCli(['usage', '--csv', '--json'], key)).code).toBe(2)
    expect((await runCli(['usage', '--from', '2020-01-01'], key)).stderr).toContain('at most 92 days')
  })

  it('a reset removes it', async () => {
    const { message_handle } = await world.send({ content: 'one' })
    await world.advance(60_000)
    await world.call('DELETE', `/api/v2/messages/${message_handle}`)
    expect((await read()).totals.accepted).toBe(1)
    await world.reset()
    expect((await read()).totals.accepted).toBe(0)
  })
})
