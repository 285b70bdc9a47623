import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../src/services/world.js'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  START,
  type Who,
  type World,
} from './support/world.js'

const SERVICES = '/api/v2/verify/services'
const LIST = '/api/v2/verify/verifications'
const B_LINE = '+12025550150'
const NO_SID = `SV${'0'.repeat(32)}`

describe.each(ENGINES)('verify on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let service: Json

  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    service = (await world.post(SERVICES, { friendly_name: 'Example' })).body
  })
  afterAll(() => world.close())

  const newService = async (fields: Json = {}, as?: Who) =>
    (await world.post(SERVICES, { friendly_name: 'Example', ...fields }, as)).body
  const start = async (fields: Json = {}, sid = service.sid, as?: Who) => {
    const reply = await world.post(`${SERVICES}/${sid}/verifications`, { to: ADA, ...fields }, as)
    expect([reply.status, reply.body]).toEqual([201, reply.body])
    return reply.body
  }
  const read = async (verification: Json, as?: Who) =>
    (await world.get(`${SERVICES}/${verification.service_sid}/verifications/${verification.sid}`, as)).body
  const textCode = async (verification: Json, from = verification.to, changes: Json = {}) => {
    const { code, pool_number } = verification.delivery_target
    const sent = await world.text(from, changes.content ?? code, { to: changes.to ?? pool_number })
    expect(sent.id).toBeDefined()
    await world.settle()
  }
  const eventsOf = async (verification: Json) =>
    (await world.events()).filter((event) => event.subject === verification.sid)

  describe('services', () => {
    it('are made with defaults, listed, shown and deleted', async () => {
      const made = await world.post(SERVICES, { friendly_name: ' Shop ' })
      expect(made.status).toBe(201)
      expect(made.body).toEqual({
        sid: expect.stringMatching(/^SV[0-9a-f]{32}$/),
        account_sid: expect.stringMatching(/^AC[0-9a-f]{32}$/),
        friendly_name: 'Shop',
        code_length: 6,
        ttl_seconds: 300,
        use_customer_lines: false,
        date_created: new Date(START).toISOString(),
        date_updated: new Date(START).toISOString(),
        url: expect.stringMatching(new RegExp(`^http://[^/]+${SERVICES}/SV[0-9a-f]{32}$`)),
      })
      const list = await world.get(SERVICES)
      expect(list.body.services).toContainEqual(made.body)
      expect(list.body.meta).toEqual({ count: list.body.services.length })
      expect((await world.get(`${SERVICES}/${made.body.sid}`)).body).toEqual(made.body)
      const gone = await world.call('DELETE', `${SERVICES}/${made.body.sid}`)
      expect([gone.status, gone.body]).toEqual([204, ''])
      expect((await world.call('DELETE', `${SERVICES}/${made.body.sid}`)).status).toBe(404)
      expect((await world.get(`${SERVICES}/${made.body.sid}`)).status).toBe(404)
      expect((await world.get(SERVICES)).body.services).not.toContainEqual(made.body)
    })

    it.each([
      [{}, 'friendly_name'],
      [{ friendly_name: '' }, 'friendly_name'],
      [{ friendly_name: '  ' }, 'friendly_name'],
      [{ friendly_name: 'a\nb' }, 'friendly_name'],
      [{ friendly_name: 'x'.repeat(101) }, 'friendly_name'],
      [{ friendly_name: 7 }, 'friendly_name'],
      [{ friendly_name: 'x', code_length: 3 }, 'code_length'],
      [{ friendly_name: 'x', code_length: 9 }, 'code_length'],
      [{ friendly_name: 'x', code_length: 4.5 }, 'code_length'],
      [{ friendly_name: 'x', code_length: '6' }, 'code_length'],
      [{ friendly_name: 'x', ttl_seconds: 59 }, 'ttl_seconds'],
      [{ friendly_name: 'x', ttl_seconds: 3601 }, 'ttl_seconds'],
      [{ friendly_name: 'x', ttl_seconds: 1e12 }, 'ttl_seconds'],
      [{ friendly_name: 'x', use_customer_lines: 'yes' }, 'use_customer_lines'],
    ])('%j is refused, naming the field', async (body, field) => {
      const reply = await world.post(SERVICES, body)
      expect(reply.status).toBe(400)
      expect(reply.body).toEqual({ status: 'ERROR', message: expect.stringContaining(field) })
    })

    it('take the names and forms of Twilio-style clients', async () => {
      const form = (path: string, body: string) =>
        world.call('POST', path, { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
      const made = await form(
        SERVICES,
        'FriendlyName=2024&CodeLength=4&ttl_seconds=60&use_customer_lines=true',
      )
      expect(made.body).toMatchObject({
        friendly_name: '2024',
        code_length: 4,
        ttl_seconds: 60,
        use_customer_lines: true,
      })
      const path = `${SERVICES}/${made.body.sid}/verifications`
      const started = await form(path, `To=${encodeURIComponent(ADA)}&Channel=sms`)
      expect([started.status, started.body.status]).toEqual([201, 'pending'])
      expect((await form(`${path}/${started.body.sid}`, 'Status=canceled')).body.status).toBe('canceled')
    })

    it('cancel what is pending when they are deleted, and leave the rest readable', async () => {
      const doomed = await newService()
      const [approved, pending] = [await start({}, doomed.sid), await start({}, doomed.sid)]
      await textCode(approved)
      await world.call('DELETE', `${SERVICES}/${doomed.sid}`)
      expect((await read(approved)).status).toBe('approved')
      expect((await read(pending)).status).toBe('canceled')
      expect(await eventsOf(pending)).toMatchObject([{ type: 'verification.canceled' }])
      const late = await world.post(`${SERVICES}/${doomed.sid}/verifications`, { to: ADA })
      expect(late.status).toBe(404)
    })
  })

  describe('a verification', () => {
    it('has the shape clients expect', async () => {
      const started = await start()
      expect(started).toEqual({
        sid: expect.stringMatching(/^VR[0-9a-f]{32}$/),
        service_sid: service.sid,
        account_sid: service.account_sid,
        channel: 'imessage',
        status: 'pending',
        to: ADA,
        url: `${service.url}/verifications/${started.sid}`,
        date_created: new Date(START).toISOString(),
        date_updated: new Date(START).toISOString(),
        expires_at: new Date(START + 300_000).toISOString(),
        delivery_target: {
          code: expect.stringMatching(/^\d{6}$/),
          pool_number: SHARED_LINE,
          sms_deep_link: `sms:${SHARED_LINE}?&body=${started.delivery_target.code}`,
        },
      })
      expect(await read(started)).toEqual(started)
    })

    it('is approved when exactly the right phone texts exactly the code to the pool number', async () => {
      const started = await start()
      const { code } = started.delivery_target
      const wrong = code === '000000' ? '000001' : '000000'
      await textCode(started, BOB)
      await textCode(started, ADA, { content: wrong })
      await textCode(started, ADA, { content: `${code}1` })
      await textCode(started, ADA, { content: code.slice(1) })
      await textCode(started, ADA, { content: `My code is ${code}` })
      await textCode(started, ADA, {
        content: code.replaceAll(/\d/g, (d: string) => String.fromCharCode(0x660 + Number(d))),
      })
      await textCode(started, ADA, { to: LINE })
      expect(await read(started)).toEqual(started)
      expect(await eventsOf(started)).toEqual([])

      await textCode(started, ADA, { content: ` ${code}\n` })
      const { delivery_target, ...rest } = started
      expect(await read(started)).toEqual({ ...rest, status: 'approved' })
      const [event, ...more] = await eventsOf(started)
      expect(more).toEqual([])
      expect(event).toMatchObject({
        type: 'verification.approved',
        data: { status: 'approved', serviceSid: service.sid },
      })
      const listed = (await world.get(LIST)).body.data.find((one: Json) => one.sid === started.sid)
      expect(listed).toEqual({
        sid: started.sid,
        service_sid: service.sid,
        channel: 'imessage',
        status: 'approved',
        to: ADA,
        date_created: started.date_created,
        date_updated: rest.date_updated,
        date_completed: rest.date_updated,
      })
    })

    it('is not approved by a code that is said to a group', async () => {
      const own = await newService({ use_customer_lines: true })
      const started = await start({}, own.sid)
      const { code, pool_number } = started.delivery_target
      const group = await world.post('/sim/groups', { by: ADA, line: pool_number, members: ['+12025550178'] })
      expect(group.status).toBe(201)
      const said = await world.text(ADA, code, { to: undefined, group_id: group.body.id })
      expect(said.id).toBeDefined()
      await world.advance(1000)
      const { data } = (await world.get(`/api/v2/messages?from_number=${encodeURIComponent(ADA)}`)).body
      expect(data[0]).toMatchObject({ content: code, message_type: 'group' })
      expect((await read(started)).status).toBe('pending')
      await textCode(started)
      expect((await read(started)).status).toBe('approved')
    })

    it('leaves the text that approved it in the inbox, and its event after that of the text', async () => {
      const started = await start({ to: CLEO })
      await textCode(started)
      const { data } = (await world.get(`/api/v2/messages?from_number=${encodeURIComponent(CLEO)}`)).body
      expect(data).toMatchObject([
        { content: started.delivery_target.code, status: 'RECEIVED', to_number: SHARED_LINE },
      ])
      const events = await world.events()
      const received = events.find((event) => event.subject === data[0].message_handle)
      const [approved] = await eventsOf(started)
      expect([received.type, approved.seq]).toEqual(['message.received', received.seq + 1])
    })

    it('ends once: two texts at the same moment make one event', async () => {
      const started = await start()
      const { code, pool_number } = started.delivery_target
      await Promise.all(Array.from({ length: 5 }, () => world.text(ADA, code, { to: pool_number })))
      await world.settle()
      expect(await eventsOf(started)).toHaveLength(1)
      await textCode(started)
      expect(await eventsOf(started)).toHaveLength(1)
    })

    it('is canceled by POST and by DELETE, once, and not after it was approved', async () => {
      const posted = await start()
      const path = (one: Json) => `${SERVICES}/${service.sid}/verifications/${one.sid}`
      const reply = await world.post(path(posted), { status: 'canceled' })
      const { delivery_target, ...rest } = posted
      expect([reply.status, reply.body]).toEqual([200, { ...rest, status: 'canceled' }])
      expect((await world.post(path(posted), { status: 'canceled' })).body.status).toBe('canceled')
      await textCode(posted)
      expect((await read(posted)).status).toBe('canceled')

      const deleted = await start()
      expect((await world.call('DELETE', path(deleted))).status).toBe(204)
      expect((await world.call('DELETE', path(deleted))).status).toBe(204)
      for (const one of [posted, deleted])
        expect((await eventsOf(one)).map((event) => event.type)).toEqual(['verification.canceled'])

      const approved = await start()
      await textCode(approved)
      const late = await world.post(path(approved), { status: 'canceled' })
      expect([late.status, late.headers['x-should-retry']]).toEqual([409, 'false'])
      expect(late.body.message).toContain('approved')
      expect((await world.call('DELETE', path(approved))).status).toBe(409)
      for (const status of ['approved', 'pending', '', null, 1])
        expect((await world.post(path(posted), { status })).status).toBe(400)
    })

    it('has one end when a cancel and a text meet', async () => {
      for (let i = 0; i < 5; i++) {
        const started = await start()
        const { code, pool_number } = started.delivery_target
        await Promise.all([
          world.text(ADA, code, { to: pool_number }),
          world.call('DELETE', `${SERVICES}/${service.sid}/verifications/${started.sid}`),
        ])
        await world.settle()
        const { status } = await read(started)
        expect((await eventsOf(started)).map((event) => event.type)).toEqual([`verification.${status}`])
      }
    })

    it('has codes of the length asked for, unlike those pending for the same person', async () => {
      for (const code_length of [4, 8]) {
        const { sid } = await newService({ code_length })
        expect((await start({}, sid)).delivery_target.code).toMatch(new RegExp(`^\\d{${code_length}}$`))
      }
      const many = await Promise.all(Array.from({ length: 40 }, () => start({ to: BOB })))
      expect(new Set(many.map((one) => one.delivery_target.code)).size).toBe(40)
    })

    it('takes a dedicated line when the service says so, or when there is no shared one', async () => {
      const own = await newService({ use_customer_lines: true })
      const started = await start({}, own.sid)
      expect(started.delivery_target.pool_number).toBe(LINE)
      await textCode(started)
      expect((await read(started)).status).toBe('approved')
      const bService = await newService({}, b.live)
      expect((await start({}, bService.sid, b.live)).delivery_target.pool_number).toBe(B_LINE)
    })

    it('says so when there is no line for its codes', async () => {
      const account = (await world.post('/admin/accounts', { email: `no-line@example.com` }, 'admin')).body
      const key = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
      const { sid } = await newService({}, key)
      const reply = await world.post(`${SERVICES}/${sid}/verifications`, { to: ADA }, key)
      expect([reply.status, reply.body.message]).toEqual([422, expect.stringContaining('no line')])
    })

    it("on a shared line, a stranger's code finds the member who asked", async () => {
      const lines = (await world.get('/admin/lines', 'admin')).body.data
      const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
      await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
      const bService = await newService({}, b.live)
      const stranger = '+12025550177'
      const started = await start({ to: stranger }, bService.sid, b.live)
      expect(started.delivery_target.pool_number).toBe(SHARED_LINE)
      await textCode(started)
      expect((await read(started, b.live)).status).toBe('approved')
      const inbox = async (as: Who) =>
        (await world.get(`/api/v2/messages?from_number=${encodeURIComponent(stranger)}`, as)).body.data
      expect(await inbox(b.live)).toMatchObject([{ content: started.delivery_target.code }])
      expect(await inbox('live')).toEqual([])
    })

    it.each([
      [{}, 'to'],
      [{ to: '' }, 'to'],
      [{ to: '2025550101' }, 'to'],
      [{ to: '+1202555010' }, 'to'],
      [{ to: '+12025550101,+12025550102' }, 'to'],
      [{ to: 12025550101 }, 'to'],
      [{ to: ['+12025550101'] }, 'to'],
    ])('for %j is refused, naming the field', async (body, field) => {
      const reply = await world.post(`${SERVICES}/${service.sid}/verifications`, body)
      expect(reply.status).toBe(400)
      expect(reply.body).toEqual({ status: 'ERROR', message: expect.stringContaining(field) })
    })

    it('happens once per Idempotency-Key', async () => {
      const path = `${SERVICES}/${service.sid}/verifications`
      const body = { to: ADA, hosted: { parent_origin: 'https://example.com' } }
      const headers = { 'idempotency-key': 'verify-once' }
      const [first, second] = [
        await world.post(path, body, 'live', headers),
        await world.post(path, body, 'live', headers),
      ]
      expect(second.headers['x-idempotent-replay']).toBe('true')
      expect(second.body).toEqual(first.body)
      const token = first.body.hosted.url.split('#token=')[1]
      const dump = await world.app.ctx.db.all('select body from replays')
      expect(JSON.stringify(dump)).not.toContain(token)
      expect((await world.post(path, { to: BOB }, 'live', headers)).status).toBe(422)
    })
  })
})

