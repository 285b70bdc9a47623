import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'
import { contactsIn, fresh, NOBODY, pathOf } from './support.js'

describe.each(ENGINES)('contacts on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { create, get, bulk, count, labels } = contactsIn(() => world)

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
      expect((await world.get(pathOf(phones[0]!))).status).toBe(404)
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
      expect((await world.get(pathOf(phones[2]!))).status).toBe(200)
    })

    it('refuses what is neither, and deletes nothing then', async () => {
      const phone = fresh()
      await create({ number: phone })
      for (const contact_ids of [[phone, 'x'], [phone, null], phone, undefined, null]) {
        const reply = await world.call('DELETE', '/api/v2/contacts', { body: { contact_ids } })
        expect([contact_ids, reply.status]).toEqual([contact_ids, 400])
      }
      expect((await world.call('DELETE', '/api/v2/contacts')).status).toBe(400)
      expect((await world.get(pathOf(phone))).status).toBe(200)
      expect(
        (await world.call('DELETE', '/api/v2/contacts', { body: { contact_ids: [] } })).body.amount,
      ).toBe(0)
    })
  })
})
