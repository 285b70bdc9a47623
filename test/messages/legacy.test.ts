import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  EVE,
  type Json,
  LINE,
  SHARED_LINE,
  type World,
} from '../support/world.js'

/** Becomes a phone with iMessage by being written to. */
const FAY = '+12025550106'

describe.each(ENGINES)('GET /accounts/messages on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
    const callback = { status_callback: 'https://example.com/status' }
    await world.send({ content: 'one', send_style: 'slam', ...callback })
    await world.advance(1000)
    await world.send({ content: 'two', number: BOB })
    await world.advance(1000)
    await world.text(ADA, 'three')
    await world.advance(1000)
    await world.send({ content: 'four', number: EVE, from_number: SHARED_LINE })
    await world.advance(1000)
  })
  afterAll(() => world.close())

  const list = async (query: Record<string, string> = {}, as = 'live' as Parameters<World['get']>[1]) =>
    world.get(`/accounts/messages?${new URLSearchParams(query)}`, as)
  const contents = async (query: Record<string, string> = {}, as?: Parameters<World['get']>[1]) =>
    (await list(query, as)).body.messages.map((message: Json) => message.content)

  it('answers in the older form, newest first', async () => {
    const { status, body } = await list()
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['messages'])
    expect(body.messages.map((message: Json) => message.content)).toEqual(['four', 'three', 'two', 'one'])
    const one = body.messages[3]
    const record = (await world.get('/api/v2/messages?order_direction=asc&limit=1')).body.data[0]
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    expect(one).toEqual({
      date: record.date_created,
      allowSMS: null,
      sendStyle: 'slam',
      type: 'message',
      uuid: record.message_handle,
      media_url: '',
      content: 'one',
      number: ADA,
      is_outbound: true,
      accountEmail: DEFAULT_WORLD.email,
      was_downgraded: false,
      callbackURL: 'https://example.com/status',
      row_id: null,
      status: 'DELIVERED',
      error_message: null,
      error_detail: null,
      error_code: null,
      to_number: ADA,
      from_number: LINE,
      date_sent: record.date_sent,
      date_updated: record.date_updated,
      phoneID: lines.find((line: Json) => line.number === LINE && line.world === 'live').id,
      group_id: '',
    })
    expect(body.messages[1]).toMatchObject({
      is_outbound: false,
      from_number: ADA,
      to_number: LINE,
      number: ADA,
      status: 'RECEIVED',
      callbackURL: '',
    })
    expect(body.messages[0]).toMatchObject({ status: 'ERROR', error_code: 10001 })
    expect(body.messages[0].error_message).toContain('refused')
  })

  it('filters by number, conversation and date, and pages', async () => {
    expect(await contents({ number: ADA })).toEqual(['three', 'one'])
    expect(await contents({ number: LINE })).toEqual(['three', 'two', 'one'])
    expect(await contents({ cid: ADA })).toEqual(['three', 'one'])
    expect(await contents({ cid: ADA, number: LINE })).toEqual(['three', 'one'])
    expect(await contents({ cid: ADA, number: BOB })).toEqual([])
    await world.post('/api/v2/contacts', { number: ADA })
    const [contact] = (await world.get('/api/v2/contacts')).body
    expect(await contents({ cid: contact.contact_id })).toEqual(['three', 'one'])
    expect(await contents({ cid: contact.contact_id }, 'test')).toEqual([])
    expect(await contents({ cid: 'no-such-conversation' })).toEqual([])
    expect(await contents({ from_date: '2026-03-01 12:00:01' })).toEqual(['four', 'three', 'two'])
    expect(await contents({ from_date: '2026-03-01T12:00:02Z' })).toEqual(['four', 'three'])
    expect(await contents({ from_date: '2026-03-02' })).toEqual([])
    expect(await contents({ limit: '2' })).toEqual(['four', 'three'])
    expect(await contents({ limit: '2', offset: '2' })).toEqual(['two', 'one'])
    expect(await contents({ offset: '99' })).toEqual([])
    // As the older documentation writes it: a raw plus.
    const raw = await world.get(`/accounts/messages?number=${ADA}&from_date=2026-03-01%2012:00:00`)
    expect(raw.body.messages).toHaveLength(2)
  })

  it.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '-1' }, 'limit'],
    [{ limit: '1.5' }, 'limit'],
    [{ limit: 'x' }, 'limit'],
    [{ offset: '-1' }, 'offset'],
    [{ offset: '9e99' }, undefined],
    [{ number: 'x' }, 'number'],
    [{ from_date: 'yesterday' }, 'from_date'],
    [{ from_date: '2026-02-30 00:00:00' }, 'from_date'],
    [{ from_date: '2026-03-01 25:00:00' }, 'from_date'],
    [{ from_date: '1234567890' }, 'from_date'],
    [{ cid: "' or 1=1 --" }, undefined],
  ])('takes %j without falling over', async (query, field) => {
    const reply = await list(query as Record<string, string>)
    if (field) expect([reply.status, reply.body.message]).toEqual([400, expect.stringContaining(field)])
    else expect([reply.status, reply.body.messages]).toEqual([200, []])
  })

  it('shows an account its own and a confined token its line, and no deleted message', async () => {
    expect(await contents({}, 'test')).toEqual([])
    expect((await list({}, 'admin')).status).toBe(403)
    expect((await list({}, null)).status).toBe(401)
    const token = (await world.post('/v3/auth/tokens', { phone_number: SHARED_LINE })).body
    expect(await contents({}, token)).toEqual(['four'])
    expect(await contents({ cid: ADA }, token)).toEqual([])
    const two = (await list({ number: BOB })).body.messages[0]
    await world.call('DELETE', `/api/message/${two.uuid}`)
    expect(await contents()).toEqual(['four', 'three', 'one'])
  })

  it('shares the limit of the newer list', async () => {
    await world.advance(10_000)
    const path = (n: number) => (n % 2 ? '/accounts/messages?limit=1' : '/api/v2/messages?limit=1')
    for (let n = 0; n < 100; n++) expect((await world.get(path(n))).status).toBe(200)
    expect((await world.get(path(0))).status).toBe(429)
    expect((await world.get(path(1))).status).toBe(429)
    await world.advance(10_000)
    expect((await world.get(path(1))).status).toBe(200)
  })

  it('names the people a message to a group went to, as the newer list does', async () => {
    const body = { from_number: LINE, numbers: [ADA, FAY], content: 'to both' }
    const { group_id } = (await world.post('/api/send-group-message', body)).body
    await world.advance(1000)
    await world.text(ADA, 'from one', { to: undefined, group_id })
    await world.advance(1000)
    const both = `${ADA},${FAY}`
    expect((await list({ cid: group_id })).body.messages).toMatchObject([
      { content: 'from one', group_id, number: ADA, from_number: ADA, to_number: LINE },
      { content: 'to both', group_id, number: both, from_number: LINE, to_number: both },
    ])
  })
})
