import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { currentMoment } from '../../src/base/time.js'
import { ownerOf } from '../../src/services/contacts/contacts.js'
import { importContacts } from '../../src/services/contacts/import.js'
import { finishEmptying } from '../../src/services/sim/worlds.js'
import type { Sql, Writes } from '../../src/storage/engine/db.js'
import { SLICE } from '../../src/storage/engine/slices.js'
import { longestBlock } from '../support/load/loop.js'
import { populate } from '../support/populate.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const CONTACTS = 5 * SLICE
const SENDS = 2 * SLICE
/** Processor time for which nothing may keep the event loop from going round; half as much again for the tests. */
const MAX_BLOCK_MS = 75
/** A message goes with its attempts, and with its copy and reactions on a phone; a contact with an event and a label. */
const ROWS_WITH_EACH = 4

describe.each(ENGINES)('large jobs on %s', (engine) => {
  let world: World
  let sink: Sink
  let before: Record<string, number>
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    before = await counts()
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  /** The number of rows of every table, but for those about processes and about requests of the administrator. */
  async function counts(): Promise<Record<string, number>> {
    await world.settle()
    const { db } = world.app.ctx
    const tables = await db.all<{ name: string }>(
      engine === 'sqlite'
        ? "select name from sqlite_master where type = 'table'"
        : "select tablename as name from pg_tables where schemaname = 'public'",
    )
    const kept = tables.filter(
      ({ name }) => !['nodes', 'sqlite_sequence', 'replays', 'audit_log', 'requests'].includes(name),
    )
    const rows = await db.all<{ name: string; n: number }>(
      kept.map(({ name }) => `select '${name}' as name, count(*) as n from ${name}`).join(' union all '),
    )
    return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
  }

  async function fill(as: Who): Promise<void> {
    await populate(world, LINE, sink.url, as)
    const contacts = Array.from({ length: CONTACTS }, (_, i) => ({ phone: `+1202557${1000 + i}` }))
    expect((await world.post('/api/v2/contacts/bulk', { contacts }, as)).status).toBe(200)
    await Promise.all(
      Array.from({ length: SENDS }, (_, i) => world.send({ number: `+1202556${1000 + i}` }, as)),
    )
    await world.settle()
  }
  const make = async () => {
    const { id, keys } = (await world.post('/sim/worlds', {}, 'admin')).body
    await fill(keys.live)
    return { id, as: keys.live as Who }
  }
  const emptying = async (id: string) =>
    (await world.app.ctx.db.one<Json>('select emptying from accounts where id = $1', [id]))?.emptying

  const rowsOf = async (table: string, id: string) =>
    (await world.app.ctx.db.one<Json>(`select count(*) as n from ${table} where account_id = $1`, [id])).n

  /** What a neighbour sees until the work has ended: its own writes, and the rows that are left after each of them. */
  async function seenDuring(work: Promise<unknown>, id: string) {
    const seen = { writes: 0, contacts: [] as number[], messages: [] as number[] }
    let isOver = false
    void work.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await world.app.ctx.db.run("update accounts set name = name where id = 'neighbour'")
      seen.contacts.push(await rowsOf('contacts', id))
      seen.messages.push(await rowsOf('messages', id))
      if (!isOver) seen.writes++
    }
    return seen
  }

  /** The rows that each transaction of the work changes. A commit holds up every other write on SQLite. */
  async function rowsOfEach(work: () => Promise<unknown>): Promise<number[]> {
    const { db } = world.app.ctx
    const { tx, run } = db
    const sizes: number[] = []
    const counting = <T extends Sql | Writes>(sql: T, add: (rows: number) => void): T => ({
      ...sql,
      run: async (...args: Parameters<Sql['run']>) => {
        const changed = await sql.run(...args)
        add(typeof changed === 'number' ? changed : 1)
        return changed
      },
      insertMany: (...args: Parameters<Sql['insertMany']>) => {
        add(args[2].length)
        return sql.insertMany(...args)
      },
      updateMany: (...args: Parameters<Sql['updateMany']>) => {
        add(args[3].length)
        return sql.updateMany(...args)
      },
      atCommit: (last: Parameters<Sql['atCommit']>[0]) =>
        sql.atCommit((writes) => last(counting(writes, add))),
    })
    const counted: typeof tx = (change) =>
      tx((sql) => {
        const at = sizes.push(0) - 1
        return change(counting(sql, (rows) => (sizes[at]! += rows)))
      })
    Object.assign(db, {
      tx: counted,
      run: (...args: Parameters<typeof run>) => counted((sql) => sql.run(...args)),
    })
    try {
      await work()
    } finally {
      Object.assign(db, { tx, run })
    }
    return sizes
  }

  it('no transaction of a large job changes more rows than a slice has', async () => {
    const { id, as } = await make()
    const labels = (i: number) => Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${i}-${n}`, 'x']))
    const contacts = Array.from({ length: SLICE }, (_, i) => ({
      phone: `+1202558${1000 + i}`,
      custom_variables: labels(i),
    }))
    const done: number[] = []
    const note = async (reply: Promise<{ status: number }>) => done.push((await reply).status)
    const phones = Array.from({ length: CONTACTS }, (_, i) => `+1202557${1000 + i}`)
    const jobs = {
      bulk: () => note(world.post('/api/v2/contacts/bulk', { contacts }, as)),
      removal: () => note(world.call('DELETE', '/api/v2/contacts', { as, body: { contact_ids: phones } })),
      reset: () => note(world.post('/sim/reset', {}, as)),
    }
    for (const [name, work] of Object.entries(jobs)) {
      const sizes = await rowsOfEach(work)
      expect([name, sizes.length > 3, Math.max(...sizes) <= ROWS_WITH_EACH * SLICE]).toEqual([
        name,
        true,
        true,
      ])
    }
    expect(done).toEqual([200, 200, 200])
    await world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })
  })

  it('contacts in bulk that outlive their client say which part of them is stored', async () => {
    const { id } = (await world.post('/sim/worlds', {}, 'admin')).body
    const { ctx } = world.app
    const account = (await ctx.directory.account(id))!
    const owner = await ownerOf(ctx, { account, numbers: null })
    const arrival = { at: currentMoment(), patienceMs: 60_000 }
    const request = { accountId: id, path: '/x', hash: 'x', retryCount: 0, arrival }
    const inputs = Array.from({ length: CONTACTS }, (_, i) => ({
      at: '',
      phone: `+1202557${1000 + i}`,
      fields: {},
    }))
    const stored = importContacts(ctx, request, owner, inputs)
    const refused = stored.then(
      () => 'stored',
      (error: Error) => error.message,
    )
    while ((await rowsOf('contacts', id)) === 0) await new Promise((resolve) => setImmediate(resolve))
    arrival.at = { steady: arrival.at.steady - 61_000, wall: arrival.at.wall - 61_000 }
    const count = await refused.then(() => rowsOf('contacts', id))
    expect(await refused).toContain(`(60 s), and only ${count} of its contacts were stored. Send it again.`)
    await world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })
  })

  it('thousands of rows of one number block nobody, and give it no more labels than a contact may have', async () => {
    const { id, keys } = (await world.post('/sim/worlds', {}, 'admin')).body
    const phone = '+12025571000'
    const ROWS = 2000
    /** The rows are written first: making them is the client's work, which runs on the same thread here. */
    const rows = (labels: number) =>
      JSON.stringify({
        contacts: Array.from({ length: ROWS }, (_, i) => ({
          phone,
          custom_variables: { [`label ${i % labels}`]: `${i}` },
        })),
      })
    const headers = { 'content-type': 'application/json' }
    const bulk = (body: string) =>
      world.call('POST', '/api/v2/contacts/bulk', { as: keys.live, body, headers })
    const [few, many] = [rows(100), rows(ROWS)]
    await bulk(rows(1))
    const stored = await longestBlock(() => bulk(few), MAX_BLOCK_MS)
    expect(stored.result.body.contacts).toHaveLength(1)
    expect(stored.result.body.contacts[0].custom_variables).toMatchObject({ 'label 99': `${ROWS - 1}` })
    const refused = await longestBlock(() => bulk(many), MAX_BLOCK_MS)
    expect([stored.ms < MAX_BLOCK_MS, refused.ms < MAX_BLOCK_MS]).toEqual([true, true])
    const more = { number: phone, custom_variables: { more: 'x' }, update_if_exists: true }
    for (const { status, body } of [refused.result, await world.post('/api/v2/contacts', more, keys.live)])
      expect([status, body.message]).toEqual([
        400,
        expect.stringContaining(
          'custom_variables: a contact has at most 100 labels; with these it would have',
        ),
      ])
    await world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })
  })

  it('contacts in bulk let others write in between; an invalid row or too little room stores none', async () => {
    const { id, keys } = (await world.post('/sim/worlds', {}, 'admin')).body
    const rows = Array.from({ length: CONTACTS + 1 }, (_, i) => ({
      phone: `+1202557${1000 + i}`,
      first_name: 'A',
    }))
    const bulk = (contacts: object[], headers = {}) =>
      world.post('/api/v2/contacts/bulk', { contacts }, keys.live, headers)
    const count = () => rowsOf('contacts', id)
    const none = await bulk([...rows, { phone: '+12025571000', sendblue_number: '+12025550999' }])
    expect([none.status, none.body.message, await count()]).toEqual([
      400,
      expect.stringContaining(`contacts.${rows.length}.sendblue_number`),
      0,
    ])
    const setRoom = (contacts: number) =>
      world.call('PATCH', `/admin/accounts/${id}`, { as: 'admin', body: { budgets: { contacts } } })
    await setRoom(CONTACTS)
    expect([(await bulk(rows)).status, await count()]).toEqual([429, 0])

    await setRoom(10 * CONTACTS)
    const twice = [...rows, { phone: '+12025571000', last_name: 'Z' }]
    const key = { 'idempotency-key': 'sliced' }
    const stored = bulk(twice, key)
    const { contacts: seen } = await seenDuring(stored, id)
    expect(seen.some((there) => there > 0 && there < CONTACTS)).toBe(true)
    const { contacts } = (await stored).body
    expect([contacts.length, await count()]).toEqual([CONTACTS + 1, CONTACTS + 1])
    expect(contacts[0]).toMatchObject({ phone: '+12025571000', first_name: 'A', last_name: 'Z' })
    const again = await bulk(twice, key)
    expect([again.headers['x-idempotent-replay'], again.body.contacts]).toEqual(['true', contacts])
    await world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })
  })

  it('a removed world lets others write between its slices, and leaves nothing behind', async () => {
    const { id } = await make()
    const removal = world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })
    const { writes, contacts, messages } = await seenDuring(removal, id)
    expect(writes).toBeGreaterThan((CONTACTS + SENDS) / SLICE)
    // A table that goes in one transaction is there as a whole, or not at all.
    expect(contacts.some((left) => left > 0 && left < CONTACTS)).toBe(true)
    expect(messages.some((left) => left > 0 && left < SENDS)).toBe(true)
    expect((await removal).status).toBe(204)
    expect(await counts()).toEqual(before)
  })

  it('a reset lets requests of the account wait until the new world is there', async () => {
    const { id, as } = await make()
    const { directory } = world.app.ctx
    const version = directory.version()
    const reset = world.post('/sim/reset', {}, as)
    await vi.waitFor(
      async () => expect([await emptying(id), directory.version() > version]).toEqual(['reset', true]),
      { timeout: 60_000, interval: 1 },
    )
    const { body } = await world.get('/api/v2/contacts', as)
    expect([body, await emptying(id)]).toEqual([[], null])
    expect((await reset).status).toBe(200)
    await world.send({}, as)
    await world.advance(5000)
    expect((await world.get('/api/v2/messages', as)).body.data).toMatchObject([{ status: 'DELIVERED' }])
    expect((await world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })).status).toBe(204)
    expect(await counts()).toEqual(before)
  })

  it('a reset or a removal is finished by the next process after a crash', async () => {
    const { id, as } = await make()
    const crash = (emptied: string) =>
      world.app.ctx.db.run(
        'update accounts set emptying = $1, emptying_until = 0 where id = $2 or twin_id = $2',
        [emptied, id],
      )
    await crash('reset keeping webhooks')
    await world.restart()
    await finishEmptying(world.app.ctx, false)
    expect(await emptying(id)).toBe(null)
    expect((await world.get('/api/v2/contacts', as)).body).toEqual([])
    const { webhooks } = (await world.get('/api/account/webhooks', as)).body
    expect(webhooks.receive).toHaveLength(1)

    await crash('removal')
    await finishEmptying(world.app.ctx, false)
    expect(await emptying(id)).toBeUndefined()
    expect(await counts()).toEqual(before)
  })
})
