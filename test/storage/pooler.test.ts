import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { topics } from '../../src/core/topics.js'
import { openStorage } from '../../src/storage/engine/open.js'
import { createDatabase, type Database } from '../support/database.js'
import { HAS_PGBOUNCER, startPgbouncer } from '../support/database-faults/pgbouncer.js'
import { takeDump } from '../support/database-faults/restored.js'
import { startTcpProxy } from '../support/database-faults/tcp-proxy.js'
import { createPuppet } from '../support/puppet.js'
import { ADA, createWorld, ENGINES, LINE, type World } from '../support/world.js'

const toClose: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close()
})

async function database(): Promise<Database> {
  const made = await createDatabase()
  toClose.push(made.release)
  return made
}

async function worldBehind(url: string, direct: string): Promise<World> {
  const env = { DATABASE_URL: url, TRUNKLINE_DATABASE_DIRECT_URL: direct }
  const world = await createWorld('postgres', { env })
  toClose.push(world.close)
  return world
}

/** Sends of all kinds, receipts, an answer, a list and a webhook's configuration. */
async function useAll(world: World) {
  const send = (i: number) =>
    world.post(
      '/api/send-message',
      { from_number: LINE, number: ADA, content: `text ${i}` },
      'live',
      i % 3 === 0 ? { 'idempotency-key': `key-${i}` } : i % 3 === 1 ? { 'x-stainless-retry-count': '1' } : {},
    )
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => send(i)))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 202))
  await world.advance(60_000)
  await world.text(ADA, 'an answer')
  await world.advance(60_000)
  expect(await world.inbox(ADA)).toHaveLength(30)
  expect(await world.arrived(LINE, ADA)).toHaveLength(1)
  expect((await world.get('/api/v2/messages?limit=5')).body.pagination.total).toBe(31)
  expect((await world.get('/readyz', null)).status).toBe(200)
}

/** The texts of statements, and names of prepared ones, in the bytes that a client sends. */
function reader() {
  const buffers = new Map<Socket, Buffer>()
  const found = { statements: 0, state: [] as string[] }
  const SESSION = /^\s*(set (?!local)|listen|unlisten|prepare|deallocate|discard|create temp|declare)/i
  function note(text: string, name = '') {
    found.statements++
    const parts = text.split(';')
    const holds = /pg_(try_)?advisory_lock|set_config\([^)]*false\)/.test(text)
    if (name !== '' || holds || parts.some((part) => SESSION.test(part)))
      found.state.push(name === '' ? text : `${name}: ${text}`)
  }
  return {
    found,
    take(from: Socket, bytes: Buffer) {
      let rest = Buffer.concat([buffers.get(from) ?? Buffer.alloc(0), bytes])
      // The first message of a connection has no type.
      if (!buffers.has(from)) rest = rest.subarray(rest.readInt32BE(0))
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const end = rest.readInt32BE(1) + 1
        const [first = '', second = ''] = rest.toString('utf8', 5, end).split('\0')
        if (rest[0] === 81 /* Q */) note(first)
        if (rest[0] === 80 /* P */) note(second, first)
        rest = rest.subarray(end)
      }
      buffers.set(from, rest)
    },
  }
}

describe.runIf(ENGINES.includes('postgres'))('a pooler in front of PostgreSQL', () => {
  it('sees no session state: no named statement, SET, LISTEN or session lock', async () => {
    const { url } = await database()
    const proxy = await startTcpProxy(url)
    toClose.push(proxy.close)
    const { found, take } = reader()
    proxy.onBytes = take
    await useAll(await worldBehind(proxy.url, url))
    expect(found.state).toEqual([])
    expect(found.statements).toBeGreaterThan(100)
  })

  if (!HAS_PGBOUNCER) console.warn('pgbouncer is not installed: its tests are skipped')

  it.runIf(HAS_PGBOUNCER)('works as pgbouncer in transaction mode', async () => {
    const { url } = await database()
    const bouncer = await startPgbouncer(url)
    toClose.push(bouncer.stop)
    await useAll(await worldBehind(bouncer.url, url))
  })

  it.runIf(HAS_PGBOUNCER)('without the direct URL is refused with words', async () => {
    const { url } = await database()
    const bouncer = await startPgbouncer(url)
    toClose.push(bouncer.stop)
    const settings = { databaseUrl: bouncer.url, data: '', failpoint: null }
    await expect(openStorage(settings, { now: 0 })).rejects.toThrow(
      /pgbouncer.*TRUNKLINE_DATABASE_DIRECT_URL/,
    )
  })
})

describe.runIf(ENGINES.includes('postgres'))('a start without its database', () => {
  const start = (databaseUrl: string) => openStorage({ databaseUrl, data: '', failpoint: null }, { now: 0 })

  it('gives the words of the database, or of the network', async () => {
    const wrong = new URL((await database()).url)
    wrong.pathname = '/no_such_database'
    await expect(start(wrong.href)).rejects.toThrow(/database "no_such_database" does not exist/)
    await expect(start('postgres://trunkline@127.0.0.1:1/none')).rejects.toThrow(/ECONNREFUSED/)
    await expect(start('postgres://trunkline@no-such-host.invalid/none')).rejects.toThrow(/no-such-host/)
  })
})

describe.runIf(ENGINES.includes('postgres') && HAS_PGBOUNCER)(
  'pgbouncer that leads to a restored database while the server runs',
  () => {
    it('sends nothing twice, although no connection to the pooler was lost', async () => {
      const puppet = createPuppet()
      const { url } = await database()
      const bouncer = await startPgbouncer(url)
      toClose.push(bouncer.stop)
      const env = { DATABASE_URL: bouncer.url, TRUNKLINE_DATABASE_DIRECT_URL: url }
      const world = await createWorld('postgres', { env, drivers: [puppet] })
      toClose.push(world.close)
      const [account] = (await world.get('/admin/accounts', 'admin')).body.data
      const own = '+12025550188'
      const line = { account_id: account.id, number: own, driver: 'puppet', pace: 1 }
      expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
      for (const content of ['one', 'two', 'three', 'four']) await world.send({ from_number: own, content })
      await world.advance(300)
      const restore = await takeDump(url)
      await world.advance(60_000)
      expect(puppet.sent.map(({ content }) => content)).toEqual(['one', 'two', 'three', 'four'])

      await restore()
      await world.send({ from_number: own, content: 'new' })
      // Before any work: a sweep of the queue would find three messages again.
      expect(world.app.ctx.db.incarnations).toHaveLength(2)
      world.app.ctx.wakes.wake(topics.nodes)
      await world.advance(60_000)
      expect(puppet.sent.slice(4).map(({ content }) => content)).toEqual(['new'])
      expect((await world.get('/admin/recovery', 'admin')).body).toMatchObject({
        incarnation: 2,
        messages: 3,
      })
    }, 60_000)
  },
)
