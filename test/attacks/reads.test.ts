import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestBlock } from '../support/load/loop.js'
import { createWorld, ENGINES, type World } from '../support/world.js'
import { findOwner, insertPast } from './support/history.js'

/** Processor time for which nothing may keep the event loop from going round; half as much again for the tests. */
const MAX_BLOCK_MS = 75
const MESSAGES = 6000
/** A statement that takes about a hundred milliseconds on either engine. */
const LONG =
  'with recursive c(n) as (select 1 union all select n + 1 from c where n < 300000) select count(*) as n from c'

describe.each(ENGINES)('expensive reads on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    const { db } = world.app.ctx
    await insertPast(db, await findOwner(db), MESSAGES)
  })
  afterAll(() => world.close())

  it.each([
    ['a search that finds nothing', '/v3/search?q=nowhere'],
    ['a page of 1000 messages', '/api/v2/messages?limit=1000&offset=4000'],
    ['a list by two dates', '/api/v2/messages?limit=10&created_at_gte=2026-01-01&sent_at_gte=2026-01-01'],
    ['conversations', '/v3/conversations?limit=100'],
    ['an overview', '/v3/overview?window=7d'],
  ])('%s blocks nobody', async (_name, path) => {
    await world.get(path)
    const { ms, result } = await longestBlock(() => world.get(path), MAX_BLOCK_MS)
    expect([path, result.status]).toEqual([path, 200])
    expect(ms).toBeLessThan(MAX_BLOCK_MS)
  })

  it('many searches at once block nobody, and each gets its answer', async () => {
    const { ms, result } = await longestBlock(
      () => Promise.all(Array.from({ length: 5 }, () => world.get('/v3/search?q=nowhere'))),
      MAX_BLOCK_MS,
    )
    expect(result.map(({ body }) => body.looked_at)).toEqual(Array(5).fill(5000))
    expect(ms).toBeLessThan(MAX_BLOCK_MS)
  })

  it('a long statement runs beside the loop, and owners take turns', async () => {
    const { db } = world.app.ctx
    const order: string[] = []
    const run = (owner: string) =>
      db
        .aside(owner)
        .one<{ n: number }>(LONG)
        .then((row) => order.push(owner) && row!.n)
    const { ms, result } = await longestBlock(
      () => Promise.all([...Array.from({ length: 12 }, () => run('a')), run('b')]),
      MAX_BLOCK_MS,
    )
    expect(result).toEqual(Array(13).fill(300_000))
    expect(ms).toBeLessThan(MAX_BLOCK_MS)
    // PostgreSQL runs three at once. In one queue the other owner would come last.
    expect(order.indexOf('b')).toBeLessThan(10)
  })

  it('short statements in one go leave the loop a turn', async () => {
    const { db } = world.app.ctx
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    for (let i = 0; i < 200; i++) await db.all('select id, content from messages order by id limit 200')
    isOver = true
    expect(turns).toBeGreaterThan(5)
  })
})
