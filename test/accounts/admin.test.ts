import { afterEach, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

describe.each(ENGINES)('administration on %s', (engine) => {
  let world: World
  afterEach(() => world.close())

  const create = (resource: string, body: Json, headers?: Record<string, string>) =>
    world.post(`/admin/${resource}`, body, 'admin', headers)
  const remove = (path: string) => world.call('DELETE', `/admin/${path}`, { as: 'admin' })
  const lineOf = async (number: string, where = 'live') =>
    (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === number && line.world === where,
    )
  const defaultAccount = async () => (await world.get('/admin/accounts', 'admin')).body.data[0]

  it('makes, shows, lists and removes accounts', async () => {
    world = await createWorld(engine)
    const made = await create('accounts', { email: 'a@example.com', name: 'Example', plan: 'free' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ email: 'a@example.com', name: 'Example', plan: 'free' })
    const { id, test_account_id: testId } = made.body
    expect((await world.get(`/admin/accounts/${id}`, 'admin')).body).toEqual(made.body)
    const unnamed = (await create('accounts', { email: 'b@example.com' })).body
    expect(unnamed).toMatchObject({ name: 'b@example.com', plan: 'dedicated' })
    const ids = async () => (await world.get('/admin/accounts', 'admin')).body.data.map((one: Json) => one.id)
    expect(await ids()).toEqual(expect.arrayContaining([id, unnamed.id]))
    expect(await ids(), 'test worlds are not accounts of their own').not.toContain(testId)
    expect((await world.get(`/admin/accounts/${testId}`, 'admin')).status).toBe(404)
    expect((await remove(`accounts/${testId}`)).status).toBe(404)
    expect((await remove(`accounts/${id}`)).status).toBe(204)
    expect(await ids()).not.toContain(id)
    expect((await world.get(`/admin/accounts/${id}`, 'admin')).status).toBe(404)
    expect((await remove(`accounts/${id}`)).status).toBe(404)
    expect((await create('accounts', { email: 'a@example.com' })).status, 'the address is free again').toBe(
      201,
    )
  })

  it('renames an account and gives it another plan, also in its test world, but takes no address of another', async () => {
    world = await createWorld(engine)
    const { id } = (await create('accounts', { email: 'a@example.com', plan: 'free' })).body
    await create('accounts', { email: 'b@example.com' })
    const patch = (body: Json) => world.call('PATCH', `/admin/accounts/${id}`, { as: 'admin', body })
    const names = { email: 'c@example.com', name: 'Example Ltd.', plan: 'gold' }
    expect(await patch(names)).toMatchObject({ status: 200, body: names })
    expect((await patch({ name: 'Other' })).body).toMatchObject({ ...names, name: 'Other' })
    const worlds = await world.app.ctx.db.all(
      "select world, plan from accounts where email = 'c@example.com'",
    )
    expect(worlds.map((row) => `${row.world} ${row.plan}`).sort()).toEqual(['live gold', 'test gold'])
    expect(await patch({ email: 'b@example.com' })).toMatchObject({
      status: 409,
      body: { error: { message: 'There is an account for b@example.com already' } },
    })
    for (const body of [{ email: 'nonsense' }, { name: '' }, { plan: 7 }])
      expect((await patch(body)).status, JSON.stringify(body)).toBe(400)
    const others = (await create('accounts', { email: 'd@example.com' })).body.id
    const both = await Promise.all(
      [id, others].map((one) =>
        world.call('PATCH', `/admin/accounts/${one}`, { as: 'admin', body: { email: 'e@example.com' } }),
      ),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('makes keys whose secret is shown once, and revokes them at once', async () => {
    world = await createWorld(engine)
    const account = await defaultAccount()
    const made = await create('keys', { account_id: account.id, label: 'ci' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ account_id: account.id, kind: 'live', label: 'ci', revoked_at: null })
    const key = { id: made.body.id, secret: made.body.secret }
    expect(key.secret.length).toBeGreaterThan(40)
    expect((await world.send({}, key)).status).toBe('QUEUED')
    const shown = (await world.get(`/admin/keys/${key.id}`, 'admin')).body
    expect(shown).toEqual({ ...made.body, secret: undefined })
    const listed = await world.get('/admin/keys', 'admin')
    expect(JSON.stringify(listed.body)).not.toContain(key.secret)

    const test = (await create('keys', { account_id: account.id, kind: 'test' })).body
    expect(test.account_id).toBe(account.test_account_id)
    const operator = (await create('keys', { kind: 'admin' })).body
    expect(operator.account_id).toBeNull()
    expect((await world.get('/admin/accounts', operator)).status).toBe(200)
    const mine = (await world.get(`/admin/keys?account_id=${account.id}`, 'admin')).body.data
    expect(mine.map((one: Json) => one.id)).toEqual(
      expect.arrayContaining([key.id, test.id, 'dev-live-key', 'dev-test-key']),
    )
    expect(mine.map((one: Json) => one.id)).not.toContain(operator.id)

    const revoked = await remove(`keys/${key.id}`)
    expect(Date.parse(revoked.body.revoked_at)).toBe(world.app.ctx.clock.now())
    expect((await world.get('/api/v2/messages', key)).status).toBe(401)
    expect((await remove(`keys/${key.id}`)).body, 'revoking again changes nothing').toEqual(revoked.body)
  })

  it('makes seats, which name the sender of a message', async () => {
    world = await createWorld(engine)
    const account = await defaultAccount()
    const body = {
      account_id: account.id,
      email: 'ada@example.com',
      subject: 'auth|1',
      first_name: 'Ada',
      last_name: 'L',
    }
    const seat = await create('seats', body)
    expect(seat.status).toBe(201)
    expect(seat.body).toMatchObject(body)
    expect((await world.get(`/admin/seats/${seat.body.id}`, 'admin')).body).toEqual(seat.body)
    expect((await world.get(`/admin/seats?account_id=${account.id}`, 'admin')).body.data).toEqual([seat.body])
    expect((await world.get('/admin/seats?account_id=none', 'admin')).body.data).toEqual([])
    for (const seat_id of [seat.body.id, 'auth|1']) {
      expect(await world.send({ seat_id })).toMatchObject({
        seat_id: seat.body.id,
        sender_email: 'ada@example.com',
      })
    }
    const twice = await create('seats', body)
    expect(twice.status).toBe(409)
    expect(twice.body.error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('ada@example.com'),
    })
    expect(
      (await create('seats', { ...body, email: 'other@example.com' })).status,
      'the subject is taken',
    ).toBe(409)
    expect((await remove(`seats/${seat.body.id}`)).status).toBe(204)
    expect((await remove(`seats/${seat.body.id}`)).status).toBe(404)
    expect(
      (
        await world.post('/api/send-message', {
          from_number: LINE,
          number: ADA,
          content: 'x',
          seat_id: 'auth|1',
        })
      ).status,
    ).toBe(400)
    expect((await create('seats', body)).status, 'the address is free again').toBe(201)
  })

  it('makes, changes and removes lines', async () => {
    world = await createWorld(engine)
    const account = await defaultAccount()
    const made = await create('lines', {
      account_id: account.id,
      number: '(202) 555-0110',
      pace: 3,
      on_unknown: 'resend',
      settle_ms: 10,
    })
    expect(made.status).toBe(400)
    const { notice, ...line } = (
      await create('lines', {
        account_id: account.id,
        number: '+12025550110',
        pace: 3,
        on_unknown: 'resend',
        settle_ms: 10,
      })
    ).body
    expect(notice).toBe(null)
    expect(line).toMatchObject({
      number: '+12025550110',
      kind: 'dedicated',
      world: 'live',
      driver: 'simulator',
      pace: 3,
      on_unknown: 'resend',
      settle_ms: 10,
    })
    await world.settle()
    expect((await world.get(`/admin/lines/${line.id}`, 'admin')).body).toEqual({
      ...line,
      driven_here: true,
      state: 'ONLINE',
    })
    const changed = await world.call('PATCH', `/admin/lines/${line.id}`, { as: 'admin', body: { pace: 0 } })
    expect(changed.body).toMatchObject({ pace: 0, on_unknown: 'resend', settle_ms: 10 })
    const numbers = (await world.get(`/admin/lines?account_id=${account.id}`, 'admin')).body.data.map(
      (one: Json) => one.number,
    )
    expect(numbers.sort()).toEqual([LINE, '+12025550110', SHARED_LINE].sort())
    expect((await create('lines', { account_id: account.id, number: '+12025550110' })).status).toBe(409)
    expect((await remove(`lines/${line.id}`)).status).toBe(204)
    expect((await remove(`lines/${line.id}`)).status).toBe(404)
    expect(await world.send({ from_number: '+12025550110' })).toMatchObject({ status: 'ERROR' })
    expect((await create('lines', { account_id: account.id, number: '+12025550110' })).status).toBe(201)
  })

  it('names the field that is wrong, and stores nothing', async () => {
    world = await createWorld(engine)
    const { id } = await defaultAccount()
    const cases: [string, Json, number, string][] = [
      ['accounts', {}, 400, 'missing required parameter: email'],
      ['accounts', { email: 'no at sign' }, 400, 'email: '],
      ['accounts', { email: 'a@example.com', name: '' }, 400, 'name: '],
      ['accounts', { email: 'a@example.com', name: 'N\u0000' }, 400, 'name: '],
      ['accounts', { email: 5 }, 400, 'email: '],
      ['accounts', { email: 'dev@trunkline.local' }, 409, 'dev@trunkline.local'],
      ['keys', {}, 400, 'account_id'],
      ['keys', { kind: 'root', account_id: id }, 400, 'kind: must be one of live, test, admin'],
      ['keys', { kind: 'admin', account_id: id }, 400, 'account_id: '],
      ['keys', { account_id: 'none' }, 404, 'no account none'],
      ['lines', { account_id: id }, 400, 'missing required parameter: number'],
      ['lines', { account_id: id, number: 'abc' }, 400, 'number: '],
      ['lines', { account_id: 'none', number: '+12025550111' }, 404, 'no account none'],
      ['lines', { account_id: id, number: '+12025550111', pace: -1 }, 400, 'pace: '],
      ['lines', { account_id: id, number: '+12025550111', pace: 1.5 }, 400, 'pace: '],
      ['lines', { account_id: id, number: '+12025550111', on_unknown: 'panic' }, 400, 'on_unknown: '],
      ['lines', { account_id: id, number: '+12025550111', driver: 'pigeon' }, 400, 'driver: '],
      [
        'lines',
        { account_id: id, number: '+12025550111', config: { latency_ms: 'soon' } },
        400,
        'config.latency_ms: ',
      ],
      ['seats', { account_id: id }, 400, 'missing required parameter: email'],
      ['seats', { account_id: 'none', email: 'a@example.com' }, 404, 'no account none'],
    ]
    const everything = async () =>
      Promise.all(
        ['accounts', 'keys', 'lines', 'seats'].map(
          async (one) => (await world.get(`/admin/${one}`, 'admin')).body,
        ),
      )
    const before = await everything()
    for (const [resource, body, status, text] of cases) {
      const reply = await create(resource, body)
      expect([reply.status, reply.body.error.message], `${resource} ${JSON.stringify(body)}`).toEqual([
        status,
        expect.stringContaining(text),
      ])
      expect(reply.headers['x-should-retry']).toBe('false')
    }
    const line = await lineOf(LINE)
    const patch = await world.call('PATCH', `/admin/lines/${line.id}`, {
      as: 'admin',
      body: { config: { fault: 'gremlins' } },
    })
    expect([patch.status, patch.body.error.message]).toEqual([400, expect.stringContaining('config.fault')])
    expect(await everything()).toEqual(before)
  })

  it('answers 404 for what is not there, 403 to keys of accounts, 401 to nobody', async () => {
    world = await createWorld(engine)
    const calls: [string, string, Json?][] = [
      ...['accounts', 'keys', 'lines', 'seats'].flatMap((one): [string, string][] => [
        ['GET', `/admin/${one}/none`],
        ['DELETE', `/admin/${one}/none`],
      ]),
      ['PATCH', '/admin/lines/none', { pace: 1 }],
      ['POST', '/admin/lines/none/members', { account_id: 'none' }],
    ]
    for (const [method, path, body] of calls) {
      expect((await world.call(method, path, { as: 'admin', body })).status, `${method} ${path}`).toBe(404)
    }
    for (const one of ['accounts', 'keys', 'lines', 'seats'])
      calls.push(['GET', `/admin/${one}`], ['POST', `/admin/${one}`, {}])
    for (const [method, path, body] of calls) {
      for (const as of ['live', 'test'] as const) {
        const reply = await world.call(method, path, { as, body })
        expect([reply.status, reply.body.error.code], `${method} ${path} as ${as}`).toEqual([
          403,
          'forbidden',
        ])
      }
      expect((await world.call(method, path, { as: null, body })).status).toBe(401)
    }
  })

  it('does a POST once per Idempotency-Key, and never shows a secret again', async () => {
    world = await createWorld(engine)
    const key = { 'idempotency-key': 'make-a' }
    const first = await create('accounts', { email: 'a@example.com' }, key)
    const again = await create('accounts', { email: 'a@example.com' }, key)
    expect(again).toMatchObject({ status: 201, body: first.body, headers: { 'x-idempotent-replay': 'true' } })
    expect((await create('accounts', { email: 'b@example.com' }, key)).status).toBe(422)
    const made = await create('keys', { account_id: first.body.id }, { 'idempotency-key': 'k' })
    const repeat = await create('keys', { account_id: first.body.id }, { 'idempotency-key': 'k' })
    expect(made.body.secret).toBeTypeOf('string')
    expect(repeat.body).toEqual({ ...made.body, secret: undefined })
    const keys = (await world.get(`/admin/keys?account_id=${first.body.id}`, 'admin')).body.data
    expect(keys).toHaveLength(1)
    const at = await Promise.all(
      Array.from({ length: 5 }, () =>
        create('accounts', { email: 'c@example.com' }, { 'idempotency-key': 'race' }),
      ),
    )
    expect(new Set(at.map((reply) => `${reply.status} ${reply.body.id}`)).size).toBe(1)
    const conflict = await Promise.all(
      Array.from({ length: 5 }, () => create('accounts', { email: 'd@example.com' })),
    )
    expect(conflict.map((reply) => reply.status).sort()).toEqual([201, 409, 409, 409, 409])
  })
})
