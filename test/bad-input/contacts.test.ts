import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, type Json, type World } from '../support/world.js'

const many = (n: number, make: (i: number) => Json) => Array.from({ length: n }, (_, i) => make(i))
const keys = (n: number) => Object.fromEntries(many(n, (i) => [`k${i}`, 'v']))

describe.each(ENGINES)('bad contacts on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    await world.post('/api/v2/contacts', { number: ADA, first_name: 'Ada' })
  })
  afterAll(() => world.close())

  const cases: [what: string, fields: Json, name: string][] = [
    ['a name that is a number', { first_name: 1 }, 'first_name'],
    ['a name that is a list', { last_name: ['x'] }, 'last_name'],
    ['a name of 201 characters', { first_name: 'x'.repeat(201) }, 'first_name'],
    ['an older name with a wrong value', { firstName: {} }, 'first_name'],
    ['an e-mail that is none', { assigned_to_email: 'nobody' }, 'assigned_to_email'],
    ['an e-mail with a space', { assigned_to_email: 'a b@example.com' }, 'assigned_to_email'],
    [
      'an e-mail of 300 characters',
      { assigned_to_email: `${'x'.repeat(300)}@example.com` },
      'assigned_to_email',
    ],
    ['a line that is no number', { sendblue_number: 'x' }, 'sendblue_number'],
    ['a line that is not there', { sendblue_number: '+12025550159' }, 'sendblue_number'],
    ['tags that are a text', { tags: 'x' }, 'tags'],
    ['a tag that is null', { tags: ['x', null] }, 'tags.1'],
    ['a tag that is empty', { tags: [''] }, 'tags.0'],
    ['101 tags', { tags: many(101, String) }, 'tags'],
    ['10,000 tags', { tags: many(10_000, String) }, 'tags'],
    ['variables that are a list', { custom_variables: ['x'] }, 'custom_variables'],
    ['a variable that is a number', { custom_variables: { a: 1 } }, 'custom_variables.a'],
    ['a variable that is null', { custom_variables: { a: null } }, 'custom_variables.a'],
    ['a variable that is an object', { custom_variables: { a: {} } }, 'custom_variables.a'],
    ['a variable without a label', { custom_variables: { '': 'x' } }, 'custom_variables'],
    ['a label of 101 characters', { custom_variables: { ['x'.repeat(101)]: 'x' } }, 'custom_variables'],
    ['a value of 5001 characters', { custom_variables: { a: 'x'.repeat(5001) } }, 'custom_variables.a'],
    ['101 variables', { custom_variables: keys(101) }, 'custom_variables'],
    ['10,000 variables', { custom_variables: keys(10_000) }, 'custom_variables'],
    ['NUL in a name', { first_name: 'a\u0000b' }, 'first_name'],
    ['a lone surrogate in a tag', { tags: ['\ud800'] }, 'tags'],
    ['NUL in a label', { custom_variables: { 'a\u0000': 'x' } }, 'field name'],
  ]

  it.each(cases)('%s', async (_what, fields, name) => {
    const replies = {
      create: await world.post('/api/v2/contacts', { number: '+13035590001', ...fields }),
      update: await world.call('PUT', `/api/v2/contacts/${ADA}`, { body: fields }),
      first: await world.post('/api/contacts', { number: '+13035590001', ...fields }),
      bulk: await world.post('/api/v2/contacts/bulk', { contacts: [{ phone: '+13035590001', ...fields }] }),
    }
    for (const [where, { status, body }] of Object.entries(replies)) {
      expect([where, status, body.status]).toEqual([where, 400, 'ERROR'])
      expect(body.message).toContain(name)
    }
    expect((await world.get('/api/v2/contacts/+13035590001')).status).toBe(404)
    expect((await world.get(`/api/v2/contacts/${ADA}`)).body.contact.first_name).toBe('Ada')
  })

  it.each(['{"custom_variables":{"__proto__":"x"}}', '{"constructor":"x"}', '{"__proto__":{}}'])(
    'a key that could reach a prototype: %s',
    async (text) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await world.call('PUT', `/api/v2/contacts/${ADA}`, { body: text, headers })
      expect(reply.status).toBe(400)
    },
  )

  it.each([
    ['update_if_exists', '/api/v2/contacts', { number: ADA, update_if_exists: 'true' }],
    ['update_if_exists', '/api/v2/contacts', { number: ADA, update_if_exists: 1 }],
    ['opted_out', '/api/v2/contacts/opt-out', { number: ADA, opted_out: 'false' }],
    ['number', '/api/v2/contacts/opt-out', {}],
    ['number', '/api/v2/contacts/opt-out', { number: 'x' }],
    ['number', '/api/v2/contacts/verify', {}],
    ['number', '/api/v2/contacts/verify', { number: 1 }],
    ['contacts', '/api/v2/contacts/bulk', {}],
    ['contacts', '/api/v2/contacts/bulk', { contacts: {} }],
    ['contacts', '/api/v2/contacts/bulk', { contacts: 'x' }],
    ['contacts.0', '/api/v2/contacts/bulk', { contacts: [[]] }],
    ['contacts', '/api/v2/contacts/bulk', { contacts: many(100_000, () => ({ phone: ADA })) }],
    ['recipient', '/accounts/verify-contact-on-shared-account', {}],
  ])('%s is named: POST %s %#', async (field, path, body) => {
    const reply = await world.post(path, body)
    expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
    expect(reply.body.message).toContain(field)
  })

  it('unknown fields are ignored and never stored', async () => {
    const number = '+13035590002'
    const given = {
      number,
      verified: true,
      contact_id: 'mine',
      account_id: 'x',
      created_at: '1999-01-01',
      opt_out: true,
    }
    const { contact } = (await world.post('/api/v2/contacts', given)).body
    expect(contact).toMatchObject({ verified: false, opt_out: false })
    expect(contact.contact_id).not.toBe('mine')
    expect(contact.created_at).not.toContain('1999')
    const reply = await world.call('PUT', `/api/v2/contacts/${number}`, {
      body: { verified: true, phone: ADA },
    })
    expect(reply.body.contact).toEqual({
      ...contact,
      updated_at: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  it('every other text comes back as it was', async () => {
    const texts = [
      '  spaces ',
      "Robert'); drop table contacts;--",
      '<b>x</b>',
      'e\u0301',
      '\u202eRTL',
      '👩‍👩‍👧',
      'a\r\nb',
      '%s {x}',
    ]
    for (const [i, text] of texts.entries()) {
      const number = `+1303559${1000 + i}`
      const fields = { first_name: text, last_name: text, tags: [text], custom_variables: { [text]: text } }
      await world.post('/api/v2/contacts', { number, ...fields })
      expect((await world.get(`/api/v2/contacts/${number}`)).body.contact).toMatchObject(fields)
    }
  })

  it('null is absent', async () => {
    const number = '+13035590003'
    const nulls = {
      first_name: null,
      tags: null,
      custom_variables: null,
      sendblue_number: null,
      assigned_to_email: null,
    }
    expect((await world.post('/api/v2/contacts', { number, ...nulls, update_if_exists: null })).status).toBe(
      200,
    )
    expect((await world.call('PUT', `/api/v2/contacts/${number}`, { body: nulls })).status).toBe(200)
    expect(
      (await world.post('/api/v2/contacts/bulk', { contacts: [{ phone: number, ...nulls }] })).status,
    ).toBe(200)
  })

  it('the log shows no number, name or content', () => {
    expect(world.logs.join('\n')).not.toMatch(/\+1303|Robert|drop table/)
  })
})
