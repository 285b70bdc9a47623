import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, LINE, type World } from '../support/world.js'

const IGNORED = 'x-trunkline-ignored'

describe.each(ENGINES)('unknown fields on %s', (engine) => {
  let world: World

  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const account = async () => (await world.get('/admin/accounts', 'admin')).body.data[0].id as string

  it('stop a reset, which would remove more than was meant', async () => {
    const { message_handle: handle } = await world.send({ content: 'Still here' })
    const reply = await world.post('/sim/reset', { kep: ['webhooks'] })
    expect(reply.status).toBe(400)
    expect(reply.body.error.message).toBe('kep: not a field of this request. Did you mean "keep"?')
    expect((await world.record(handle)).content).toBe('Still here')
  })

  it.each([
    ['POST', '/sim/reset', { runs: 'x' }, 'runs: not a field of this request. Use keep.'],
    [
      'POST',
      '/sim/reset?keep=webhooks',
      {},
      'keep: not a query parameter of this route. It is a field of the body.',
    ],
    ['DELETE', '/sim/faults?line=x', undefined, 'line: not a query parameter of this route. There are none.'],
    [
      'DELETE',
      '/api/v2/contacts',
      { contact_ids: [ADA], contact_id: ADA },
      'contact_id: not a field of this request. Did you mean "contact_ids"?',
    ],
    [
      'DELETE',
      '/api/account/webhooks',
      { webhooks: [], typ: 'outbound' },
      'typ: not a field of this request. Did you mean "type"?',
    ],
    [
      'GET',
      '/v3/search?query=x',
      undefined,
      'query: not a query parameter of this route. Use q, limit, cursor.',
    ],
  ])('refuse %s %s', async (method, path, body, message) => {
    const { status, body: answer } = await world.call(method, path, { as: 'live', body })
    expect([status, answer.error?.message ?? answer.message]).toEqual([400, message])
  })

  it('refuse a change of settings, also in an inner object', async () => {
    const id = await account()
    const reply = await world.call('PATCH', `/admin/accounts/${id}`, {
      as: 'admin',
      body: { name: 'Ada', budgets: { request: 5 } },
    })
    expect(reply.status).toBe(400)
    expect(reply.body.error.message).toBe(
      'budgets.request: not a field of this request. Did you mean "requests"?',
    )
    expect((await world.get(`/admin/accounts/${id}`, 'admin')).body.name).not.toBe('Ada')
  })

  it('keep older names of fields', async () => {
    const reply = await world.call('DELETE', '/api/v2/contacts', { as: 'live', body: { contactIds: [ADA] } })
    expect([reply.status, reply.body.amount]).toEqual([200, 0])
  })

  it('are named, not refused, where clients of the interface send them', async () => {
    const body = { number: ADA, from_number: LINE, content: 'Hi', campaign: 'spring', 'x y': 1 }
    const reply = await world.post('/api/send-message?trace=1', body)
    expect(reply.status).toBe(202)
    expect(reply.headers[IGNORED]).toBe('campaign, trace, +1 more')
  })

  it('are not named when they are older names of known fields', async () => {
    const sent = await world.post('/api/send-message', { to: ADA, fromNumber: LINE, content: 'Hi' })
    expect([sent.status, sent.headers[IGNORED]]).toEqual([202, undefined])
    const path = `/api/lines/${encodeURIComponent(LINE)}/call-forwarding`
    const set = await world.call('PUT', path, { as: 'live', body: { forwardingNumber: '+12025550177' } })
    expect([set.status, set.headers[IGNORED]]).toEqual([200, undefined])
  })

  it('are named within a bound, and never by what may be content', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field_${i}`, i]))
    const content = { '+12025550101': 1, n12025550101: 1, 'Meet me at nine': 1, 'a\r\nb': 1, ключ: 1 }
    const base = { number: ADA, from_number: LINE, content: 'Hi' }
    const bounded = await world.post('/api/send-message', { ...base, ...many })
    expect(bounded.status).toBe(202)
    expect(bounded.headers[IGNORED]).toMatch(/^field_0, .*field_9, \+490 more$/)
    const hidden = await world.post('/api/send-message', { ...base, ...content })
    expect([hidden.status, hidden.headers[IGNORED]]).toEqual([202, '+5 more'])
  })
})