describe.each(ENGINES)('verifications and time on %s', (engine) => {
  let world: World
  afterAll(() => world.close())
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  const begin = async (fields: Json = {}) => {
    const service = (await world.post(SERVICES, { friendly_name: 'Example', ...fields })).body
    return (await world.post(`${SERVICES}/${service.sid}/verifications`, { to: ADA })).body
  }
  const read = async (one: Json) =>
    (await world.get(`${SERVICES}/${one.service_sid}/verifications/${one.sid}`)).body
  const ends = async (one: Json) =>
    (await world.events()).filter((event) => event.subject === one.sid).map((event) => [event.type, event.at])

  it('expires by the clock, with an event that nobody has to ask for', async () => {
    const now = world.app.ctx.clock.now()
    const [longer, shorter] = [await begin({ ttl_seconds: 120 }), await begin({ ttl_seconds: 60 })]
    await world.advance(59_999)
    expect(await ends(shorter)).toEqual([])
    await world.advance(1)
    expect(await ends(shorter)).toEqual([['verification.expired', now + 60_000]])
    expect(await ends(longer)).toEqual([])
    await world.advance(3_600_000)
    expect(await ends(longer)).toEqual([['verification.expired', now + 120_000]])
    const { delivery_target, ...rest } = shorter
    expect(await read(shorter)).toEqual({
      ...rest,
      status: 'expired',
      date_updated: new Date(now + 60_000).toISOString(),
    })
    await world.text(ADA, delivery_target.code, { to: delivery_target.pool_number })
    await world.settle()
    expect(await ends(shorter)).toHaveLength(1)
    const reply = await world.call(
      'DELETE',
      `${SERVICES}/${shorter.service_sid}/verifications/${shorter.sid}`,
    )
    expect([reply.status, reply.body.message]).toEqual([409, expect.stringContaining('expired')])
  })

  it('is approved in the last millisecond and not after it', async () => {
    const [early, late] = [await begin(), await begin()]
    const text = async ({ delivery_target: { code, pool_number } }: Json) => {
      await world.text(ADA, code, { to: pool_number })
      await world.settle()
    }
    await world.advance(299_999)
    await text(early)
    await world.advance(1)
    await text(late)
    expect([(await read(early)).status, (await read(late)).status]).toEqual(['approved', 'expired'])
  })

  it('keeps its time over a restart, and what fell due meanwhile ends at once', async () => {
    const [due, later] = [await begin({ ttl_seconds: 60 }), await begin({ ttl_seconds: 600 })]
    await world.app.ctx.db.run('update verifications set expires_at = $2 where sid = $1', [
      due.sid,
      world.app.ctx.clock.now() - 1,
    ])
    await world.restart()
    expect(await ends(due)).toHaveLength(1)
    expect(await ends(later)).toEqual([])
    await world.advance(600_000)
    expect(await ends(later)).toHaveLength(1)
  })

  it('is expired for a reader even before the timer has run', async () => {
    const one = await begin()
    await world.app.ctx.db.run('update verifications set expires_at = $2 where sid = $1', [
      one.sid,
      world.app.ctx.clock.now(),
    ])
    expect((await read(one)).status).toBe('expired')
    const two = await begin()
    await world.app.ctx.db.run('update verifications set expires_at = $2 where sid = $1', [
      two.sid,
      world.app.ctx.clock.now(),
    ])
    expect((await world.get(LIST)).body.data.find((row: Json) => row.sid === two.sid).status).toBe('expired')
    expect(await ends(two)).toHaveLength(1)
  })
})

