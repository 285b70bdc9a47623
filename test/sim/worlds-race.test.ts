import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const ROUNDS = 100
const AT_ONCE = 10
/** Fewer: each round has twelve requests that race. */
const ADMIN_ROUNDS = 30

describe.each(ENGINES)('what is under way in a world on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    // A machine that stands still for seconds takes no lease away: a lost one would be a warning.
    world = await createWorld(engine, { env: { TRUNKLINE_LEASE_MS: '600000' } })
    world.logs.length = 0
    sink = await createSink()
  })
  afterAll(async () => {
    await sink.close()
    await world.close()
  })

  /** The number of rows of every table, but for those about processes. */
  async function counts(): Promise<Record<string, number>> {
    await world.settle()
    const { db } = world.app.ctx
    const tables =
      engine === 'sqlite'
        ? await db.all<{ name: string }>("select name from sqlite_master where type = 'table'")
        : await db.all<{ name: string }>(
            "select tablename as name from pg_tables where schemaname = 'public'",
          )
    const kept = tables.filter(
      ({ name }) => !['nodes', 'sqlite_sequence', 'audit_log', 'requests'].includes(name),
    )
    // A total of nothing is as good as none.
    const counted = (name: string) => (name === 'account_totals' ? `${name} where n <> 0` : name)
    const rows = await db.all<{ name: string; n: number }>(
      kept
        .map(({ name }) => `select '${name}' as name, count(*) as n from ${counted(name)}`)
        .join(' union all '),
    )
    return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
  }

  /** Requests at once, of other kinds in each round. Each answers its status. */
  function busy(as: Who, round: number): Promise<number>[] {
    const ask = async (method: string, path: string, body: Json) =>
      (await world.call(method, path, { as, body })).status
    const numbers = ['+12025558001', '+12025558002']
    const media = { name: 'a.txt', base64: Buffer.from('Hello').toString('base64') }
    const text = { to: LINE, content: 'Hi' }
    const kinds = [
      [
        () => ask('POST', '/api/send-group-message', { from_number: LINE, numbers, content: 'G' }),
        () => ask('POST', `/sim/phones/${BOB}/calls`, { to: LINE }),
        () => ask('PATCH', `/sim/phones/${BOB}`, { name: 'Robert' }),
        () => ask('POST', '/api/v2/contacts', { number: '+12025557002', custom_variables: { a: 'b' } }),
      ],
      [
        () => ask('POST', `/sim/phones/${ADA}/messages`, { ...text, media }),
        () => ask('PUT', `/sim/phones/${ADA}/location`, { to: LINE, latitude: 1, longitude: 2 }),
        () => ask('PUT', '/sim/faults/receipt-late', {}),
        () => ask('POST', '/api/v2/totp/secrets', { label: 'mail' }),
      ],
      [
        () => ask('POST', `/sim/phones/${ADA}/typing`, { to: LINE, typing: true }),
        () => ask('POST', '/api/send-typing-indicator', { from_number: LINE, number: ADA }),
        () => ask('POST', '/api/v2/verify/services', { friendly_name: 'Shop' }),
        () => ask('PUT', '/api/account/webhooks', { webhooks: { outbound: [`${sink.url}/other`] } }),
      ],
    ]
    return [
      ...[ADA, ...numbers].map((number) =>
        ask('POST', '/api/send-message', { from_number: LINE, number, content: 'Hello' }),
      ),
      ask('POST', `/sim/phones/${BOB}/messages`, text),
      ...kinds[round % 3]!.map((start) => start()),
    ]
  }
  const listen = (as: Who) =>
    world.call('PUT', '/api/account/webhooks', {
      as,
      body: { webhooks: { outbound: [`${sink.url}/out`], receive: [`${sink.url}/in`] } },
    })
  const turns = async (n: number) => {
    for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  const logged = () => world.logs.filter((line) => /^{"level":"(warn|error)"/.test(line))
  const rounds = Array.from({ length: ROUNDS }, (_, round) => round)
  const make = async () => (await world.post('/sim/worlds', {}, 'admin')).body
  /** Fills a world, and leaves it in the middle of that. */
  async function start(as: Who, round: number): Promise<Promise<number>[]> {
    await listen(as)
    await world.setPhone(ADA, { auto_reply: 'I am away' }, as)
    const answers = busy(as, round)
    await turns((round * 7) % 60)
    if (round % 5 === 0) await Promise.all(answers)
    return answers
  }

  it('leaves nothing behind when the world is removed', async () => {
    const before = await counts()
    for (let done = 0; done < ROUNDS; done += AT_ONCE) {
      const remove = async (round: number) => {
        const { id, keys } = await make()
        const answers = await start(keys.live, round)
        if (round % 10 === 0) await world.app.advance(160)
        const { status } = await world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })
        return [status, ...(await Promise.all(answers)).filter((answer) => answer >= 500)]
      }
      const ends = await Promise.all(rounds.slice(done, done + AT_ONCE).map(remove))
      expect([ends, logged()]).toEqual([ends.map(() => [204]), []])
      expect([done, await counts()]).toEqual([done, before])
    }
    await world.advance(86_400_000)
    expect([await counts(), logged()]).toEqual([before, []])
  })

  it('leaves nothing behind of what an administrator adds during the removal', {
    timeout: 120_000,
  }, async () => {
    const before = await counts()
    const add = async (kind: string, body: Json) => {
      const { status } = await world.post(`/admin/${kind}`, body, 'admin')
      return status === 201 ? 404 : status
    }
    for (let done = 0; done < ADMIN_ROUNDS; done += AT_ONCE) {
      const remove = async (round: number) => {
        const { id } = await make()
        const adding = Array.from({ length: 4 }, async (_, i) => {
          await turns(((round + i) * 7) % 40)
          return Promise.all([
            add('keys', { account_id: id, kind: 'test' }),
            add('lines', { account_id: id, number: `+1202555900${i}`, kind: i % 2 ? 'shared' : 'dedicated' }),
            add('seats', { account_id: id, email: `${i}@example.com` }),
          ])
        })
        const { status } = await world.call('DELETE', `/sim/worlds/${id}`, { as: 'admin' })
        return [status, ...(await Promise.all(adding)).flat()]
      }
      const ends = await Promise.all(rounds.slice(done, done + AT_ONCE).map(remove))
      expect([ends, logged()]).toEqual([ends.map(() => [204, ...Array(12).fill(404)]), []])
      // The answers to the administrator's requests are not the world's.
      await world.app.ctx.db.run("delete from replays where account_id = '#admin'")
      expect([done, await counts()]).toEqual([done, { ...before, replays: 0 }])
    }
  })

  it('leaves nothing behind when the world is reset', async () => {
    const worlds = await Promise.all(Array.from({ length: AT_ONCE }, make))
    const reset = async (as: Who) => (await world.post('/sim/reset', {}, as)).status
    for (const { keys } of worlds) {
      await listen(keys.live)
      await reset(keys.live)
    }
    const before = await counts()
    for (let done = 0; done < ROUNDS; done += AT_ONCE) {
      const ends = await Promise.all(
        worlds.map(async ({ keys }, i) => {
          await Promise.all(await start(keys.live, done + i))
          await turns(done + i)
          return reset(keys.live)
        }),
      )
      expect([ends, logged()]).toEqual([ends.map(() => 200), []])
      expect([done, await counts()]).toEqual([done, before])
    }
    await world.advance(86_400_000)
    expect([await counts(), logged()]).toEqual([before, []])
  })
})
