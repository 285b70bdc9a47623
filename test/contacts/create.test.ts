import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, LINE, SHARED_LINE, type World } from '../support/world.js'
import { contactsIn, fresh } from './support.js'

describe.each(ENGINES)('contacts on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { create, get, count, list, labels } = contactsIn(() => world)

  describe('create', () => {
    it('answers with the contact in both spellings, and reads back the same', async () => {
      const number = fresh()
      const fields = {
        first_name: 'Ada',
        last_name: 'Lovelace',
        company_name: 'Analytical Engines',
        assigned_to_email: 'agent@example.com',
        sendblue_number: LINE,
        tags: ['vip', 'vip', 'math'],
        custom_variables: { 'Favourite engine': 'Difference No. 2' },
      }
      const reply = await create({ number, ...fields })
      expect(reply.status).toBe(200)
      expect(reply.body.status).toBe('OK')
      const { contact } = reply.body
      expect(contact).toEqual({
        ...fields,
        tags: ['vip', 'math'],
        contact_id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
        phone: number,
        verified: false,
        opt_out: false,
        created_at: '2026-03-01T12:00:00.000Z',
        updated_at: '2026-03-01T12:00:00.000Z',
        firstName: 'Ada',
        lastName: 'Lovelace',
        companyName: 'Analytical Engines',
        assignedToEmail: 'agent@example.com',
        sendblueNumber: LINE,
        customVariables: fields.custom_variables,
        optOut: false,
        createdAt: contact.created_at,
        updatedAt: contact.updated_at,
      })
      expect(await get(number)).toEqual(contact)
      expect(await list(`phone_number=${number}`)).toEqual([contact])
      expect(await list(`cid=${contact.contact_id}`)).toEqual([contact])
      expect(await labels()).toContain('Favourite engine')
    })

    it('writes contact.created to the log, once', async () => {
      const number = fresh()
      const { contact } = (await create({ number, first_name: 'Log' })).body
      await create({ number, first_name: 'Log 2', update_if_exists: true })
      const events = (await world.events()).filter((event) => event.subject === contact.contact_id)
      expect(events).toMatchObject([
        {
          type: 'contact.created',
          data: { phone: number, firstName: 'Log', lastName: '' },
        },
      ])
      expect(events[0].at).toBe(Date.parse(contact.created_at))
    })

    it("has empty names, no line, and the account's own company without the fields", async () => {
      expect((await create({ number: fresh() })).body.contact).toMatchObject({
        first_name: '',
        last_name: '',
        company_name: 'Default world',
        assigned_to_email: null,
        sendblue_number: null,
        tags: [],
        custom_variables: {},
      })
    })

    it.each([
      ['phone_number', 'firstName', 'lastName', 'assignedToEmail', 'sendblueNumber'],
      ['phoneNumber', 'firstName', 'lastName', 'assignedToEmail', 'sendblueNumber'],
    ])('accepts the older names (%s)', async (number, first, last, email, line) => {
      const phone = fresh()
      const body = { [number]: phone, [first]: 'A', [last]: 'B', [email]: 'a@b.c', [line]: SHARED_LINE }
      expect((await create(body)).body.contact).toMatchObject({
        phone,
        first_name: 'A',
        last_name: 'B',
        assigned_to_email: 'a@b.c',
        sendblue_number: SHARED_LINE,
      })
    })

    it('takes the current name when both are given', async () => {
      const number = fresh()
      const reply = await create({ number, phoneNumber: fresh(), first_name: 'New', firstName: 'Old' })
      expect(reply.body.contact).toMatchObject({ phone: number, first_name: 'New' })
    })

    it('refuses a duplicate with 409, "Contact already exists" and no retry', async () => {
      const number = fresh()
      await create({ number, first_name: 'First' })
      const reply = await create({ number, first_name: 'Second' })
      expect(reply.status).toBe(409)
      expect(reply.body).toEqual({ status: 'ERROR', message: 'Contact already exists' })
      expect(reply.headers['x-should-retry']).toBe('false')
      expect((await get(number)).first_name).toBe('First')
    })

    it('updates an existing contact with update_if_exists: fields replace, variables merge', async () => {
      const number = fresh()
      const first = (
        await create({ number, first_name: 'A', tags: ['a'], custom_variables: { x: '1', y: '1' } })
      ).body.contact
      const before = await count()
      const body = {
        number,
        last_name: 'B',
        tags: ['b'],
        custom_variables: { y: '2' },
        update_if_exists: true,
      }
      const reply = await create(body)
      expect(reply.status).toBe(200)
      expect(reply.body.contact).toMatchObject({
        contact_id: first.contact_id,
        first_name: 'A',
        last_name: 'B',
        tags: ['b'],
        custom_variables: { x: '1', y: '2' },
      })
      expect(await count()).toBe(before)
      const made = (await create({ number: fresh(), update_if_exists: true })).body.contact
      expect(made.contact_id).not.toBe(first.contact_id)
      expect(await count()).toBe(before + 1)
    })

    it('says "Missing fields" without a number and "Invalid phone number" with a bad one', async () => {
      for (const body of [{}, { number: null }, { number: '' }, { first_name: 'x' }]) {
        const reply = await create(body)
        expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
        expect(reply.body.message).toContain('Missing fields')
      }
      for (const number of ['2025550101', '+0123456789', 'Ada', '+120255', '+12025550101,+12025550102']) {
        const reply = await create({ number })
        expect([reply.status, number]).toEqual([400, number])
        expect(reply.body.message).toContain('Invalid phone number')
      }
    })

    it('refuses a sendblue_number that is no line of the account, as it refuses an unknown one', async () => {
      const b = await world.addAccount('lines@example.com', '+12025550151')
      const ask = async (sendblue_number: string) => {
        const reply = await create({ number: fresh(), sendblue_number })
        return [reply.status, reply.body.message.replace(sendblue_number, '<asked>')]
      }
      const answer = await ask('+12025550159')
      expect(answer[0]).toBe(400)
      expect(answer[1]).toContain('sendblue_number')
      expect(await ask('+12025550151')).toEqual(answer)
      const own = await world.post(
        '/api/v2/contacts',
        { number: ADA, sendblue_number: '+12025550151' },
        b.live,
      )
      expect(own.status).toBe(200)
    })

    it('works under its first path, with 201, id and number', async () => {
      const number = fresh()
      const reply = await world.post('/api/contacts', {
        number,
        firstName: 'V',
        lastName: 'One',
        companyName: 'Old Co',
        tags: ['t'],
      })
      expect(reply.status).toBe(201)
      expect(reply.body).toMatchObject({
        status: 'OK',
        contact: {
          number,
          phone: number,
          firstName: 'V',
          last_name: 'One',
          companyName: 'Old Co',
          tags: ['t'],
        },
      })
      expect(reply.body.contact.id).toBe((await get(number)).contact_id)
      expect((await world.post('/api/contacts', { number })).status).toBe(409)
    })

    it('makes one of two at once, and the other hears of it', async () => {
      const number = fresh()
      const before = await count()
      const replies = await Promise.all(
        Array.from({ length: 6 }, (_, i) => create({ number, first_name: `${i}` })),
      )
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409, 409, 409, 409, 409])
      expect(await count()).toBe(before + 1)
      const updates = await Promise.all(
        Array.from({ length: 6 }, (_, i) =>
          create({ number, custom_variables: { [`v${i}`]: `${i}` }, update_if_exists: true }),
        ),
      )
      expect(updates.every((reply) => reply.status === 200)).toBe(true)
      expect(Object.keys((await get(number)).custom_variables).sort()).toEqual([
        'v0',
        'v1',
        'v2',
        'v3',
        'v4',
        'v5',
      ])
    })

    it('answers a repeat with the same Idempotency-Key, and a retry of the SDK, like the first time', async () => {
      const number = fresh()
      const key = { 'idempotency-key': `create-${number}` }
      const first = await create({ number }, key)
      const again = await create({ number }, key)
      expect(again.status).toBe(200)
      expect(again.headers['x-idempotent-replay']).toBe('true')
      expect(again.body).toEqual(first.body)
      expect((await create({ number: fresh() }, key)).status).toBe(422)
      const other = fresh()
      await create({ number: other })
      expect((await create({ number: other }, { 'x-stainless-retry-count': '1' })).status).toBe(200)
      expect((await create({ number: other })).status).toBe(409)
    })
  })
})
