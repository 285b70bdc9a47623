import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BOB,
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
const OTHER_LINE = '+12025550152'
const NO_LINE = '+12025550159'

describe.each(ENGINES)('call forwarding on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let accountId: string
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    accountId = (await world.get('/admin/accounts', 'admin')).body.data.find(
      (one: Json) => one.id !== b.id,
    ).id
    await world.post('/admin/lines', { account_id: accountId, number: OTHER_LINE }, 'admin')
    await world.settle()
  })
  afterAll(() => world.close())

  const path = (line: string) => `/api/lines/${line}/call-forwarding`
  const read = (line: string = LINE, as: Who = 'live') => world.get(path(line), as)
  const put = (number: unknown, line: string = LINE, as: Who = 'live') =>
    world.call('PUT', path(line), { as, body: { forwarding_number: number } })
  const clear = (line: string = LINE, as: Who = 'live') => world.call('DELETE', path(line), { as })
  const record = (forwarding_number: string | null, line = LINE as string) => ({
    status: 200,
    body: { forwarding_number, sendblue_number: line },
  })

  it('is set, read and cleared; clearing what is not set returns 200 with forwarding_number null', async () => {
    expect(await read()).toMatchObject(record(null))
    expect(await put(BOB)).toMatchObject(record(BOB))
    expect(await read()).toMatchObject(record(BOB))
    expect(await read(OTHER_LINE)).toMatchObject(record(null, OTHER_LINE))
    expect(await clear()).toMatchObject(record(null))
    expect(await clear()).toMatchObject(record(null))
    expect(await read()).toMatchObject(record(null))
  })

  it.each([
    ['+12025550102', BOB],
    ['2025550102', BOB],
    ['(202) 555-0102', BOB],
    ['202-555-0102', BOB],
    ['1 202 555 0102', BOB],
    ['+1(202)555-0102', BOB],
    ['+44 20 7946 0018', '+442079460018'],
  ])('accepts %j, E.164 or US local, and keeps it in E.164', async (given, kept) => {
    expect(await put(given)).toMatchObject(record(kept))
    expect(await read()).toMatchObject(record(kept))
  })

  it.each([
    ['', 'must not be empty'],
    ['   ', 'must not be empty'],
    ['911', 'emergency'],
    ['112', 'emergency'],
    ['999', 'emergency'],
    ['+1911', 'emergency'],
    ['+1 (911) 555-0100', 'emergency'],
    ['9115550100', 'emergency'],
    ['555-0102', 'must be a phone number'],
    ['not a number', 'must be a phone number'],
    ['+120255', 'must be a phone number'],
    ['+12025550102 ext. 5', 'must be a phone number'],
    ['+12025550102,+12025550103', 'must be a phone number'],
    ['sip:bob@example.com', 'must be a phone number'],
    ['+0123456789', 'must be a phone number'],
    [LINE, 'must not be a line of this account'],
    ['(202) 555-0100', 'must not be a line of this account'],
    [OTHER_LINE, 'must not be a line of this account'],
    [SHARED_LINE, 'must not be a line of this account'],
    [42, 'must be string'],
    [true, 'must be string'],
    [['+12025550102'], 'must be string'],
    [{}, 'must be string'],
    [null, 'missing required parameter: forwarding_number'],
    [undefined, 'missing required parameter: forwarding_number'],
  ])('refuses %j: %s', async (given, words) => {
    await put(BOB)
    const reply = await put(given)
    expect([reply.status, reply.body]).toEqual([
      400,
      { status: 'ERROR', message: expect.stringContaining(words) },
    ])
    expect(reply.body.message).toContain('forwarding_number')
    expect(await read()).toMatchObject(record(BOB))
  })

  it('refuses bodies that are none', async () => {
    for (const payload of ['', 'null', '[]', '"x"', '{', '{"forwarding_number":"\\u0000"}']) {
      const response = await world.app.server.inject({
        method: 'PUT',
        url: path(LINE),
        headers: {
          'sb-api-key-id': 'dev-live-key',
          'sb-api-secret-key': 'dev-live-secret',
          'content-type': 'application/json',
        },
        payload,
      })
      expect([payload, response.statusCode]).toEqual([payload, 400])
    }
  })

  it.each(['+12025550100', '%2B12025550100', ' 12025550100', '%2012025550100', '+1%20202%20555-0100'])(
    'finds the line %j in the path',
    async (written) => {
      expect(await read(written.replace(' ', '%20'))).toMatchObject({
        status: 200,
        body: { sendblue_number: LINE },
      })
    },
  )

  it.each(['x', '*', "'", '100', '%25', '+1202555010000000000', `${'1'.repeat(400)}`])(
    'refuses the path %j',
    async (written) => {
      for (const reply of [await read(written), await put(BOB, written), await clear(written)])
        expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
    },
  )

  it('applies to dedicated lines', async () => {
    for (const reply of [await read(SHARED_LINE), await put(BOB, SHARED_LINE), await clear(SHARED_LINE)])
      expect([reply.status, reply.body.message]).toEqual([
        400,
        'sendblue_number: this is a shared line; only dedicated lines forward calls',
      ])
  })

  it("another account's line answers exactly as an absent one, and as a number like any other", async () => {
    await put('+12025550177', B_LINE, b.live)
    const same = async (ask: (line: string) => Promise<Reply>) => {
      const [foreign, absent] = [await ask(B_LINE), await ask(NO_LINE)]
      expect([foreign.status, JSON.stringify(foreign.body).replaceAll(B_LINE, NO_LINE)]).toEqual([
        absent.status,
        JSON.stringify(absent.body),
      ])
      return absent.status
    }
    expect(await same((line) => read(line))).toBe(404)
    expect(await same((line) => put(BOB, line))).toBe(404)
    expect(await same((line) => put('nonsense', line))).toBe(404)
    expect(await same((line) => clear(line))).toBe(404)
    expect(await same((line) => put(line))).toBe(200)
    expect(await read(B_LINE, b.live)).toMatchObject(record('+12025550177', B_LINE))
  })

  it('the test world has a number of its own', async () => {
    await put(BOB)
    await put('+12025550178', LINE, 'test')
    expect(await read()).toMatchObject(record(BOB))
    expect(await read(LINE, 'test')).toMatchObject(record('+12025550178'))
    expect((await read(B_LINE, 'test')).status).toBe(404)
  })

  it('without keys nothing, with an admin key every live line', async () => {
    for (const reply of [await read(LINE, null), await put(BOB, LINE, null), await clear(LINE, null)])
      expect(reply.status).toBe(401)
    expect(await put(BOB, B_LINE, 'admin')).toMatchObject(record(BOB, B_LINE))
    expect(await read(B_LINE, b.live)).toMatchObject(record(BOB, B_LINE))
    expect((await put(B_LINE, B_LINE, 'admin')).status).toBe(400)
    expect((await read(NO_LINE, 'admin')).status).toBe(404)
  })

  it('a token confined to a line is kept to it, and one without lines may do all', async () => {
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    const [wide, token] = [await mint({}), await mint({ phone_numbers: [LINE, SHARED_LINE] })]
    expect(await put(BOB, OTHER_LINE, wide)).toMatchObject(record(BOB, OTHER_LINE))
    expect(await put('+12025550179', LINE, token)).toMatchObject(record('+12025550179'))
    expect(await read(LINE, token)).toMatchObject(record('+12025550179'))
    expect(await clear(LINE, token)).toMatchObject(record(null))
    expect((await put(BOB, SHARED_LINE, token)).status).toBe(400)
    // The account's other line, another account's, and none at all are the same to it.
    for (const line of [OTHER_LINE, B_LINE, NO_LINE]) {
      for (const reply of [
        await read(line, token),
        await put('+12025550179', line, token),
        await clear(line, token),
      ])
        expect([reply.status, reply.body]).toEqual([
          403,
          { status: 'ERROR', message: `This token is confined to other lines than ${line}` },
        ])
    }
    expect(await read(OTHER_LINE)).toMatchObject(record(BOB, OTHER_LINE))
  })

  it('of many changes at once one is kept, whole', async () => {
    const numbers = Array.from({ length: 10 }, (_, i) => `+1202555018${i}`)
    const replies = await Promise.all(numbers.map((number) => put(number)))
    expect(replies.every((reply) => reply.status === 200)).toBe(true)
    expect(numbers).toContain((await read()).body.forwarding_number)
  })

  it('changing it does not disturb the line', async () => {
    const epochs = () => world.app.ctx.db.all('select line_id, epoch from line_leases order by line_id')
    const driven = world.app.ctx.lines.all()
    const before = await epochs()
    await put(BOB)
    await world.settle()
    expect(await epochs()).toEqual(before)
    expect(world.app.ctx.lines.all()).toEqual(driven)
  })

  it('an operator assigns seats and defaults under the same rules', async () => {
    const patch = (where: string, body: object) => world.call('PATCH', where, { as: 'admin', body })
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const idOf = (number: string) =>
      lines.find((line: Json) => line.number === number && line.world === 'live').id
    const seat = (await world.post('/admin/seats', { account_id: b.id, email: 's@example.com' }, 'admin'))
      .body
    const refused = async (reply: Reply, words: string, status = 400) =>
      expect([reply.status, reply.body.error?.message]).toEqual([status, expect.stringContaining(words)])

    await refused(await patch(`/admin/lines/${idOf(LINE)}`, { seat_id: seat.id }), 'seat_id: no such seat')
    await refused(await patch(`/admin/lines/${idOf(LINE)}`, { seat_id: 'none' }), 'seat_id: no such seat')
    await refused(
      await patch(`/admin/lines/${idOf(SHARED_LINE)}`, { seat_id: seat.id }),
      'only a dedicated line',
    )
    await refused(await patch(`/admin/seats/${seat.id}`, { forwarding_number: '911' }), 'emergency')
    await refused(await patch(`/admin/seats/${seat.id}`, { forwarding_number: B_LINE }), 'must not be a line')
    await refused(await patch('/admin/seats/none', { forwarding_number: BOB }), 'There is no seat none', 404)
    await refused(
      await patch(`/admin/accounts/${b.id}`, { default_forwarding_number: B_LINE }),
      'default_forwarding_number: must not be a line',
    )
    await refused(
      await patch(`/admin/accounts/${b.id}`, { default_forwarding_number: '' }),
      'default_forwarding_number: must not be empty',
    )
    await refused(await patch('/admin/accounts/none', { default_forwarding_number: BOB }), 'no account', 404)
    await refused(
      await world.post(
        '/admin/seats',
        { account_id: b.id, email: 't@example.com', forwarding_number: B_LINE },
        'admin',
      ),
      'must not be a line',
    )
    expect((await patch(`/admin/accounts/${b.id}`, {})).body).toMatchObject({
      default_forwarding_number: null,
    })
    expect((await patch(`/admin/seats/${seat.id}`, {})).body).toMatchObject({ forwarding_number: null })
    for (const where of [`/admin/accounts/${b.id}`, `/admin/seats/${seat.id}`])
      for (const as of ['live', 'test', b.live] as Who[])
        expect((await world.call('PATCH', where, { as, body: {} })).status).toBe(403)
  })
})
