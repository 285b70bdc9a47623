import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
} from '../support/world.js'

const SERVICES = '/api/v2/verify/services'
const LIST = '/api/v2/verify/verifications'
const B_LINE = '+12025550150'

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
    expect(sent.id).toMatch(/^[\dA-F-]{36}$/)
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
      expect(said.service).toBe('iMessage')
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
      [{ to: '+120255' }, 'to'],
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
