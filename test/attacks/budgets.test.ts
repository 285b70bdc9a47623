import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUDGET_NAMES, BUDGETS } from '../../src/core/accounts/budgets.js'
import { HTTP_STATUS } from '../../src/core/errors.js'
import { formOf, upload } from '../media/support.js'
import { runCli } from '../support/cli.js'
import { ADA, createWorld, ENGINES, type Json, type Reply, type Who, type World } from '../support/world.js'

const HOUR = 3_600_000
const B_LINE = '+12025550150'

/** Found: no bound on uploads, contacts, schedules, bodies in flight and requests of an account. */
describe.each(ENGINES)('what an account may use, on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
  })
  afterAll(() => world.close())

  const set = async (budgets: Json) => {
    const reply = await world.call('PATCH', `/admin/accounts/${b.id}`, { as: 'admin', body: { budgets } })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  const usage = async (id = b.id): Promise<Record<string, Json>> => {
    const { data } = (await world.get(`/admin/accounts/${id}/usage`, 'admin')).body
    return Object.fromEntries(data.map((one: Json) => [one.name, one]))
  }
  const refused = (
    { status, body, headers }: Pick<Reply, 'status' | 'body' | 'headers'>,
    code: number,
    name: string,
  ) => {
    const text = body.error?.message ?? body.message
    expect([status, text]).toEqual([code, expect.stringContaining(`budget "${name}"`)])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
  const contact = (n: number, as: Who = b.live) =>
    world.post('/api/v2/contacts', { number: `+120255507${n}` }, as)
  const schedule = (as: Who = b.live) => {
    const send_at = new Date(world.app.ctx.clock.now() + HOUR).toISOString()
    return world.post(
      '/api/send-message',
      { from_number: B_LINE, number: ADA, content: 'later', send_at },
      as,
    )
  }

  it('requests a second: the neighbour has its own', async () => {
    await set({ requests: 1 })
    const before = performance.now()
    const replies = await Promise.all(Array.from({ length: 20 }, () => world.get('/api/lines', b.live)))
    const seconds = (performance.now() - before) / 1000
    const late = replies.filter(({ status }) => status === 429)
    expect(20 - late.length).toBeLessThanOrEqual(2 + seconds)
    refused(late[0]!, 429, 'requests')
    // Its test account shares the count.
    expect((await world.get('/api/lines', b.test)).status).toBe(429)
    expect((await world.get('/api/lines')).status).toBe(200)
    await set({ requests: null })
  })

  it('bytes of bodies that are being read, released with the answer', async () => {
    await set({ memory: 50_000 })
    const big = () =>
      world.post('/api/v2/contacts', { number: '+12025550799', first_name: 'x'.repeat(30_000) }, b.live)
    const replies = await Promise.all(Array.from({ length: 5 }, big))
    const late = replies.filter(({ status }) => status === 429)
    expect(late).toHaveLength(4)
    refused(late[0]!, 429, 'memory')
    expect((await usage()).memory).toMatchObject({ used: 0, limit: 50_000, set_by: 'account' })
    await set({ memory: null })
  })

  it('media in store: 413, and what was refused takes no room', async () => {
    await set({ media: 1000 })
    const put = (size: number) => upload(world, formOf(Buffer.alloc(size, 'a')), { as: b.live })
    expect((await put(600)).status).toBe(201)
    const late = await put(600)
    refused({ ...late, headers: Object.fromEntries(late.headers) }, 413, 'media')
    expect(late.headers.get('x-should-retry')).toBe('false')
    expect((await usage()).media.used).toBe(600)
    expect((await put(400)).status).toBe(201)
    await set({ media: null })
  })

  it('contacts: created and imported ones; people who write still reach the account', async () => {
    await set({ contacts: 2 })
    expect((await contact(11)).status).toBe(200)
    const rows = [12, 13].map((n) => ({ phone: `+120255507${n}` }))
    refused(await world.post('/api/v2/contacts/bulk', { contacts: rows }, b.live), 429, 'contacts')
    expect((await contact(12)).status).toBe(200)
    refused(await contact(13), 429, 'contacts')
    const again = { number: '+12025550712', first_name: 'Ada', update_if_exists: true }
    expect((await world.post('/api/v2/contacts', again, b.live)).status).toBe(200)
    await world.post('/sim/phones', { number: '+12025550777' }, b.live)
    await world.text('+12025550777', 'hello', { to: B_LINE }, b.live)
    await world.advance(10_000)
    expect((await world.get('/api/v2/messages', b.live)).body.data[0].content).toBe('hello')
    expect((await usage()).contacts.used).toBe(2)
    await set({ contacts: null })
  })

  it('webhooks of each type', async () => {
    await set({ webhooks: 1 })
    const add = (n: number) =>
      world.post(
        '/api/account/webhooks',
        { type: 'receive', webhooks: [`https://h.example.com/${n}`] },
        b.live,
      )
    expect((await add(1)).status).toBe(200)
    refused(await add(2), 429, 'webhooks')
    expect((await usage()).webhooks).toMatchObject({ used: 1, limit: 1 })
    await set({ webhooks: null })
  })

  it('scheduled messages, however many come at once; a canceled one makes room', async () => {
    await set({ scheduled: 2 })
    const replies = await Promise.all(Array.from({ length: 6 }, () => schedule()))
    const made = replies.filter(({ status }) => status === 202)
    expect(made).toHaveLength(2)
    refused(replies.find(({ status }) => status !== 202)!, 429, 'scheduled')
    const path = `/v3/scheduled-messages/${made[0]!.body.message_handle}`
    expect((await world.call('DELETE', path, { as: b.live })).status).toBe(200)
    expect((await schedule()).status).toBe(202)
    refused(await schedule(), 429, 'scheduled')
    expect((await usage()).scheduled.used).toBe(2)
    await world.advance(2 * HOUR)
    expect((await usage()).scheduled.used).toBe(0)
    await set({ scheduled: null })
  })

  it('limits come from the account, else its plan, else the default; a world has a tenth of its store', async () => {
    const plan = (budgets: Json) =>
      world.call('PATCH', '/admin/plans/dedicated', { as: 'admin', body: { budgets } })
    expect((await plan({ contacts: 70, worlds: 3 })).body).toEqual({
      name: 'dedicated',
      budgets: { contacts: 70, worlds: 3 },
    })
    expect((await usage()).contacts).toMatchObject({ limit: 70, set_by: 'plan' })
    await set({ contacts: 90 })
    expect((await usage()).contacts).toMatchObject({ limit: 90, set_by: 'account' })
    // The account sees its own use; `requests` counts the question itself.
    const own = (await world.get('/v3/usage', b.live)).body.data
    expect(own.find((one: Json) => one.name === 'contacts')).toEqual((await usage()).contacts)
    expect(own).toHaveLength(Object.keys(await usage()).length)
    const { id } = (await world.post('/sim/worlds', {}, b.test)).body
    expect((await usage(id)).contacts.limit).toBe(9)
    expect((await usage(id)).requests.limit).toBe((await usage()).requests.limit)
    expect((await usage()).worlds).toMatchObject({ used: 1, limit: 3 })
    await plan({ contacts: null, worlds: null })
    await set({ contacts: null })
    expect((await usage()).contacts).toMatchObject({ limit: 1_000_000, set_by: 'default' })
  })

  it('are set and shown by the command line', async () => {
    const cli = (...args: string[]) => runCli([...args, '--json'], { TRUNKLINE_URL: world.app.url() })
    const made = await cli('account', 'set', b.id, '--budget', 'contacts=7', '--budget', 'worlds=2')
    expect(JSON.parse(made.stdout).budgets).toEqual({ contacts: 7, worlds: 2 })
    const shown = JSON.parse((await cli('account', 'usage', b.id)).stdout)
    expect(shown.find((one: Json) => one.name === 'contacts')).toMatchObject({ limit: 7, set_by: 'account' })
    await cli('account', 'set', b.id, '--budget', 'contacts=none', '--budget', 'worlds=none')
    expect(await usage()).toMatchObject({ contacts: { set_by: 'default' }, worlds: { limit: 50 } })
    expect(JSON.parse((await cli('plan', 'set', 'free', '--budget', 'requests=50')).stdout)).toEqual({
      name: 'free',
      budgets: { requests: 50 },
    })
    expect((await cli('plan', 'list')).stdout).toContain('free')
    const wrong = await cli('account', 'set', b.id, '--budget', 'bananas=1')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('name=number or name=none')])
  })

  it('an unknown budget or a senseless limit is refused', async () => {
    for (const budgets of [{ bananas: 1 }, { contacts: -1 }, { contacts: 'many' }, { contacts: 1.5 }]) {
      const reply = await world.call('PATCH', `/admin/accounts/${b.id}`, { as: 'admin', body: { budgets } })
      expect(reply.status, JSON.stringify(budgets)).toBe(400)
    }
    expect((await world.get('/admin/accounts/nobody/usage', 'admin')).status).toBe(404)
  })
})

it('docs/budgets.md shows the table of budgets', () => {
  const page = readFileSync(new URL('../../docs/budgets.md', import.meta.url), 'utf8')
  for (const name of BUDGET_NAMES) {
    const { limit, unit, about, code, counted } = BUDGETS[name]
    const size = limit.toLocaleString('en-US')
    expect(page).toContain(
      `| \`${name}\` | ${size} | ${unit} | ${about} | ${code === null ? 'none' : HTTP_STATUS[code]} | ${counted} |`,
    )
  }
})