describe.each(ENGINES)('the list of verifications on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  const sids: string[] = []
  let service: Json
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    service = (await world.post(SERVICES, { friendly_name: 'Example' })).body
    for (let i = 0; i < 5; i++) {
      await world.advance(1000)
      sids.push((await world.post(`${SERVICES}/${service.sid}/verifications`, { to: ADA })).body.sid)
    }
  })
  afterAll(() => world.close())
  const list = async (query = '', as?: Who) => {
    const { body } = await world.get(`${LIST}${query}`, as)
    return { sids: body.data.map((row: Json) => row.sid), ...body }
  }

  it('is in pages, the last changed first', async () => {
    expect(await list()).toMatchObject({
      status: 'OK',
      sids: sids.toReversed(),
      pagination: { count: 5, has_more: false, limit: 100, offset: 0 },
    })
    expect(await list('?limit=2')).toMatchObject({
      sids: sids.toReversed().slice(0, 2),
      pagination: { count: 2, has_more: true, limit: 2, offset: 0 },
    })
    expect(await list('?limit=2&offset=4')).toMatchObject({
      sids: [sids[0]],
      pagination: { count: 1, has_more: false, limit: 2, offset: 4 },
    })
    expect(await list('?offset=99')).toMatchObject({ sids: [], pagination: { count: 0, has_more: false } })
    expect((await list('?limit=5000')).pagination.limit).toBe(1000)
    const from = new Date(START + 4000).toISOString()
    expect((await list(`?updated_at_gte=${from}`)).sids).toEqual([sids[4], sids[3]])
    expect((await list('?updated_at_gte=2199-01-01')).sids).toEqual([])
  })

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=NaN',
    'limit=1&limit=2',
    'offset=-1',
    'offset=x',
    'updated_at_gte=yesterday',
    'updated_at_gte=2026-02-30',
    'updated_at_gte=2026-01-01T00:00:00',
    'updated_at_gte=1700000000',
  ])('refuses ?%s, naming the field', async (query) => {
    const reply = await world.get(`${LIST}?${query}`)
    expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
    expect(reply.body.message).toContain(query.split('=')[0])
  })

  it('takes huge offsets', async () => {
    for (const offset of ['2147483648', '9007199254740991', '1e15']) {
      const reply = await world.get(`${LIST}?offset=${offset}`)
      expect([reply.status, reply.body.data]).toEqual([200, []])
    }
  })

  it("shows nothing of other accounts, and another account's things answer as absent ones do", async () => {
    expect((await list('', b.live)).sids).toEqual([])
    expect((await list('', 'test')).sids).toEqual([])
    const foreign = `${SERVICES}/${service.sid}`
    const absent = `${SERVICES}/${NO_SID}`
    for (const as of [b.live, 'test'] as Who[]) {
      for (const [method, tail, body] of [
        ['GET', '', undefined],
        ['DELETE', '', undefined],
        ['POST', '/verifications', { to: ADA }],
        ['GET', `/verifications/${sids[0]}`, undefined],
        ['POST', `/verifications/${sids[0]}`, { status: 'canceled' }],
        ['DELETE', `/verifications/${sids[0]}`, undefined],
      ] as const) {
        const [theirs, nobodys] = [
          await world.call(method, foreign + tail, { as, body }),
          await world.call(method, absent + tail, { as, body }),
        ]
        expect([method, tail, theirs.status, theirs.body]).toEqual([method, tail, 404, nobodys.body])
      }
    }
    const other = (await world.post(SERVICES, { friendly_name: 'Other' })).body
    expect((await world.get(`${SERVICES}/${other.sid}/verifications/${sids[0]}`)).status).toBe(404)
    expect((await world.get(`${foreign}/verifications/${sids[0]}`)).body.status).toBe('pending')
  })

  it('is for the whole account: Basic and its tokens count, a token for some lines does not', async () => {
    const { id, secret } = DEFAULT_WORLD.keys.live
    const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
    const mint = async (body: Json) => (await world.post('/v3/auth/tokens', body)).body
    const bearer = async (body: Json) => ({ authorization: `Bearer ${(await mint(body)).token}` })
    const [account, confined] = [await bearer({}), await bearer({ phone_number: LINE })]
    for (const [method, path, body] of [
      ['GET', LIST],
      ['GET', SERVICES],
      ['GET', `${SERVICES}/${service.sid}`],
      ['GET', `${SERVICES}/${service.sid}/verifications/${sids[0]}`],
      ['POST', SERVICES, { friendly_name: 'x' }],
      ['POST', `${SERVICES}/${service.sid}/verifications`, { to: ADA }],
      ['POST', `${SERVICES}/${service.sid}/verifications/${sids[0]}`, { status: 'canceled' }],
    ] as const) {
      const status = async (headers: Record<string, string>) =>
        (await world.call(method, path, { as: null, body, headers })).status
      const done = method === 'GET' || path.endsWith(sids[0]!) ? 200 : 201
      const answers = [await status(confined), await status(account), await status(basic)]
      expect([method, path, ...answers]).toEqual([method, path, 403, done, done])
    }
  })

  it('is for accounts only', async () => {
    for (const path of [LIST, SERVICES]) {
      expect((await world.get(path, null)).status).toBe(401)
      expect((await world.get(path, 'admin')).status).toBe(403)
    }
  })

  it.each(['%00', "'", '%25', 'x'.repeat(300), 'VR*', '%2F'])('a sid %s finds nothing', async (sid) => {
    for (const path of [`${SERVICES}/${sid}`, `${SERVICES}/${service.sid}/verifications/${sid}`])
      expect([400, 404]).toContain((await world.get(path)).status)
  })
})
