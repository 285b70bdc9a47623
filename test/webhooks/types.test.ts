import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WEBHOOK_TYPES } from '../../src/core/webhooks/types.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { createSink, type Received, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, START, type World } from '../support/world.js'

/** The fields that the specification lists for a message, in the order of its table. */
const MESSAGE_FIELDS = [
  'accountEmail',
  'content',
  'is_outbound',
  'status',
  'error_code',
  'error_message',
  'error_reason',
  'error_detail',
  'message_handle',
  'date_sent',
  'date_updated',
  'from_number',
  'number',
  'to_number',
  'was_downgraded',
  'plan',
  'media_url',
  'message_type',
  'group_id',
  'participants',
  'send_style',
  'opted_out',
  'sendblue_number',
  'service',
  'group_display_name',
  'sender_email',
  'seat_id',
]
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const document: Json = JSON.parse(readFileSync('openapi.json', 'utf8'))
const ajv = new Ajv2020({ strict: false })
ajv.addSchema(document, 'document')
/** How a body differs from its description in the API document. */
const differences = ({ path, body }: Received): unknown => {
  const { $ref } = document.webhooks[path.slice(1)].post.requestBody.content['application/json'].schema
  const validate = ajv.compile({ $ref: `document${$ref}`, unevaluatedProperties: false })
  return validate(body) ? undefined : { path, body, errors: validate.errors }
}
/** Unknown so far: somebody with an iPhone. */
const FAY = '+12025550151'

