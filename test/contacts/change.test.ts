import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
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
} from '../support/world.js'
import { contactsIn, fresh, NOBODY, pathOf } from './support.js'

describe.each(ENGINES)('contacts on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { create, get, put, bulk, count, list, labels } = contactsIn(() => world)

  describe('get, put and delete', () => {
    it('finds it by + , %2B and a space', async () => {
      const number = fresh()
      await create({ number })
      for (const form of [number, `%2B${number.slice(1)}`, `%20${number.slice(1)}`]) {
        expect((await world.get(pathOf(form))).body.contact.phone).toBe(number)
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

    it('a contact of a line that was taken away can be written back as it was read', async () => {
      const gone = '+12025550163'
      const accounts = (await world.get('/admin/accounts', 'admin')).body.data
      const { id: account_id } = accounts.find((one: Json) => one.email === DEFAULT_WORLD.email)
      const line = (await world.post('/admin/lines', { account_id, number: gone }, 'admin')).body
      await world.settle()
      const [number, other] = [fresh(), fresh()]
      await create({ number, sendblue_number: gone })
      await create({ number: other })
      await world.call('DELETE', `/admin/lines/${line.id}`, { as: 'admin' })
      const asRead = { first_name: 'Again', sendblue_number: gone }
      expect((await put(number, asRead)).body.contact).toMatchObject(asRead)
      expect((await create({ number, ...asRead, update_if_exists: true })).body.contact).toMatchObject(asRead)
      expect((await bulk([{ phone: number, ...asRead }])).body.contacts).toMatchObject([asRead])
      const refusals = [
        await put(other, asRead),
        await create({ number: other, ...asRead, update_if_exists: true }),
        await create({ number: fresh(), ...asRead }),
        await bulk([
          { phone: number, sendblue_number: LINE },
          { phone: number, ...asRead },
        ]),
      ]
      for (const { status, body } of refusals)
        expect([status, body.message]).toEqual([
          400,
          expect.stringContaining('is not a line of this account'),
        ])
      await put(number, { sendblue_number: LINE })
      expect((await put(number, asRead)).status, 'once left, it is no line to choose').toBe(400)
    })

    it('a confined token claims nobody for a line it is not for, not even for the line they wrote to', async () => {
      const number = fresh()
      await world.text(number, 'Hi', { to: LINE })
      await world.settle()
      const token = (await world.post('/v3/auth/tokens', { phone_number: SHARED_LINE })).body
      const reply = await world.post('/api/v2/contacts', { number, sendblue_number: LINE }, token)
      expect(reply.status).toBe(400)
    })

    it('keeps every variable that writers at the same time give', async () => {
      const number = fresh()
      await create({ number })
      await Promise.all(
        Array.from({ length: 8 }, (_, i) => put(number, { custom_variables: { [`k${i}`]: 'v' } })),
      )
      expect(Object.keys((await get(number)).custom_variables)).toHaveLength(8)
    })

    it('a label may be any word, also one that JavaScript has for itself', async () => {
      const number = fresh()
      const first = { constructor: 'Acme', prototype: 'P-1' }
      await create({ number, custom_variables: first })
      expect((await get(number)).custom_variables).toEqual(first)
      await put(number, { custom_variables: { constructor: 'Bolt', toString: 'x' } })
      const merged = { constructor: 'Bolt', prototype: 'P-1', toString: 'x' }
      expect((await get(number)).custom_variables).toEqual(merged)
      const row = { phone: fresh(), custom_variables: first }
      const { body } = await world.post('/api/v2/contacts/bulk', { contacts: [row] })
      expect(body.contacts[0].custom_variables).toEqual(first)
    })

    it('deletes it; its id is never used again', async () => {
      const number = fresh()
      const { contact_id } = (await create({ number })).body.contact
      const before = await count()
      expect((await world.call('DELETE', pathOf(number))).body).toEqual({ status: 'OK' })
      expect((await world.get(pathOf(number))).status).toBe(404)
      expect((await world.call('DELETE', pathOf(number))).status).toBe(404)
      expect((await put(number, { first_name: 'x' })).status).toBe(404)
      expect(await count()).toBe(before - 1)
      expect((await create({ number })).body.contact.contact_id).not.toBe(contact_id)
    })

    it('answers 404 for a number that is no contact and 400 for what is no number', async () => {
      const missing = await world.get(pathOf(NOBODY))
      expect(missing.status).toBe(404)
      expect(missing.body).toEqual({ status: 'ERROR', message: `There is no contact ${NOBODY}` })
      for (const bad of ['x', '*', "'%20or%201=1", '%25', '2025550101']) {
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const reply = await world.call(method, pathOf(bad), method === 'PUT' ? { body: {} } : {})
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
      await world.call('DELETE', pathOf(number))
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

    it('makes a number a contact that is none yet', async () => {
      const number = fresh()
      expect((await verify(number)).status).toBe(200)
      await world.advance(1000)
      expect(await get(number)).toMatchObject({ phone: number, sendblue_number: LINE, verified: false })
      expect((await world.inbox(number)).map((shown) => shown.line)).toEqual([LINE])
      await world.text(number, 'Yes', { to: LINE })
      await world.advance(1000)
      expect((await get(number)).verified).toBe(true)
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

    it('refuses what has opted out or is no number', async () => {
      const number = fresh()
      await create({ number })
      await put(number, { opt_out: true })
      expect((await verify(number)).status).toBe(403)
      const bad = await verify('nonsense')
      expect(bad.status).toBe(400)
      expect(bad.body.message).toContain('Invalid phone number')
    })
  })
})
