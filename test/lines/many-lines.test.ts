import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sql } from '../../src/storage/engine/db.js'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'

const LEASE_MS = 500
/** Lease times after which the lines are compared with the database without a hint. */
const COMPARED_AFTER = 6

describe.each(ENGINES)('many lines on %s', (engine) => {
  let world: World
  let account: string
  let rows = 0
  let largest = 0
  let next = 0
  const watched = new WeakSet<Sql>()

  /** Counts the rows that the process reads, in transactions and outside. */
  function count(sql: Sql) {
    if (watched.has(sql)) return
    watched.add(sql)
    const { all, one } = sql
    const counted = <T>(found: T, n: number) => {
      rows += n
      largest = Math.max(largest, n)
      return found
    }
    sql.all = (async (...args: Parameters<Sql['all']>) => {
      const found = await all.apply(sql, args)
      return counted(found, found.length)
    }) as Sql['all']
    sql.one = (async (...args: Parameters<Sql['one']>) => {
      const found = await one.apply(sql, args)
      return counted(found, found === undefined ? 0 : 1)
    }) as Sql['one']
  }

  beforeAll(async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_LEASE_MS: String(LEASE_MS) } })
    account = (await world.post('/admin/accounts', { email: 'many@example.com' }, 'admin')).body.id
    const { db } = world.app.ctx
    count(db)
    const { tx } = db
    db.tx = ((work: (sql: Sql) => Promise<unknown>) =>
      tx.call(db, (sql) => {
        count(sql)
        return work(sql)
      })) as typeof db.tx
  })
  afterAll(() => world.close())

  const add = async () => {
    const number = `+1303${2_000_000 + next++}`
    const line = (await world.post('/admin/lines', { account_id: account, number }, 'admin')).body
    await world.settle()
    return line
  }
  const seen = async () => (await world.app.ctx.db.one<Json>('select max(seen_at) as at from nodes')).at

  /** The fewest rows of several turns: a beat of the node may fall into one of them. */
  async function least(work: () => Promise<unknown>): Promise<number> {
    const found: number[] = []
    for (let i = 0; i < 4; i++) {
      rows = 0
      await work()
      found.push(rows)
    }
    return Math.min(...found)
  }

  it('adding a line reads as many rows beside a hundred lines as beside ten', async () => {
    for (let i = 0; i < 5; i++) await add()
    const few = await least(add)
    for (let i = 0; i < 45; i++) await add()
    // A beat of the node may add a few.
    expect(await least(add)).toBeLessThan(few + 20)
    expect(few).toBeGreaterThan(0)
  })

  it('a node with a hundred idle lines reads a few rows to keep them', async () => {
    const aWhile = async () => {
      const from = await seen()
      await expect
        .poll(seen, { interval: 20, timeout: 40 * LEASE_MS })
        .toBeGreaterThan(from + (COMPARED_AFTER + 2) * LEASE_MS)
    }
    // Lines were added, so they are compared once more.
    await aWhile()
    largest = 0
    await aWhile()
    expect(largest).toBeLessThan(10)
  })

  it('a line that was added, changed or removed is driven so at once', async () => {
    const { id } = await add()
    const state = async () => (await world.get(`/admin/lines/${id}`, 'admin')).body.state
    expect(await state()).toBe('ONLINE')
    const driven = () => world.app.ctx.lines.get(id)?.line.pace
    await world.call('PATCH', `/admin/lines/${id}`, { as: 'admin', body: { pace: 7 } })
    await world.app.ctx.lines.tended()
    expect(driven()).toBe(7)
    await world.call('DELETE', `/admin/lines/${id}`, { as: 'admin' })
    await world.app.ctx.lines.tended()
    expect(driven()).toBeUndefined()
  })

  it('finds a change whose hint was lost', async () => {
    const { id } = await add()
    const epoch = async () =>
      (await world.app.ctx.db.one<Json>('select epoch from line_leases where line_id = $1', [id])).epoch
    const before = await epoch()
    await world.app.ctx.db.run(
      'update line_leases set epoch = epoch + 1, expires_at = 0 where line_id = $1',
      [id],
    )
    await expect.poll(epoch).toBe(before + 2)
  })

  // On SQLite no other process can change a line.
  it.runIf(engine === 'postgres')('finds a change of another process whose hint was lost', async () => {
    const { id } = await add()
    await world.app.ctx.db.run('update lines set pace = 9 where id = $1', [id])
    const pace = () => world.app.ctx.lines.get(id)?.line.pace
    await expect.poll(pace, { timeout: 40 * LEASE_MS }).toBe(9)
  })
})