describe.each(ENGINES)('every type of webhook on %s', (engine) => {
  let world: World
  let sink: Sink
  let email: string

  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    const webhooks = Object.fromEntries(WEBHOOK_TYPES.map((type) => [type, [`${sink.url}/${type}`]]))
    expect((await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })).status).toBe(200)
    email = DEFAULT_WORLD.email
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })
  afterEach(() => {
    expect(sink.received.splice(0).map(differences).filter(Boolean)).toEqual([])
  })

  /** The one post of a type; everything else that came has another. */
  const only = (type: string): Json => {
    const posts = sink.received.filter((post) => post.path === `/${type}`)
    expect(posts.map((post: Received) => post.body)).toHaveLength(1)
    return withoutPlace(posts[0]!)
  }
  /** Every body says where its event stands in the log; the rest is compared without it. */
  const withoutPlace = (post: Received): Json => {
    expect(differences(post)).toBeUndefined()
    const { headers, body } = post
    const { event_seq, occurred_at, ...rest } = body as Json
    expect([String(event_seq), occurred_at]).toEqual([headers['x-trunkline-sequence'], TIME])
    return rest
  }

  it('receive: exactly the fields of the specification', async () => {
    await world.text(ADA, 'Hi')
    await world.advance(1000)
    const body = only('receive')
    expect(Object.keys(body).sort()).toEqual([...MESSAGE_FIELDS].sort())
    expect(body).toMatchObject({ date_sent: TIME, date_updated: TIME, accountEmail: email })
  })

  it('receive: media alone has an empty text and a link with an extension', async () => {
    await world.post(`/sim/phones/${ADA}/messages`, {
      to: LINE,
      media: { name: 'dot.png', base64: Buffer.from('89504e470d0a1a0a', 'hex').toString('base64') },
    })
    await world.advance(1000)
    const body = only('receive')
    expect(body.content).toBe('')
    expect(body.media_url).toMatch(/^https?:.*\.png$/)
  })

  it('receive: a shared place is a message of type location', async () => {
    await world.call('PUT', `/sim/phones/${ADA}/location`, {
      body: { to: LINE, latitude: 48.85, longitude: 2.35 },
    })
    await world.advance(1000)
    expect(only('receive')).toMatchObject({
      message_type: 'location',
      content: '',
      location: { latitude: 48.85, longitude: 2.35 },
    })
  })

  it('receive: an inline reply says what it answers and where the thread began', async () => {
    const sent = await world.send({ content: 'Question' })
    await world.advance(5000)
    const [shown] = (await world.inbox(ADA)).slice(-1)
    sink.received.splice(0)
    await world.text(ADA, 'Answer', { reply_to: shown.id })
    await world.advance(1000)
    const body = only('receive')
    expect(body.reply_to).toMatchObject({ message_handle: sent.message_handle })
    expect(body.thread_originator).toMatchObject({ message_handle: sent.message_handle, part: '0' })
  })

  it('receive: a tapback is a text, and no field says so', async () => {
    await world.send({ content: 'Dinner at eight?' })
    await world.advance(5000)
    const [shown] = (await world.inbox(ADA)).slice(-1)
    sink.received.splice(0)
    await world.post(`/sim/phones/${ADA}/messages/${shown.id}/reactions`, { reaction: 'love' })
    await world.advance(1000)
    const body = only('receive')
    expect(body.content).toBe('Loved “Dinner at eight?”')
    expect(Object.keys(body).sort()).toEqual([...MESSAGE_FIELDS].sort())
  })

  it('receive and outbound: a group names itself and everyone in it', async () => {
    const sent = (
      await world.post('/api/send-group-message', { from_number: LINE, numbers: [ADA, FAY], content: 'All' })
    ).body
    await world.advance(5000)
    const outbound = sink.received.filter((post) => post.path === '/outbound').map((post) => post.body)
    expect(outbound.map((body) => body.status)).toEqual(['QUEUED', 'SENT', 'DELIVERED'])
    for (const body of outbound) {
      expect(body).toMatchObject({ group_id: sent.group_id, message_type: 'group', group_display_name: '' })
      expect(new Set(body.participants)).toEqual(new Set([ADA, FAY, LINE]))
    }
  })

  it('outbound: was_downgraded is true for somebody without iMessage', async () => {
    await world.send({ number: BOB })
    await world.advance(5000)
    const last = sink.received.filter((post) => post.path === '/outbound').at(-1)!.body
    expect(last).toMatchObject({ status: 'SENT', service: 'SMS', was_downgraded: true })
  })

  it('typing_indicator: from_number is the line, and there is no message_handle', async () => {
    await world.post(`/sim/phones/${ADA}/typing`, { to: LINE, typing: true })
    await world.settle()
    expect(only('typing_indicator')).toEqual({
      number: ADA,
      from_number: LINE,
      is_typing: true,
      timestamp: TIME,
    })
    await world.post(`/sim/phones/${ADA}/typing`, { to: LINE, typing: false })
    await world.settle()
  })

  it('contact_created', async () => {
    const { contact } = (
      await world.post('/api/v2/contacts', {
        number: '+12025550177',
        first_name: 'Grace',
        last_name: 'Hopper',
      })
    ).body
    await world.settle()
    expect(only('contact_created')).toEqual({
      event_type: 'contact_created',
      event_id: expect.any(String),
      accountEmail: email,
      contact_id: contact.contact_id,
      phone: '+12025550177',
      first_name: 'Grace',
      last_name: 'Hopper',
      created_at: TIME,
    })
    await world.call('PUT', '/api/v2/contacts/+12025550177', { body: { first_name: 'G.' } })
    await world.settle()
    expect(sink.received, 'changes of contacts are not told').toHaveLength(1)
  })

  it('contact_consent: a STOP and a START that change something', async () => {
    const said = async (word: string) => {
      await world.text(FAY, word)
      await world.advance(1000)
      const posts = sink.received.splice(0).filter((post) => post.path === '/contact_consent')
      return posts.map(withoutPlace)
    }
    const body = {
      event_type: 'contact_consent',
      event_id: expect.any(String),
      accountEmail: email,
      number: FAY,
      sendblue_number: LINE,
      changed_at: TIME,
    }
    expect(await said('STOP')).toEqual([{ ...body, opted_out: true }])
    expect(await said('STOP')).toEqual([])
    expect(await said('START')).toEqual([{ ...body, opted_out: false }])
  })

  it('alert: a condition that has begun, and that it has ended', async () => {
    const [{ id }] = (await world.get('/admin/accounts', 'admin')).body.data
    const setDaily = async (daily: number | null) => {
      await world.call('PATCH', `/admin/accounts/${id}`, { as: 'admin', body: { budgets: { daily } } })
      await world.advance(30_000)
    }
    const { data } = (await world.get('/v3/usage')).body
    const limit = data.find((one: Json) => one.name === 'daily').used + 1
    await setDaily(limit)
    await world.send()
    await world.advance(1000)
    await setDaily(null)
    const body = {
      event_type: 'alert',
      event_id: expect.any(String),
      accountEmail: email,
      alert: 'quota.near',
      since: TIME,
      budget: 'daily',
      limit,
      used: expect.any(Number),
    }
    const posts = sink.received.filter((post) => post.path === '/alert').map(withoutPlace)
    expect(posts).toEqual([
      { ...body, state: 'began', ended_at: null, summary: expect.stringContaining(`of ${limit} messages`) },
      { ...body, state: 'ended', ended_at: TIME, summary: expect.any(String) },
    ])
  })

  it('inbound_call: once, when the call has ended', async () => {
    await world.call('PUT', `/api/lines/${LINE}/call-forwarding`, { body: { forwarding_number: BOB } })
    const call = (await world.post(`/sim/phones/${ADA}/calls`, { to: LINE })).body
    await world.advance(2000)
    await world.post(`/sim/phones/${BOB}/calls/${call.id}/answer`, undefined)
    await world.advance(10_000)
    expect(sink.received).toHaveLength(0)
    await world.post(`/sim/phones/${ADA}/calls/${call.id}/hangup`, undefined)
    await world.advance(1000)
    expect(only('inbound_call')).toEqual({
      event_type: 'inbound_call',
      event_id: expect.any(String),
      accountEmail: email,
      call_id: call.id,
      from_number: ADA,
      to_number: LINE,
      forwarded_to: BOB,
      direction: 'inbound',
      status: 'COMPLETED',
      answered: true,
      duration: 10,
      provider: 'twilio',
      company_id: UUID,
      created_at: TIME,
      ended_at: TIME,
    })
    await world.call('DELETE', `/api/lines/${LINE}/call-forwarding`)
  })

  it('inbound_call: none when nothing is configured', async () => {
    await world.post(`/sim/phones/${ADA}/calls`, { to: LINE })
    await world.advance(60_000)
    expect(sink.received).toHaveLength(0)
  })

  it('call_log: a call placed at the dashboard', async () => {
    const call = (await world.post('/sim/calls', { from: LINE, to: ADA })).body
    await world.advance(1000)
    await world.post(`/sim/phones/${ADA}/calls/${call.id}/answer`, undefined)
    await world.advance(5000)
    await world.post(`/sim/calls/${call.id}/hangup`, undefined)
    await world.advance(1000)
    expect(only('call_log')).toEqual({
      event_type: 'call_log',
      call_id: call.id,
      from_number: LINE,
      to_number: ADA,
      direction: 'outbound',
      status: 'COMPLETED',
      duration: 5,
      provider: 'twilio',
      company_id: UUID,
      contact_id: UUID,
      recording_url: null,
      transcript: null,
      metadata: {},
      created_at: TIME,
      disposition: 'connected',
      origin: 'DASHBOARD',
      sent_by: expect.any(String),
    })
  })

  it('contact_profile: the end of an update', async () => {
    const { body } = await world.post('/api/v2/contact-sharing/profile', {
      from_number: LINE,
      first_name: 'Trunk',
      last_name: 'Line',
    })
    await world.advance(60_000)
    expect(only('contact_profile')).toEqual({
      event_type: 'contact_profile.completed',
      event_id: expect.any(String),
      request_id: body.request_id ?? expect.any(String),
      operation_id: expect.any(String),
      accountEmail: email,
      from_number: LINE,
      status: 'completed',
      profile: {
        hasProfile: true,
        sharingEnabled: expect.any(Boolean),
        firstName: 'Trunk',
        lastName: 'Line',
        displayName: 'Trunk Line',
        hasPhoto: false,
        publishRecordPresent: true,
      },
      error_code: null,
      error_message: null,
      requested_at: TIME,
      observed_at: TIME,
    })
  })

  it('line_assigned and line_blocked', async () => {
    const { account_id } = (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === LINE && line.world === 'live',
    )
    const number = '+12025550123'
    const line = (await world.post('/admin/lines', { account_id, number }, 'admin')).body
    await world.settle()
    const assigned = only('line_assigned')
    expect(assigned).toMatchObject({
      event_type: 'line_assigned',
      event_id: expect.any(String),
      worker_id: line.id,
      sendblue_number: number,
      assigned_at: TIME,
    })
    expect(assigned).not.toHaveProperty('message_handle')
    await world.call('PATCH', `/admin/lines/${line.id}`, { as: 'admin', body: { blocked: true } })
    await world.settle()
    const blocked = only('line_blocked')
    expect(blocked).toMatchObject({
      event_type: 'line_blocked',
      worker_id: line.id,
      number,
      sendblue_number: number,
      status: 'BLOCKED',
      blocked_at: TIME,
    })
    expect(blocked).not.toHaveProperty('message_handle')
    expect(Date.parse(blocked.blocked_at)).toBeGreaterThanOrEqual(START)
  })
})
