import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  type Reply,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'
const NO_LINE = '+12025550159'
const NO_HANDLE = '00000000-0000-4000-8000-000000000000'

describe.each(ENGINES)('two accounts on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let bHandle: string
  let bInbound: string
  let bSeat: Json
  let aHandle: string
  let aTestHandle: string

  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const seat = { account_id: b.id, email: 'seat-canary@example.com', subject: 'subject-canary' }
    bSeat = (await world.post('/admin/seats', seat, 'admin')).body
    aHandle = (await world.send({ content: 'alpha-canary' })).message_handle
    aTestHandle = (await world.send({ content: 'alpha-test-canary' }, 'test')).message_handle
    bHandle = (await world.send({ from_number: B_LINE, content: 'beta-canary', seat_id: bSeat.id }, b.live))
      .message_handle
    await world.text(ADA, 'beta-inbound-canary', { to: B_LINE }, b.live)
    await world.advance(1000)
    bInbound = (await world.get('/api/v2/messages?is_outbound=false', b.live)).body.data[0].message_handle
  })
  afterAll(() => world.close())

  /** Both answers, with the value that was asked for taken out. */
  const compare = async (ask: (value: string) => Promise<Reply>, others: string, absent: string) => {
    const plain = async (value: string) => {
      const { status, body } = await ask(value)
      return { status, body: JSON.stringify(body).replaceAll(value, '<asked>') }
    }
    const answer = await plain(absent)
    expect(await plain(others)).toEqual(answer)
    return answer.status
  }

  it("another account's things answer as absent ones do", async () => {
    const send = (fields: Json) =>
      world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'x', ...fields })
    expect(await compare((from_number) => send({ from_number }), B_LINE, NO_LINE)).toBe(400)
    expect(await compare((seat_id) => send({ seat_id }), bSeat.id, NO_HANDLE)).toBe(400)
    expect(await compare((seat_id) => send({ seat_id }), bSeat.subject, 'nobody')).toBe(400)
    for (const handle of [bHandle, bInbound, aTestHandle]) {
      expect(await compare((value) => send({ reply_to: { message_handle: value } }), handle, NO_HANDLE)).toBe(
        400,
      )
      expect(await compare((value) => world.get(`/api/status?handle=${value}`), handle, NO_HANDLE)).toBe(404)
      expect(
        await compare((value) => world.get(`/api/status?message_handle=${value}`), handle, NO_HANDLE),
      ).toBe(404)
      expect(await compare((value) => world.get(`/api/v2/messages/${value}`), handle, NO_HANDLE)).toBe(404)
    }
    const text = (to: string) => world.post(`/sim/phones/${ADA}/messages`, { to, content: 'x' })
    expect(await compare(text, B_LINE, NO_LINE)).toBe(400)
  })

  it('filters by what belongs to another account find nothing', async () => {
    for (const filter of ['number', 'from_number', 'to_number', 'sendblue_number']) {
      const ask = (number: string) => world.get(`/api/v2/messages?${filter}=${encodeURIComponent(number)}`)
      expect(await compare(ask, B_LINE, NO_LINE)).toBe(200)
    }
    expect(
      await compare(
        (email) => world.get(`/api/v2/messages?account_email=${email}`),
        'b@example.com',
        'c@example.com',
      ),
    ).toBe(200)
  })

  it('nothing an account can read shows the other, in either direction', async () => {
    const read = async (as: Who) => {
      const paths = [
        '/api/v2/messages?limit=1000',
        '/sim/phones',
        `/sim/phones/${ADA}/inbox`,
        `/sim/phones/${BOB}/inbox`,
      ]
      return JSON.stringify(await Promise.all(paths.map(async (path) => (await world.get(path, as)).body)))
    }
    const canaries = {
      'alpha-canary': 'live',
      'alpha-test-canary': 'test',
      'beta-canary': 'b',
      'beta-inbound-canary': 'b',
    }
    const shown = {
      live: await read('live'),
      test: await read('test'),
      b: await read(b.live),
      bTest: await read(b.test),
    }
    for (const [canary, owner] of Object.entries(canaries)) {
      for (const [who, text] of Object.entries(shown))
        expect([who, canary, text.includes(canary)]).toEqual([who, canary, who === owner])
    }
    expect(shown.live).not.toMatch(
      new RegExp([bHandle, bInbound, aTestHandle, b.id, 'b@example.com', 'seat-canary'].join('|')),
    )
  })

  it("reading a phone does not read another account's messages", async () => {
    await world.send({ number: BOB, from_number: B_LINE }, b.live)
    await world.advance(1000)
    expect((await world.post(`/sim/phones/${BOB}/read`, undefined)).body).toEqual({ read: 0 })
    expect((await world.post(`/sim/phones/${BOB}/read`, undefined, b.live)).body).toEqual({ read: 1 })
  })

  it('what one account sends over a shared line, its other members do not see', async () => {
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
    const { message_handle } = await world.send(
      { from_number: SHARED_LINE, number: CLEO, content: 'shared-canary' },
      b.live,
    )
    await world.advance(1000)
    expect((await world.inbox(CLEO, b.live)).map((message) => message.content)).toEqual(['shared-canary'])
    expect(await world.inbox(CLEO)).toEqual([])
    expect((await world.get(`/api/v2/messages?sendblue_number=${SHARED_LINE}`)).body.pagination.total).toBe(0)
    expect((await world.get(`/api/status?handle=${message_handle}`)).status).toBe(404)
  })

  it('totals and pages count only the own', async () => {
    for (const [who, total] of [
      ['live', 1],
      ['test', 1],
      [b.test, 0],
    ] as const) {
      expect((await world.get('/api/v2/messages', who)).body.pagination.total).toBe(total)
    }
  })

  it('a test key works in a world of its own', async () => {
    expect((await world.get(`/api/status?handle=${aTestHandle}`, 'test')).status).toBe(200)
    expect(
      await compare((handle) => world.get(`/api/status?handle=${handle}`, 'test'), aHandle, NO_HANDLE),
    ).toBe(404)
    expect((await world.inbox(ADA, 'test')).map((message) => message.content)).toEqual(['alpha-test-canary'])
    await world.setPhone(ADA, { name: 'Only in the test world' }, 'test')
    expect((await world.get(`/sim/phones/${ADA}`)).body.name).toBe('Ada')
    expect((await world.get(`/sim/phones/${ADA}`, b.test)).body.name).toBe('Ada')
  })

  it('an admin sees all of it and filters by line or account', async () => {
    const contents = async (query: string) =>
      (await world.get(`/api/v2/messages?${query}`, 'admin')).body.data.map(
        (message: Json) => message.content,
      )
    const all = await contents('limit=1000')
    for (const canary of ['alpha-canary', 'alpha-test-canary', 'beta-canary', 'beta-inbound-canary'])
      expect(all).toContain(canary)
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const idOf = (number: string, world: string) =>
      lines.find((line: Json) => line.number === number && line.world === world).id
    expect(await contents(`worker_id=${idOf(LINE, 'live')}`)).toEqual(['alpha-canary'])
    expect(await contents(`worker_id=${idOf(SHARED_LINE, 'live')}`)).toEqual(['shared-canary'])
    expect(await contents(`worker_id=${idOf(B_LINE, 'live')}&is_outbound=false`)).toEqual([
      'beta-inbound-canary',
    ])
    expect(await contents('account_email=b@example.com&is_outbound=false')).toEqual(['beta-inbound-canary'])
    expect((await world.get(`/api/status?handle=${bHandle}`, 'admin')).body).toMatchObject({
      account_email: 'b@example.com',
    })
    expect((await world.get(`/api/v2/messages/${aTestHandle}`, 'admin')).status).toBe(200)
  })

  it('an admin key sends nothing, and no other key administers', async () => {
    expect(
      (await world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'x' }, 'admin'))
        .status,
    ).toBe(403)
    expect((await world.get('/sim/phones', 'admin')).status).toBe(403)
    const routes = ['accounts', 'keys', 'lines', 'seats'].flatMap((name) => [
      `GET /admin/${name}`,
      `POST /admin/${name}`,
      `GET /admin/${name}/x`,
      `DELETE /admin/${name}/x`,
    ])
    for (const route of [...routes, 'PATCH /admin/lines/x', 'POST /admin/lines/x/members']) {
      for (const as of ['live', 'test', b.live] as Who[]) {
        const [method, path] = route.split(' ') as [string, string]
        const reply = await world.call(method, path, {
          as,
          ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
        })
        expect([route, reply.status, reply.body.error?.code]).toEqual([route, 403, 'forbidden'])
      }
    }
  })
})
