import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, LINE, SHARED_LINE, type World } from '../support/world.js'

describe.each(ENGINES)("the published SDK's contacts on %s", (engine) => {
  let world: World
  let client: SendblueAPI
  beforeAll(async () => {
    world = await createWorld(engine)
    client = new SendblueAPI({
      baseURL: world.app.url(),
      apiKey: 'dev-live-key',
      apiSecret: 'dev-live-secret',
    })
  })
  afterAll(() => world.close())

  it('creates, retrieves, updates, lists, counts and deletes', async () => {
    const created = await client.contacts.create({
      number: ADA,
      first_name: 'Ada',
      sendblue_number: LINE,
      tags: ['vip'],
      custom_variables: { Plan: 'gold' },
    })
    expect(created).toMatchObject({
      status: 'OK',
      contact: { phone: ADA, first_name: 'Ada', verified: false },
    })
    expect(await client.contacts.retrieve(ADA)).toEqual({ status: 'OK', contact: created.contact })

    const updated = await client.contacts.update(ADA, {
      last_name: 'Lovelace',
      custom_variables: { Size: 'L' },
    })
    expect(updated.contact).toMatchObject({
      contact_id: created.contact!.contact_id!,
      first_name: 'Ada',
      last_name: 'Lovelace',
      custom_variables: { Plan: 'gold', Size: 'L' },
    })
    const again = await client.contacts.create({ number: ADA, firstName: 'Augusta', update_if_exists: true })
    expect(again.contact!.first_name).toBe('Augusta')

    const list = await client.contacts.list({ limit: 10, order_by: 'created_at', order_direction: 'asc' })
    expect(list).toEqual([again.contact])
    expect(await client.contacts.list({ phone_number: BOB })).toEqual([])
    expect(await client.contacts.list({ cid: created.contact!.contact_id! })).toHaveLength(1)
    expect(await client.contacts.list({ created_at_gte: '2030-01-01T00:00:00Z' })).toEqual([])
    expect(await client.contacts.count()).toEqual({ count: 1 })

    expect(await client.contacts.delete(ADA)).toEqual({ status: 'OK' })
    expect(await client.contacts.count()).toEqual({ count: 0 })
    await expect(client.contacts.retrieve(ADA)).rejects.toMatchObject({ status: 404 })
  })

  it('hears of a duplicate once, without retries', async () => {
    await client.contacts.create({ number: BOB })
    let requests = 0
    const counting = client.withOptions({
      fetch: (...args: Parameters<typeof fetch>) => {
        requests++
        return fetch(...args)
      },
    })
    await expect(counting.contacts.create({ number: BOB })).rejects.toMatchObject({
      status: 409,
      error: { status: 'ERROR', message: 'Contact already exists' },
    })
    expect(requests).toBe(1)
  })

  it('creates and deletes in bulk', async () => {
    const phones = ['+13035570001', '+13035570002', '+13035570003']
    const made = await client.contacts.bulk.create({
      contacts: phones.map((phone) => ({ phone, company_name: 'Bulk Co' })),
    })
    expect(made.status).toBe('OK')
    expect(made.contacts!.map((contact) => [contact.phone, contact.company_name])).toEqual(
      phones.map((phone) => [phone, 'Bulk Co']),
    )
    expect(await client.contacts.bulk.delete({ contact_ids: [...phones.slice(1), '+13035570099'] })).toEqual({
      status: 'OK',
      amount: 2,
    })
    expect(
      (await client.contacts.list({ phone_number: phones[0]! })).map((contact) => contact.phone),
    ).toEqual([phones[0]])
  })

  it('opts out and in, which the phone notices', async () => {
    const number = '+13035570010'
    expect(await client.contacts.optOut({ number })).toEqual({ status: 'OK', number, opted_out: true })
    const blocked = await client.messages.send({ from_number: LINE, number, content: 'not wanted' })
    expect(blocked).toMatchObject({ status: 'ERROR', error_code: 4002 })
    expect(await client.contacts.optOut({ number, opted_out: false })).toMatchObject({ opted_out: false })
    await client.messages.send({ from_number: LINE, number, content: 'wanted' })
    await world.advance(1000)
    expect((await world.inbox(number)).map((message) => message.content)).toEqual(['wanted'])
  })

  it('verifies a contact by a message that arrives on its phone', async () => {
    const number = '+13035570011'
    await client.contacts.create({ number })
    expect(await client.contacts.verify({ number })).toEqual({ status: 'OK' })
    await world.advance(1000)
    expect(await world.inbox(number)).toHaveLength(1)
    await world.text(number, 'Here I am', { to: LINE })
    await world.advance(1000)
    expect((await client.contacts.retrieve(number)).contact!.verified).toBe(true)
  })

  it('registers verified contacts on the shared line', async () => {
    const number = '+13035570012'
    const line = { phone_number: SHARED_LINE, type: 'shared' }
    const made = await client.verifiedContacts.create({ phone_number: '(303) 557-0012' })
    expect(made.data).toMatchObject({ contact: { phone_number: number, verified: false }, line })
    expect(made.data!.verification_instructions).toContain(SHARED_LINE)
    await world.text(number, 'Hello', { to: made.data!.line!.phone_number! })
    await world.advance(1000)
    expect((await client.verifiedContacts.retrieve(number)).data).toMatchObject({
      contact: { phone_number: number, verification_status: 'verified', verified: true },
      line,
    })
    const { data } = await client.verifiedContacts.list()
    expect(data).toMatchObject({ contacts: [{ phone_number: number, verified: true }], line })
    const again = await client.verifiedContacts.create({ phone_number: number })
    expect(again.data!.verification_instructions).toBeNull()
    await expect(client.verifiedContacts.retrieve('+13035570099')).rejects.toMatchObject({ status: 404 })
  })
})
