import { get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertContacts } from '../../src/storage/contacts/contacts.js'
import { insertPhoneMessages } from '../../src/storage/sim/messages.js'
import { longestBlock } from '../support/load/loop.js'
import { eventually } from '../support/server.js'
import { ADA, createWorld, credentials, ENGINES, type Json, START, type World } from '../support/world.js'
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

/** The largest that a user can store. */
const CONTACTS = 60
const VARIABLES = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`label ${i}`, 'x'.repeat(5000)]))
const LONG_TEXTS = 1000
const LONG_TEXT = 'y'.repeat(18_995)

describe.each(ENGINES)('lists of the largest rows on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    const { db } = world.app.ctx
    const owner = await findOwner(db)
    for (let i = 0; i < CONTACTS; i++) await db.write((sql) => insertContacts(sql, [contact(owner, i)]))
    await insertPast(db, owner, LONG_TEXTS)
    const nextYear = START + 366 * 86_400_000
    await db.run('update messages set content = $1, due_at = $2', [LONG_TEXT, nextYear])
    const shown = Array.from({ length: LONG_TEXTS }, (_, i) => onPhone(owner, i))
    await db.write((sql) => insertPhoneMessages(sql, shown))
  })
  afterAll(() => world.close())

  const onPhone = ({ id, number, accountId }: Awaited<ReturnType<typeof findOwner>>, i: number) => ({
    ...{ network: accountId, phone: ADA, lineId: id, lineNumber: number, providerId: `P${i}`, ref: null },
    ...{ handle: null, content: LONG_TEXT, mediaUrl: '', sendStyle: '', replyTo: null, replyToPart: null },
    ...{ chatId: null, sender: null, service: 'iMessage' as const, fromPhone: true, extra: null },
    ...{ createdAt: START, arrivedAt: null, readAt: null, dueAt: null },
  })
  const contact = ({ accountId }: { accountId: string }, i: number) => ({
    ...{
      accountId,
      id: `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`,
      phone: `+1202557${1000 + i}`,
    },
    ...{ firstName: `${i}`, lastName: '', companyName: '', assignedToEmail: null, lineNumber: null },
    ...{ createdAt: START, updatedAt: START, unclaimed: false, tags: [], variables: VARIABLES },
  })
  /** Begins a list, and stops reading with its first bytes. */
  const begin = (path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const asked = get(`${world.app.url()}${path}`, { headers: credentials('live'), agent: false })
      asked.once('response', (answer) => resolve(answer.pause())).once('error', reject)
    })
  /** Counts the rows that lists read from the database. */
  const countRows = () => {
    const { db } = world.app.ctx
    const { aside } = db
    const counted = { rows: 0, end: () => Object.assign(db, { aside }) }
    db.aside = (owner) => {
      const reads = aside(owner)
      const all = async (...args: Parameters<typeof reads.all>) => {
        const found = await reads.all(...args)
        if (/^select (c\.\*|\* from (phone_)?messages where id)/.test(args[0])) counted.rows += found.length
        return found as never
      }
      return { ...reads, all }
    }
    return counted
  }

  it.each([
    ['/api/v2/contacts?limit=1000', CONTACTS, (body: Json) => body],
    ['/accounts/contacts?limit=1000', CONTACTS, (body: Json) => body],
    ['/api/v2/messages?limit=1000', LONG_TEXTS, (body: Json) => body.data],
    ['/accounts/messages?limit=1000', LONG_TEXTS, (body: Json) => body.messages],
    ['/v3/scheduled-messages?limit=1000', LONG_TEXTS, (body: Json) => body.data],
    [`/sim/phones/${ADA}/inbox?limit=1000`, LONG_TEXTS, (body: Json) => body.data],
    [`/sim/phones/${ADA}/inbox?limit=1000&newest=true&wait=0`, LONG_TEXTS, (body: Json) => body.data],
  ])('%s reads no further than its reader, and is whole', async (path, total, rowsOf) => {
    const counted = countRows()
    try {
      const sockets = new Set<{ writableNeedDrain: boolean }>()
      world.app.server.server.once('connection', (socket) => sockets.add(socket))
      const answer = await begin(path)
      await eventually(async () => [...sockets].some((one) => one.writableNeedDrain), Boolean)
      for (let i = 0; i < 100; i++) await (await fetch(`${world.app.url()}/livez`)).text()
      // The buffers of both sockets take some.
      expect(counted.rows).toBeLessThan(total / 2)
      const rows = rowsOf(await json(answer))
      expect(counted.rows).toBe(total)
      expect(rows).toHaveLength(total)
      for (const row of rows)
        if (row.contact_id) expect(row.custom_variables).toEqual(VARIABLES)
        else expect(row.content).toBe(LONG_TEXT)
    } finally {
      counted.end()
    }
  })

  it('the page of messages says how many it has, and whether there are more', async () => {
    const { body } = await world.get('/api/v2/messages?limit=700&offset=200')
    expect(body.pagination).toEqual({ hasMore: true, limit: 700, offset: 200, total: LONG_TEXTS })
    const rest = (await world.get('/api/v2/messages?limit=700&offset=900')).body
    expect(rest.pagination).toEqual({ hasMore: false, limit: 100, offset: 900, total: LONG_TEXTS })
    const handles = new Set([...body.data, ...rest.data].map((one: Json) => one.message_handle))
    expect(handles.size).toBe(800)
  })

  it.each([
    '/api/v2/contacts?limit=1000',
    '/api/v2/messages?limit=1000',
    `/sim/phones/${ADA}/inbox?limit=1000`,
    '/v3/scheduled-messages?limit=1000',
    '/v3/search?q=y&limit=200',
  ])('%s blocks nobody', async (path) => {
    const read = async () => {
      let bytes = 0
      for await (const piece of await begin(path)) bytes += piece.length
      return bytes
    }
    await read()
    const { ms, result } = await longestBlock(read, MAX_BLOCK_MS)
    expect(result).toBeGreaterThan(3_000_000)
    expect(ms).toBeLessThan(MAX_BLOCK_MS)
  })
})
