import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { deleteAccount } from '../../src/services/accounts/accounts.js'
import { tablesOf } from '../support/dump.js'
import { populate } from '../support/populate.js'
import { createSink, type Sink } from '../support/web/sink.js'
import {
  ADA,
  BOB,
  createWorld,
  credentials,
  ENGINES,
  EVE,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

/** Tables in which a process writes about itself. */
const OF_PROCESSES = new Set([
  'nodes',
  'line_leases',
  'webhook_shards',
  'sqlite_sequence',
  'high_water',
  // Written in the background, and kept for days.
  'requests',
  // The audit log outlives the worlds it is about.
  'audit_log',
  'audit_ends',
])

describe.each(ENGINES)('worlds on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
  })
  afterEach(async () => {
    for (const id of await ids('admin')) await remove(id, 'admin')
  })
  afterAll(async () => {
    await sink.close()
    await world.close()
  })

  const make = async (as: Who = 'test', body: Json = {}) => {
    const reply = await world.post('/sim/worlds', body, as)
    expect([reply.status, reply.body]).toEqual([201, reply.body])
    return reply.body
  }
  const remove = (id: string, as: Who = 'test') => world.call('DELETE', `/sim/worlds/${id}`, { as })
  const ids = async (as: Who = 'test') =>
    (await world.get('/sim/worlds', as)).body.data.map(({ id }: Json) => id)
  const contents = async (as: Who) =>
    (await world.get('/api/v2/messages', as)).body.data.map(({ content }: Json) => content)
  const stored = async () => {
    await world.settle()
    const tables = [...(await tablesOf(world.app))].filter(([name]) => !OF_PROCESSES.has(name))
    // Stored answers to an operator's requests belong to the operator.
    return new Map(tables.map(([name, rows]) => [name, rows.filter((row) => !row.includes('"#admin"'))]))
  }

  it('has keys of its own, and the lines and phones of the default world under the same numbers', async () => {
    const { id, keys, ...made } = await make('test', { name: 'Worker 1' })
    expect(made).toEqual({
      name: 'Worker 1',
      created_at: '2026-03-01T12:00:00.000Z',
      lines: [LINE, SHARED_LINE],
      phones: (await world.get('/sim/phones')).body.data.map(({ number }: Json) => number),
    })
    for (const as of [keys.live, keys.test]) {
      expect((await world.get('/sim/phones', as)).body).toEqual((await world.get('/sim/phones')).body)
      expect((await world.get('/api/lines', as)).body.numbers).toEqual([LINE, SHARED_LINE])
      const sent = await world.send({ content: 'Hello' }, as)
      const refused = await world.send({ number: EVE }, as)
      await world.text(BOB, 'Back', {}, as)
      await world.advance(1000)
      expect(await world.status(sent.message_handle, as)).toMatchObject({ status: 'DELIVERED' })
      expect(await world.status(refused.message_handle, as)).toMatchObject({ status: 'ERROR' })
      expect(await contents(as)).toContain('Back')
    }
    await remove(id)
  })

  it('is seen by nobody else, and sees nobody else', async () => {
    const [one, two] = [await make(), await make()]
    const everybody: Who[] = ['live', 'test', one.keys.live, one.keys.test, two.keys.live, two.keys.test]
    const before = await Promise.all(everybody.map(contents))
    for (const [i, as] of everybody.entries()) {
      await world.call('PUT', '/api/account/webhooks', {
        as,
        body: { webhooks: { outbound: [`${sink.url}/${engine}-${i}`] } },
      })
      await world.send({ content: `From ${i}` }, as)
      await world.text(ADA, `To ${i}`, {}, as)
    }
    await world.advance(1000)
    for (const [i, as] of everybody.entries()) {
      const all = await contents(as)
      expect(all.slice(0, -before[i]!.length || undefined).sort()).toEqual([`From ${i}`, `To ${i}`])
      const shown = (await world.inbox(ADA, as)).map(({ content }) => content)
      expect(shown.filter((text: string) => text.startsWith('From'))).toEqual([`From ${i}`])
      const posts = sink.received.filter(({ path }) => path === `/${engine}-${i}`)
      expect([...new Set(posts.map(({ body }) => body.content))]).toEqual([`From ${i}`])
    }
    const handle = (await world.send({}, one.keys.live)).message_handle
    expect((await world.get(`/api/status?handle=${handle}`, two.keys.live)).status).toBe(404)
    await Promise.all([remove(one.id), remove(two.id)])
    for (const as of ['live', 'test'] as const) await world.post('/sim/reset', {}, as)
  })

  it('is removed with everything that happened in it', async () => {
    const before = await stored()
    const { id, keys } = await make()
    await populate(world, LINE, sink.url, keys.live)
    await world.send({}, keys.test)
    await world.text(ADA, 'Hi', {}, keys.test)
    const media = { name: 'a.txt', base64: Buffer.from('Hello').toString('base64') }
    await world.text(ADA, 'With a file', { media }, keys.live)
    await world.advance(1000)
    await world.post('/v3/auth/tokens', {}, keys.live)
    await world.post('/admin/seats', { account_id: id, email: 'seat@example.com' }, 'admin')
    await world.call('POST', '/console/session', {
      as: null,
      body: { key_id: keys.live.id, secret: keys.live.secret },
    })
    const during = await stored()
    const grown = [...during].filter(([name, rows]) => rows.length > before.get(name)!.length)
    // The test is worth something only as long as it fills these.
    expect(grown.length).toBeGreaterThan(35)
    expect((await remove(id)).status).toBe(204)
    expect(await stored()).toEqual(before)
    await world.advance(30 * 86_400_000)
    expect(await stored()).toEqual(before)
    expect((await world.get('/api/lines', keys.live)).status).toBe(401)
    expect((await world.post('/api/send-message', {}, keys.test)).status).toBe(401)
    expect((await remove(id)).status).toBe(404)
  })

  it('begins anew like the default world', async () => {
    const { id, keys } = await make()
    await world.setPhone(BOB, { imessage: true, name: 'Robert' }, keys.live)
    await world.send({ number: '+12025557001' }, keys.live)
    await world.advance(1000)
    expect((await world.post('/sim/reset', {}, keys.live)).status).toBe(200)
    expect((await world.get('/sim/phones', keys.live)).body).toEqual((await world.get('/sim/phones')).body)
    expect(await contents(keys.live)).toEqual([])
    await remove(id)
  })

  it('belongs to the account that made it; an admin key sees and removes all', async () => {
    const b = await world.addAccount('b@example.com', '+12025550150')
    const [own, other, admins] = [await make('test'), await make(b.test), await make('admin')]
    expect(await ids('test')).toEqual([own.id])
    expect(await ids('live')).toEqual([own.id])
    expect(await ids(b.live)).toEqual([other.id])
    expect((await ids('admin')).sort()).toEqual([own.id, other.id, admins.id].sort())
    for (const id of [other.id, admins.id, 'none']) {
      const reply = await remove(id, 'test')
      expect([reply.status, reply.body.error.message]).toEqual([
        404,
        `There is no world ${id}. GET /sim/worlds lists them.`,
      ])
    }
    const { token } = (await world.post('/v3/auth/tokens', {})).body
    for (const as of [own.keys.live, own.keys.test, { token }])
      for (const [method, path] of [
        ['POST', '/sim/worlds'],
        ['GET', '/sim/worlds'],
        ['DELETE', `/sim/worlds/${own.id}`],
      ] as const)
        expect((await world.call(method, path, { as })).status).toBe(403)
    expect((await world.get('/sim/worlds', null)).status).toBe(401)
    for (const path of ['accounts', 'lines', 'keys'])
      expect(JSON.stringify((await world.get(`/admin/${path}`, 'admin')).body)).not.toContain(own.id)
    const lines = (await world.get(`/admin/lines?account_id=${own.id}`, 'admin')).body.data
    expect(lines.map(({ number }: Json) => number).sort()).toEqual([LINE, SHARED_LINE])
    expect((await remove(own.id, 'live')).status).toBe(204)
    expect((await remove(admins.id, 'admin')).status).toBe(204)
    // The worlds of an account go with it.
    expect((await world.call('DELETE', `/admin/accounts/${b.id}`, { as: 'admin' })).status).toBe(204)
    expect(await ids('admin')).toEqual([])
  })

  it('is removed if its account was removed and the process then ended before it removed the world', async () => {
    const account = (await world.post('/admin/accounts', { email: 'crash@example.com' }, 'admin')).body
    const key = await world.post('/admin/keys', { account_id: account.id, kind: 'test' }, 'admin')
    const { id, keys } = await make(key.body)
    const { id: other } = await make('admin')
    await world.send({ content: 'Hello' }, keys.live)
    await deleteAccount(world.app.ctx, account.id)
    expect((await ids('admin')).sort()).toEqual([id, other].sort())
    await world.advance(86_400_000)
    expect(await ids('admin')).toEqual([other])
    expect((await world.get('/api/v2/messages', keys.live)).status).toBe(401)
    const { rows } = (await world.app.ctx.db.one<{ rows: number }>(
      'select count(*) as rows from accounts where owner = $1',
      [account.id],
    ))!
    expect(rows).toBe(0)
  })

  it('an account has at most 50, however many are asked for at once', async () => {
    const { db } = world.app.ctx
    const { id } = (await db.one<{ id: string }>(
      "select id from accounts where world = 'live' and owner is null and removed_at is null",
    ))!
    for (let i = 0; i < 46; i++)
      await db.run(
        `insert into accounts (id, email, name, plan, world, twin_id, owner, created_at)
         values ($1, $1, '', '', 'live', '', $2, 0)`,
        [`filler-${i}`, id],
      )
    const replies = await Promise.all(Array.from({ length: 8 }, () => world.post('/sim/worlds', {}, 'test')))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 429, 429, 429, 429])
    const refused = await world.post('/sim/worlds', {}, 'live')
    expect([refused.status, refused.body.error.message]).toEqual([
      429,
      expect.stringMatching(/50 worlds.*DELETE \/sim\/worlds/),
    ])
    await make('admin')
    const [made] = replies.filter(({ status }) => status === 201)
    expect((await remove(made!.body.id)).status).toBe(204)
    await make('live')
    await db.run("delete from accounts where id like 'filler-%'")
  })

  it('bad input is refused by the name of its field', async () => {
    for (const name of ['', 5, null, 'x'.repeat(201)]) {
      const reply = await world.post('/sim/worlds', { name }, 'test')
      expect([name, reply.status, reply.body.error.message]).toEqual([
        name,
        400,
        expect.stringMatching(/^name/),
      ])
    }
    expect(await ids()).toEqual([])
  })

  it('a repeat under the same Idempotency-Key makes no second one and shows no secret again', async () => {
    const key = { 'idempotency-key': `world-${engine}` }
    const first = (await world.post('/sim/worlds', {}, 'test', key)).body
    const again = (await world.post('/sim/worlds', {}, 'test', key)).body
    expect(again).toEqual({
      ...first,
      keys: { live: { id: first.keys.live.id }, test: { id: first.keys.test.id } },
    })
    await remove(first.id)
    await world.post('/sim/reset', {}, 'test')
  })

  it('a request that outlives its world stores nothing', async () => {
    const before = await stored()
    const { id, keys } = await make()
    const boundary = 'x'
    const upload = request(`${world.app.url()}/api/upload-file`, {
      method: 'POST',
      headers: { ...credentials(keys.live), 'content-type': `multipart/form-data; boundary=${boundary}` },
    })
    const answered = new Promise<number>((resolve, reject) => {
      upload.on('response', (response) => resolve(response.resume().statusCode!)).on('error', reject)
    })
    await new Promise((done) =>
      upload.write(
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nHello`,
        done,
      ),
    )
    // The server has the beginning when it has written it down.
    await expect.poll(() => world.get('/livez', null)).toMatchObject({ status: 200 })
    expect((await remove(id)).status).toBe(204)
    upload.end(`\r\n--${boundary}--\r\n`)
    expect(await answered).toBe(401)
    expect(await stored()).toEqual(before)
  })
})
