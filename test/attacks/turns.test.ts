import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createWorld, ENGINES, type Json, SHARED_LINE, type World } from '../support/world.js'

const HOSTILE_LINE = '+12025550160'
const NEIGHBOUR_LINE = '+12025550161'
const MANY = 120

describe.each(ENGINES)('many messages of one account on %s', (engine) => {
  let world: World
  type Keys = Awaited<ReturnType<World['addAccount']>>['live']
  let hostile: Keys
  let neighbour: Keys
  beforeAll(async () => {
    world = await createWorld(engine)
    const { data } = (await world.get('/admin/lines', 'admin')).body
    const shared = data.find((one: Json) => one.number === SHARED_LINE && one.world === 'live')
    const join = async (name: string, line: string) => {
      const { id, live } = await world.addAccount(`${name}@example.com`, line)
      await world.post(`/admin/lines/${shared.id}/members`, { account_id: id }, 'admin')
      return live
    }
    hostile = await join('hostile', HOSTILE_LINE)
    neighbour = await join('neighbour', NEIGHBOUR_LINE)
  })
  afterAll(() => world.close())

  const lineId = async (number: string) => {
    const { data } = (await world.get('/admin/lines', 'admin')).body
    return data.find((one: Json) => one.number === number && one.world === 'live').id
  }
  const person = (i: number) => `+1202556${1000 + i}`

  it('on a shared line leave every second place to a neighbour, also for one person', async () => {
    const send = async (i: number, as: Keys) => {
      const answer = await world.send({ from_number: SHARED_LINE, number: person(i), content: String(i) }, as)
      expect(answer).toMatchObject({ status: 'QUEUED' })
      return answer.message_handle
    }
    // The line sends ten a second.
    const first = await send(0, hostile)
    const flood = await Promise.all(Array.from({ length: MANY }, (_, i) => send(i % 2 ? 0 : i, hostile)))
    const own = [await send(0, neighbour), await send(0, neighbour), await send(1, neighbour)]
    await world.advance(1000)
    await world.advance(1000)
    const sent = async (handles: string[], as: Keys) => {
      const records = await Promise.all(handles.map((handle) => world.record(handle, as)))
      return records.filter(({ status }) => status !== 'QUEUED').length
    }
    expect(await sent(own, neighbour)).toBe(own.length)
    expect(await sent([first, ...flood], hostile)).toBeLessThan(35)
  })

  it('that are due at once leave every second place to a neighbour, and keep their own order', async () => {
    const sendAt = new Date(world.app.ctx.clock.now() + 60_000).toISOString()
    const plan = (from: string, as: Keys, i: number) =>
      world.send({ from_number: from, number: person(i), content: String(i), send_at: sendAt }, as)
    await Promise.all(Array.from({ length: MANY }, (_, i) => plan(HOSTILE_LINE, hostile, i)))
    for (let i = 0; i < 3; i++) await plan(NEIGHBOUR_LINE, neighbour, i)
    const inOrder = () =>
      world.app.ctx.db.all<{ line: string; handle: string }>(
        'select line_number as line, handle from messages where line_number in ($1, $2) order by id',
        [HOSTILE_LINE, NEIGHBOUR_LINE],
      )
    const accepted = await inOrder()
    await world.advance(60_000)
    const queued = await inOrder()
    expect(queued).toHaveLength(MANY + 3)
    const ofNeighbour = queued.flatMap(({ line }, place) => (line === NEIGHBOUR_LINE ? place : []))
    expect(Math.max(...ofNeighbour)).toBeLessThan(8)
    for (const line of [HOSTILE_LINE, NEIGHBOUR_LINE]) {
      const isOwn = (one: { line: string }) => one.line === line
      expect(queued.filter(isOwn)).toEqual(accepted.filter(isOwn))
    }
  })

  it('are written in small portions while a neighbour is busy, in large ones otherwise', async () => {
    const { ctx } = world.app
    const { db } = ctx
    const write = db.write
    const portions: number[] = []
    db.write = (fn) =>
      write((sql) =>
        fn({
          ...sql,
          insertMany: (table, columns, rows, tail) => {
            if (table === 'attempts') portions.push(rows.length)
            return sql.insertMany(table, columns, rows, tail)
          },
        }),
      )
    const burst = async () => {
      const sendAt = new Date(ctx.clock.now() + 60_000).toISOString()
      const plan = (_: unknown, i: number) =>
        world.send({ from_number: HOSTILE_LINE, number: person(i), content: 'x', send_at: sendAt }, hostile)
      await Promise.all(Array.from({ length: MANY }, plan))
      portions.length = 0
      return () => world.advance(60_000)
    }
    try {
      await world.call('PATCH', `/admin/lines/${await lineId(HOSTILE_LINE)}`, {
        as: 'admin',
        body: { pace: 0 },
      })
      const resting = new Set<string | undefined>()
      vi.spyOn(ctx, 'rest').mockImplementation(async () => {
        resting.add(/(schedule|runner)\.ts/.exec(new Error().stack!)?.[1])
      })
      const among = await burst()
      await world.send({ from_number: NEIGHBOUR_LINE, content: 'here' }, neighbour)
      await among()
      expect(Math.max(...portions)).toBeLessThanOrEqual(24)
      expect([...resting].sort()).toEqual(['runner', 'schedule'])
      const alone = await burst()
      const quiet = performance.now() + 6000
      vi.spyOn(performance, 'now').mockReturnValue(quiet)
      await alone()
      expect(Math.max(...portions)).toBeGreaterThan(24)
    } finally {
      vi.restoreAllMocks()
      db.write = write
    }
  })
})
