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
  type World,
} from './support/world.js'

const NOBODY = '+12025550188'
const path = (phone: string) => `/api/v2/contacts/${phone}`
/** Numbers nobody else in this file uses. */
let used = 0
const fresh = () => `+1303555${String(1000 + used++).padStart(4, '0')}`

describe.each(ENGINES)('contacts on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const create = (body: Json, headers?: Record<string, string>) =>
    world.post('/api/v2/contacts', body, undefined, headers)
  const get = async (phone: string) => (await world.get(path(phone))).body.contact
  const put = (phone: string, body: Json) => world.call('PUT', path(phone), { body })
  const bulk = (contacts: Json, headers?: Record<string, string>) =>
    world.post('/api/v2/contacts/bulk', { contacts }, undefined, headers)
  const count = async () => (await world.get('/api/v2/contacts/count')).body.count
  const list = async (query = '') => (await world.get(`/api/v2/contacts?${query}`)).body
  const labels = async () =>
    (await world.app.ctx.db.all<{ label: string }>('select label from contact_labels order by label')).map(
      (row) => row.label,
    )

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
      expect(made.contact_id).toBeTruthy()
    })

    it('says "Missing fields" without a number and "Invalid phone number" with a bad one', async () => {
      for (const body of [{}, { number: null }, { number: '' }, { first_name: 'x' }]) {
        const reply = await create(body)
        expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
        expect(reply.body.message).toContain('Missing fields')
      }
      for (const number of ['2025550101', '+0123456789', 'Ada', '+1202555010', '+12025550101,+12025550102']) {
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

  describe('get, put and delete', () => {
    it('finds it by + , %2B and a space', async () => {
      const number = fresh()
      await create({ number })
      for (const form of [number, `%2B${number.slice(1)}`, `%20${number.slice(1)}`]) {
        expect((await world.get(path(form))).body.contact.phone).toBe(number)
      }
    })

    it('merges custom variables and replaces the other given fields', async () => {
      const number = fresh()
      await create({
        number,
        first_name: 'A',
        last_name: 'B',
        tags: ['x'],
        custom_variables: { a: '1', b: '1' },
      })
      await world.advance(1000)
      const reply = await put(number, { first_name: 'C', custom_variables: { b: '2', 'New label': '3' } })
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        status: 'OK',
        contact: {
          first_name: 'C',
          last_name: 'B',
          tags: ['x'],
          custom_variables: { a: '1', b: '2', 'New label': '3' },
        },
      })
      expect(reply.body.contact.updated_at > reply.body.contact.created_at).toBe(true)
      expect(await get(number)).toEqual(reply.body.contact)
      expect(await labels()).toContain('New label')
    })

    it('accepts the older names, and empty texts clear', async () => {
      const number = fresh()
      await create({ number, assigned_to_email: 'x@example.com', sendblue_number: LINE })
      const older = { firstName: 'A', lastName: 'B', companyName: 'C', assignedToEmail: 'y@example.com' }
      expect((await put(number, { ...older, sendblueNumber: SHARED_LINE })).body.contact).toMatchObject({
        first_name: 'A',
        last_name: 'B',
        company_name: 'C',
        assigned_to_email: 'y@example.com',
        sendblue_number: SHARED_LINE,
      })
      const cleared = await put(number, {
        assigned_to_email: '',
        sendblue_number: '',
        tags: [],
        first_name: '',
      })
      expect(cleared.body.contact).toMatchObject({
        assigned_to_email: null,
        sendblue_number: null,
        first_name: '',
        last_name: 'B',
      })
    })

    it('keeps every variable that writers at the same time give', async () => {
      const number = fresh()
      await create({ number })
      await Promise.all(
        Array.from({ length: 8 }, (_, i) => put(number, { custom_variables: { [`k${i}`]: 'v' } })),
      )
      expect(Object.keys((await get(number)).custom_variables)).toHaveLength(8)
    })

    it('deletes it; its id is never used again', async () => {
      const number = fresh()
      const { contact_id } = (await create({ number })).body.contact
      const before = await count()
      expect((await world.call('DELETE', path(number))).body).toEqual({ status: 'OK' })
      expect((await world.get(path(number))).status).toBe(404)
      expect((await world.call('DELETE', path(number))).status).toBe(404)
      expect((await put(number, { first_name: 'x' })).status).toBe(404)
      expect(await count()).toBe(before - 1)
      expect((await create({ number })).body.contact.contact_id).not.toBe(contact_id)
    })

    it('answers 404 for a number that is no contact and 400 for what is no number', async () => {
      const missing = await world.get(path(NOBODY))
      expect(missing.status).toBe(404)
      expect(missing.body).toEqual({ status: 'ERROR', message: `There is no contact ${NOBODY}` })
      for (const bad of ['x', '*', "'%20or%201=1", '%25', '2025550101']) {
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const reply = await world.call(method, path(bad), method === 'PUT' ? { body: {} } : {})
          expect([method, bad, reply.status]).toEqual([method, bad, 400])
        }
      }
    })
  })

  describe('opt-out', () => {
    const optOut = (body: Json, headers?: Record<string, string>) =>
      world.post('/api/v2/contacts/opt-out', body, undefined, headers)

    it('stops messages to the number, and lets them through again', async () => {
      await create({ number: BOB, update_if_exists: true })
      expect((await optOut({ number: '+1 (202) 555-0102' })).body).toEqual({
        status: 'OK',
        number: BOB,
        opted_out: true,
      })
      expect((await get(BOB)).opt_out).toBe(true)
      expect(await world.send({ number: BOB })).toMatchObject({
        status: 'ERROR',
        error_code: 4002,
        opted_out: true,
      })
      expect((await optOut({ number: BOB, opted_out: false })).body.opted_out).toBe(false)
      expect(await world.send({ number: BOB })).toMatchObject({ status: 'QUEUED' })
    })

    it('is the same record that the word STOP writes, whoever sets it', async () => {
      await create({ number: CLEO, update_if_exists: true })
      await world.text(CLEO, 'STOP')
      await world.advance(1000)
      expect((await get(CLEO)).opt_out).toBe(true)
      expect((await list(`phone_number=${CLEO}`))[0].opt_out).toBe(true)
      expect((await put(CLEO, { opt_out: false })).body.contact.opt_out).toBe(false)
      expect(await world.send({ number: CLEO })).toMatchObject({ status: 'QUEUED' })
      expect((await put(CLEO, { optOut: true })).body.contact.optOut).toBe(true)
      expect(await world.send({ number: CLEO })).toMatchObject({ status: 'ERROR', error_code: 4002 })
      await world.text(CLEO, 'START')
      await world.advance(1000)
      expect((await get(CLEO)).opt_out).toBe(false)
    })

    it('needs no contact, and outlives one', async () => {
      const number = fresh()
      expect((await optOut({ number })).status).toBe(200)
      expect((await create({ number })).body.contact.opt_out).toBe(true)
      await world.call('DELETE', path(number))
      expect((await create({ number })).body.contact.opt_out).toBe(true)
    })

    it('answers a repeat like the first time', async () => {
      const number = fresh()
      const key = { 'idempotency-key': 'opt-out-1' }
      await optOut({ number }, key)
      await optOut({ number, opted_out: false })
      expect((await optOut({ number }, key)).body.opted_out).toBe(true)
      expect((await create({ number })).body.contact.opt_out).toBe(false)
    })
  })

  describe('verify', () => {
    const verify = (number: string, headers?: Record<string, string>) =>
      world.post('/api/v2/contacts/verify', { number }, undefined, headers)

    it('sends a message from the first line, and the answer verifies the contact', async () => {
      await create({ number: ADA, update_if_exists: true })
      const before = (await world.inbox(ADA)).length
      const reply = await verify(ADA)
      expect([reply.status, reply.body]).toEqual([200, { status: 'OK' }])
      await world.advance(1000)
      const shown = (await world.inbox(ADA)).slice(before)
      expect(shown).toMatchObject([{ line: LINE, content: expect.stringContaining('Please answer') }])
      expect((await get(ADA)).verified).toBe(false)
      await world.text(ADA, 'It is me', { to: LINE })
      await world.advance(1000)
      expect((await get(ADA)).verified).toBe(true)
      expect((await list(`phone_number=${ADA}`))[0].verified).toBe(true)
    })

    it("sends from the contact's own line", async () => {
      const number = fresh()
      await create({ number, sendblue_number: SHARED_LINE })
      await verify(number)
      await world.advance(1000)
      expect(await world.inbox(number)).toMatchObject([{ line: SHARED_LINE }])
      await world.text(number, 'Yes', { to: LINE })
      await world.advance(1000)
      expect((await get(number)).verified, 'another line').toBe(false)
      await world.text(number, 'Yes', { to: SHARED_LINE })
      await world.advance(1000)
      expect((await get(number)).verified).toBe(true)
    })

    it('sends once for a repeat with the same key', async () => {
      const number = fresh()
      await create({ number })
      const key = { 'idempotency-key': 'verify-1' }
      await Promise.all([verify(number, key), verify(number, key)])
      await verify(number, key)
      await world.advance(1000)
      expect(await world.inbox(number)).toHaveLength(1)
    })

    it('refuses what is no contact, has opted out, or is no number', async () => {
      expect((await verify(NOBODY)).status).toBe(404)
      const number = fresh()
      await create({ number })
      await put(number, { opt_out: true })
      expect((await verify(number)).status).toBe(403)
      const bad = await verify('nonsense')
      expect(bad.status).toBe(400)
      expect(bad.body.message).toContain('Invalid phone number')
    })
  })

  describe('bulk', () => {
    it('makes all rows in their order, with events, labels and the count', async () => {
      const phones = Array.from({ length: 50 }, fresh)
      const before = await count()
      const seen = (await world.events()).length
      const reply = await bulk(
        phones.map((phone, i) => ({ phone, first_name: `Bulk ${i}`, custom_variables: { Row: `${i}` } })),
      )
      expect(reply.status).toBe(200)
      expect(reply.body.status).toBe('OK')
      expect(reply.body.contacts.map((contact: Json) => contact.phone)).toEqual(phones)
      expect(await count()).toBe(before + 50)
      const events = (await world.events()).slice(seen)
      expect(events.map((event) => [event.type, event.data.phone])).toEqual(
        phones.map((phone) => ['contact.created', phone]),
      )
      expect(await get(phones[7]!)).toEqual(reply.body.contacts[7])
      expect(await labels()).toContain('Row')
    })

    it('a bad row: nothing is stored, and the row is named', async () => {
      const phones = [fresh(), fresh()]
      const before = await count()
      const rows = (bad: Json) => [{ phone: phones[0] }, bad, { phone: phones[1] }]
      for (const [bad, name] of [
        [{ phone: 'nonsense' }, 'contacts.1.phone: Invalid phone number'],
        [{ phone: 7 }, 'contacts.1.phone'],
        [{}, 'contacts.1.phone'],
        [null, 'contacts.1'],
        ['x', 'contacts.1'],
        [{ phone: fresh(), tags: [null] }, 'contacts.1.tags.0'],
        [{ phone: fresh(), custom_variables: { a: 1 } }, 'contacts.1.custom_variables.a'],
        [{ phone: fresh(), sendblue_number: '+12025550159' }, 'contacts.1.sendblue_number'],
        [{ phone: fresh(), first_name: 'x'.repeat(201) }, 'contacts.1.first_name'],
      ] as const) {
        const reply = await bulk(rows(bad))
        expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
        expect(reply.body.message).toContain(name)
      }
      expect(await count()).toBe(before)
      expect((await world.get(path(phones[0]!))).status).toBe(404)
    })

    it('the same phone twice: the later row wins, field by field', async () => {
      const phone = fresh()
      const before = await count()
      const reply = await bulk([
        { phone, first_name: 'Early', last_name: 'Kept', custom_variables: { a: '1' } },
        { phone: fresh() },
        { phone: `+1 ${phone.slice(2)}`, first_name: 'Late', custom_variables: { b: '2' } },
      ])
      expect(reply.body.contacts).toHaveLength(2)
      expect(reply.body.contacts[0]).toMatchObject({
        phone,
        first_name: 'Late',
        last_name: 'Kept',
        custom_variables: { a: '1', b: '2' },
      })
      expect(await count()).toBe(before + 2)
    })

    it('a number that is a contact already is changed', async () => {
      const phone = fresh()
      const { contact_id } = (await create({ number: phone, first_name: 'A', custom_variables: { a: '1' } }))
        .body.contact
      const [contact] = (await bulk([{ phone, last_name: 'B', custom_variables: { b: '2' } }])).body.contacts
      expect(contact).toMatchObject({
        contact_id,
        first_name: 'A',
        last_name: 'B',
        custom_variables: { a: '1', b: '2' },
      })
    })

    it('accepts older names in rows', async () => {
      const phone = fresh()
      const reply = await bulk([{ phoneNumber: phone, firstName: 'F', companyName: 'C', lastName: null }])
      expect(reply.body.contacts).toMatchObject([
        { phone, first_name: 'F', company_name: 'C', last_name: '' },
      ])
    })

    it('a repeat with the same key has one effect and the same answer', async () => {
      const rows = [{ phone: fresh() }, { phone: fresh() }]
      const key = { 'idempotency-key': 'bulk-1' }
      const first = await bulk(rows, key)
      const seen = (await world.events()).length
      const again = await bulk(rows, key)
      expect(again.headers['x-idempotent-replay']).toBe('true')
      expect(again.body).toEqual(first.body)
      expect((await world.events()).length).toBe(seen)
    })

    it('calls at the same time with the same phones in other orders make each once', async () => {
      const phones = Array.from({ length: 30 }, fresh)
      const before = await count()
      const orders = [phones, [...phones].reverse(), [...phones.slice(15), ...phones.slice(0, 15)]]
      const replies = await Promise.all(orders.map((order) => bulk(order.map((phone) => ({ phone })))))
      expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200])
      expect(await count()).toBe(before + 30)
    })

    it('takes no rows, and 10,000, and no more', async () => {
      expect((await bulk([])).body).toEqual({ status: 'OK', contacts: [] })
      const rows = Array.from({ length: 10_001 }, (_, i) => ({ phone: `+1404${2_000_000 + i}` }))
      expect((await bulk(rows)).status).toBe(400)
      const before = await count()
      const reply = await bulk(rows.slice(1))
      expect(reply.status).toBe(200)
      expect(reply.body.contacts).toHaveLength(10_000)
      expect(await count()).toBe(before + 10_000)
      const phones = rows.slice(1).map((row) => row.phone)
      const gone = await world.call('DELETE', '/api/v2/contacts', { body: { contact_ids: phones } })
      expect(gone.body.amount).toBe(10_000)
      expect(await count()).toBe(before)
    })

    it('takes 8 MiB and not more', async () => {
      const row = () => ({ phone: fresh(), custom_variables: { Note: 'x'.repeat(4990) } })
      expect((await bulk(Array.from({ length: 400 }, row))).status, '2 MB').toBe(200)
      const rows = Array.from({ length: 1700 }, row)
      expect((await bulk(rows)).status, 'over 8 MiB').toBe(413)
    })
  })

  describe('bulk delete', () => {
    it('deletes by phone and by contact_id, and counts only what was there', async () => {
      const phones = [fresh(), fresh(), fresh()]
      const { contacts } = (await bulk(phones.map((phone) => ({ phone })))).body
      const before = await count()
      const contact_ids = [phones[0], phones[0], contacts[1].contact_id, NOBODY]
      const reply = await world.call('DELETE', '/api/v2/contacts', { body: { contact_ids } })
      expect(reply.body).toEqual({ status: 'OK', amount: 2 })
      expect(await count()).toBe(before - 2)
      expect((await world.get(path(phones[2]!))).status).toBe(200)
    })

    it('refuses what is neither, and deletes nothing then', async () => {
      const phone = fresh()
      await create({ number: phone })
      for (const contact_ids of [[phone, 'x'], [phone, null], phone, undefined, null]) {
        const reply = await world.call('DELETE', '/api/v2/contacts', { body: { contact_ids } })
        expect([contact_ids, reply.status]).toEqual([contact_ids, 400])
      }
      expect((await world.call('DELETE', '/api/v2/contacts')).status).toBe(400)
      expect((await world.get(path(phone))).status).toBe(200)
      expect(
        (await world.call('DELETE', '/api/v2/contacts', { body: { contact_ids: [] } })).body.amount,
      ).toBe(0)
    })
  })
})
