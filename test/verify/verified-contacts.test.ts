import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askOnShared, routeTo } from '../../src/services/messages/inbound/owner.js'
import { listLineMembers, listLines } from '../../src/storage/lines/lines.js'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

let used = 0
const fresh = () => `+1303556${String(1000 + used++).padStart(4, '0')}`

describe.each(ENGINES)('verified contacts on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const register = (phone_number: unknown, as?: Who, headers?: Record<string, string>) =>
    world.post('/v3/verified-contacts', { phone_number }, as, headers)
  const retrieve = (number: string, as?: Who) => world.get(`/v3/verified-contacts/${number}`, as)
  const statusOf = async (number: string, as?: Who) =>
    (await retrieve(number, as)).body.data?.contact.verification_status
  const write = async (number: string, to: string = SHARED_LINE, content = 'Hi') => {
    await world.text(number, content, { to })
    await world.advance(1000)
  }

  describe('state', () => {
    it('none, POST, not yet known: pending, with the line and instructions', async () => {
      const number = fresh()
      const reply = await register(number)
      expect(reply.status).toBe(200)
      const time = new Date(world.app.ctx.clock.now()).toISOString()
      const contact = {
        phone_number: number,
        verified: false,
        verification_status: 'pending',
        created_at: time,
        updated_at: time,
      }
      const line = { phone_number: SHARED_LINE, type: 'shared' }
      expect(reply.body).toEqual({
        data: { contact, line, verification_instructions: expect.stringContaining(SHARED_LINE) },
      })
      expect((await retrieve(number)).body).toEqual({ data: { contact, line } })
      const all = (await world.get('/v3/verified-contacts')).body.data
      expect(all.line).toEqual(line)
      expect(all.contacts[0]).toEqual(contact)
    })

    it('pending, inbound message to the shared line: verified', async () => {
      const number = fresh()
      const { created_at } = (await register(number)).body.data.contact
      await world.advance(1000)
      await write(number, LINE)
      expect(await statusOf(number), 'a message to another line').toBe('pending')
      await write(number)
      const { contact } = (await retrieve(number)).body.data
      expect(contact).toMatchObject({ verified: true, verification_status: 'verified', created_at })
      expect(contact.updated_at > created_at).toBe(true)
      const again = contact.updated_at
      await write(number)
      expect((await retrieve(number)).body.data.contact.updated_at, 'only the first one').toBe(again)
    })

    it('any service verifies', async () => {
      await register(BOB)
      await write(BOB)
      expect(await statusOf(BOB)).toBe('verified')
    })

    it('any, POST, already verified: verified, without instructions', async () => {
      const number = fresh()
      await register(number)
      await write(number)
      const reply = await register(number)
      expect(reply.body.data).toMatchObject({
        contact: { verification_status: 'verified' },
        verification_instructions: null,
      })
      const unasked = fresh()
      await write(unasked)
      expect((await register(unasked)).body.data).toMatchObject({
        contact: { verified: true },
        verification_instructions: null,
      })
    })

    it('POST again while pending: the same record', async () => {
      const number = fresh()
      const first = await register(number)
      await world.advance(1000)
      expect((await register(number)).body).toEqual(first.body)
      expect(
        (await world.get('/v3/verified-contacts')).body.data.contacts.filter(
          (contact: Json) => contact.phone_number === number,
        ),
      ).toHaveLength(1)
    })
  })

  it.each([
    ['(415) 555-2671', '+14155552671'],
    ['415-555-2672', '+14155552672'],
    ['4155552673', '+14155552673'],
    ['1 415 555 2674', '+14155552674'],
    ['+14155552675', '+14155552675'],
    ['+44 20 7946 0002', '+442079460002'],
  ])('takes %s', async (given, number) => {
    expect((await register(given)).body.data.contact.phone_number).toBe(number)
    expect((await retrieve(encodeURIComponent(given))).body.data.contact.phone_number).toBe(number)
  })

  it.each([
    ['(415) 555-2671 ext. 5'],
    ['911'],
    ['415'],
    ['+0123'],
    ['x'],
    [''],
    ['1-800-FLOWERS'],
    [42],
    [null],
    [['+14155552671']],
    ['7946 0002'],
  ])('refuses %j', async (given) => {
    const reply = await register(given)
    expect(reply.status).toBe(400)
    expect(reply.body.error.code).toBe('invalid')
    expect(reply.body.error.message).toContain('phone_number')
  })

  it('refuses the shared line itself', async () => {
    expect((await register(SHARED_LINE)).status).toBe(400)
  })

  it('404 for one that is not there, in the /v3 shape, also when another account has it', async () => {
    const other = await world.addAccount('v404@example.com', '+12025550171')
    const number = fresh()
    await register(number)
    const absent = await retrieve('+12025550187', other.live)
    expect([absent.status, absent.body.error.code]).toEqual([404, 'not_found'])
    const foreign = await retrieve(number, other.live)
    expect(foreign.status).toBe(404)
    expect(JSON.stringify(foreign.body).replace(number, '')).toBe(
      JSON.stringify(absent.body).replace('+12025550187', ''),
    )
    expect((await world.get('/v3/verified-contacts', other.live)).body.data).toEqual({
      contacts: [],
      line: null,
    })
  })

  it('an account without a shared line gets null for the line, and verifies when it has one', async () => {
    const other = await world.addAccount('noline@example.com', '+12025550172')
    const number = fresh()
    const reply = await register(number, other.live)
    expect(reply.body.data).toMatchObject({ contact: { verified: false }, line: null })
    expect(reply.body.data.verification_instructions).toContain('no shared line')
    const line = { account_id: other.id, number: '+12025550195', kind: 'shared' }
    expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
    await world.settle()
    await world.text(number, 'Hi', { to: line.number }, other.live)
    await world.advance(1000)
    expect((await retrieve(number, other.live)).body.data).toMatchObject({
      contact: { verified: true },
      line: { phone_number: line.number, type: 'shared' },
    })
  })

  it('a repeat with the same Idempotency-Key answers like the first time', async () => {
    const number = fresh()
    const key = { 'idempotency-key': 'verified-1' }
    const first = await register(number, undefined, key)
    await write(number)
    const again = await register(number, undefined, key)
    expect(again.headers['x-idempotent-replay']).toBe('true')
    expect(again.body).toEqual(first.body)
  })

  it('serves the command line: shared-contacts and verify-contact-on-shared-account', async () => {
    const number = fresh()
    const made = await world.post('/accounts/verify-contact-on-shared-account', { recipient: number })
    expect(made.status).toBe(200)
    expect(made.body).toEqual({
      status: 'OK',
      route: { id: expect.any(Number), number, verified: false, createdAt: expect.stringMatching(/Z$/) },
    })
    await write(number)
    const { body } = await world.get('/accounts/shared-contacts')
    expect(body).toMatchObject({ status: 'OK', sharedNumber: SHARED_LINE })
    expect(body.contacts[0]).toEqual({ ...made.body.route, verified: true })
    const bad = await world.post('/accounts/verify-contact-on-shared-account', { recipient: 'x' })
    expect([bad.status, bad.body.status]).toEqual([400, 'ERROR'])
    expect(bad.body.message).toContain('recipient')
  })

  describe('a shared line of several accounts', () => {
    let other: Awaited<ReturnType<World['addAccount']>>
    beforeAll(async () => {
      other = await world.addAccount('second@example.com', '+12025550173')
      const lines = (await world.get('/admin/lines', 'admin')).body.data
      const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
      await world.post(`/admin/lines/${shared.id}/members`, { account_id: other.id }, 'admin')
      await world.settle()
    })
    const received = async (number: string) => {
      const of = async (as: Who) =>
        (
          await world.get(`/api/v2/messages?is_outbound=false&number=${encodeURIComponent(number)}`, as)
        ).body.data.map((message: Json) => message.content)
      return { first: await of('live'), second: await of(other.live) }
    }

    it('brings a message to the account that registered the sender', async () => {
      const number = fresh()
      await register(number, other.live)
      await write(number, SHARED_LINE, 'for the second')
      expect(await received(number)).toEqual({ first: [], second: ['for the second'] })
      expect(await statusOf(number, other.live)).toBe('verified')
      expect((await retrieve(number)).status).toBe(404)
    })

    it('to all that registered, then to the account that wrote last', async () => {
      const number = fresh()
      await register(number)
      await world.advance(1000)
      await register(number, other.live)
      await write(number, SHARED_LINE, 'one')
      expect(await received(number)).toEqual({ first: ['one'], second: ['one'] })
      expect([await statusOf(number), await statusOf(number, other.live)]).toEqual(['verified', 'verified'])
      await world.send({ from_number: SHARED_LINE, number })
      await world.advance(1000)
      await register(number, other.live)
      await write(number, SHARED_LINE, 'two')
      expect(await received(number)).toEqual({ first: ['two', 'one'], second: ['one'] })
    })

    it("a stranger's message is nobody's, and verifies for who registers it within minutes", async () => {
      const [soon, late] = [fresh(), fresh()]
      await write(soon, SHARED_LINE, 'too early')
      await write(late, SHARED_LINE, 'far too early')
      expect(await received(soon)).toEqual({ first: [], second: [] })
      expect((await register(soon, other.live)).body.data.contact.verification_status).toBe('verified')
      expect((await register(soon)).body.data.contact.verification_status, 'it counts once').toBe('pending')
      await world.advance(11 * 60_000)
      expect((await register(late)).body.data.contact.verification_status).toBe('pending')
    })

    it('POST and the message at the same moment end verified', async () => {
      for (let i = 0; i < 10; i++) {
        const number = fresh()
        await Promise.all([
          register(number, i % 2 ? other.live : 'live'),
          world.text(number, 'Hi', { to: SHARED_LINE }),
        ])
        await world.advance(1000)
        expect(await statusOf(number, i % 2 ? other.live : 'live')).toBe('verified')
      }
    })
  })

  it.runIf(engine === 'postgres')(
    'a message and a POST whose transactions overlap see each other',
    async () => {
      const { ctx } = world.app
      const number = fresh()
      const now = ctx.clock.now()
      const line = (await listLines(ctx.db)).find(
        (one) => one.number === SHARED_LINE && one.network === 'live',
      )!
      const [, account] = await listLineMembers(ctx.db, line.id)
      let commit = () => {}
      const held = new Promise<void>((resolve) => {
        commit = resolve
      })
      const asked = new Promise<void>((resolve) => {
        void ctx.db.tx(async (sql) => {
          await askOnShared(sql, account!, line, number, now)
          resolve()
          await held
        })
      })
      await asked
      const routed = ctx.db.tx((sql) => routeTo(sql, line, number, now))
      // Until it waits for the other one.
      await expect
        .poll(
          async () =>
            (await ctx.db.all("select 1 from pg_stat_activity where wait_event_type = 'Lock'")).length,
        )
        .toBeGreaterThan(0)
      commit()
      expect(await routed).toEqual([account])
    },
  )

  describe('the free plan', () => {
    let free: { id: string; secret: string }
    const line = '+12025550196'
    beforeAll(async () => {
      const account = (
        await world.post('/admin/accounts', { email: 'free@example.com', plan: 'free' }, 'admin')
      ).body
      free = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
      await world.post('/admin/lines', { account_id: account.id, number: line, kind: 'shared' }, 'admin')
      await world.settle()
    })
    const send = (number: string) =>
      world.post('/api/send-message', { from_number: line, number, content: 'Hello' }, free)

    it('refuses a recipient that is not verified with a clear 403, and sends nothing', async () => {
      const number = fresh()
      const reply = await send(number)
      expect(reply.status).toBe(403)
      expect(reply.body).toMatchObject({ status: 'ERROR', error_message: reply.body.message })
      expect(reply.body.message).toContain('not a verified contact')
      expect(reply.body.message).toContain(line)
      expect(reply.headers['x-should-retry']).toBe('false')
      await register(number, free)
      expect((await send(number)).status, 'pending is not enough').toBe(403)
      await world.advance(1000)
      expect(await world.inbox(number, free)).toEqual([])
      expect((await world.get('/api/v2/messages', free)).body.pagination.total).toBe(0)
    })

    it('sends once the contact has written to the line', async () => {
      const number = fresh()
      await register(number, free)
      await world.text(number, 'Hi', { to: line }, free)
      await world.advance(1000)
      expect((await send(number)).status).toBe(202)
      await world.advance(1000)
      expect((await world.inbox(number, free)).map((message) => message.content)).toEqual(['Hello'])
    })

    it('verifying a contact sends the message and finishes only when the contact texts the line', async () => {
      const number = fresh()
      await world.post('/api/v2/contacts', { number }, free)
      expect((await world.post('/api/v2/contacts/verify', { number }, free)).status).toBe(200)
      await world.advance(1000)
      expect(await world.inbox(number, free)).toMatchObject([{ line }])
      const verified = async () => (await world.get(`/api/v2/contacts/${number}`, free)).body.contact.verified
      expect(await verified()).toBe(false)
      expect((await send(number)).status).toBe(403)
      await world.text(number, 'Yes', { to: line }, free)
      await world.advance(1000)
      expect(await verified()).toBe(true)
      expect((await send(number)).status).toBe(202)
    })

    it('other plans send to anybody', async () => {
      expect((await world.send({ number: ADA })).status).toBe('QUEUED')
    })
  })
})
