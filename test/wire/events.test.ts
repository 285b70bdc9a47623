import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STREAM_TYPES } from '../../src/core/events/stream.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('the event stream with the published SDK on %s', (engine) => {
  let world: World
  let client: SendblueAPI
  beforeAll(async () => {
    world = await createWorld(engine)
    client = new SendblueAPI({
      baseURL: world.app.url(),
      apiKey: 'dev-live-key',
      apiSecret: 'dev-live-secret',
      maxRetries: 0,
    })
  })
  afterAll(() => world.close())

  /** Reads events until there is one of this kind. */
  const reader = async (query: SendblueAPI.EventStreamParams = {}, options?: Json) => {
    const stream = await client.events.stream(query, options)
    const events = stream[Symbol.asyncIterator]()
    const seen: SendblueAPI.AccountEvent[] = []
    return {
      seen,
      async next() {
        const { value } = await events.next()
        if (value) seen.push(value)
        return value as SendblueAPI.AccountEvent
      },
      async until(type: string, matches: (data: Json) => boolean = () => true) {
        for (;;) {
          const event = await this.next()
          if (event.type === type && matches(event.data)) return event
        }
      },
      stop: () => stream.controller.abort(),
    }
  }

  it('yields every type, under the ids that clients make of the lists', async () => {
    const events = await reader()
    await world.text(ADA, 'Hello there')
    const inbound = await events.until('message.received')
    const [row] = (await client.messages.list({ is_outbound: 'false' } as Json)).data as Json[]
    expect(inbound).toMatchObject({
      version: 1,
      id: `message:${row.message_handle}:received`,
      occurred_at: row.date_updated,
      data: {
        message_id: row.message_handle,
        is_outbound: false,
        status: 'RECEIVED',
        updated_at: row.date_updated,
        number: ADA,
        sendblue_number: LINE,
        content: 'Hello there',
      },
    })

    const sent = (await client.messages.send({ number: ADA, from_number: LINE, content: 'Hi' })) as Json
    const created = await events.until('message.created')
    expect(created.id).toBe(`message:${sent.message_handle}:created`)
    await world.advance(1000)
    const delivered = await events.until('message.updated', ({ status }) => status === 'DELIVERED')
    const record = await world.record(sent.message_handle)
    expect(delivered.id).toBe(`message:${sent.message_handle}:updated:${record.date_updated}`)
    expect(delivered.data).toMatchObject({ error_code: null, error_message: null, number: ADA })

    await world.post(`/sim/phones/${ADA}/typing`, { to: LINE, typing: true })
    const typing = await events.until('typing.changed')
    expect(typing.data).toMatchObject({ number: ADA, is_typing: true, sendblue_number: LINE })

    await client.contacts.create({ number: '+12025550177', first_name: 'Fay', last_name: 'Ford' } as Json)
    const contact = await events.until('contact.created', ({ phone }) => phone === '+12025550177')
    const known = ((await world.get('/api/v2/contacts?phone_number=%2B12025550177')).body as Json[])[0]
    expect(contact).toMatchObject({
      id: `contact:${known.contact_id}:created:${known.created_at}`,
      data: {
        contact_id: known.contact_id,
        first_name: 'Fay',
        last_name: 'Ford',
        created_at: known.created_at,
      },
    })

    const { id: account } = (await world.get('/admin/accounts', 'admin')).body.data[0]
    const added = (await world.post('/admin/lines', { account_id: account, number: '+12025550178' }, 'admin'))
      .body
    const assigned = await events.until('line.assigned')
    expect(assigned.data).toMatchObject({
      worker_id: added.id,
      sendblue_number: '+12025550178',
      assignment: 'assigned',
      assigned_at: assigned.occurred_at,
    })
    await world.setLine(LINE, { config: { state: 'DEGRADED' } })
    const status = await events.until('line.status.changed', ({ status }) => status === 'DEGRADED')
    const states = (await world.get('/api/v2/lines/state')).body
    const state = states.data.find((one: Json) => one.sendblue_number === LINE)
    expect(status).toMatchObject({
      id: `line:${state.worker_id}:status:DEGRADED:${state.status_changed_at}`,
      data: {
        worker_id: state.worker_id,
        sendblue_number: LINE,
        status: 'DEGRADED',
        assignment: 'assigned',
        status_changed_at: state.status_changed_at,
      },
    })
    await world.setLine(LINE, { config: {} })
    await world.call('DELETE', `/admin/lines/${added.id}`, { as: 'admin' })
    const unassigned = await events.until('line.unassigned')
    expect(unassigned.data).toMatchObject({
      worker_id: added.id,
      sendblue_number: '+12025550178',
      unassigned_at: unassigned.occurred_at,
      effective_until: null,
    })

    const service = (await world.post('/api/v2/verify/services', { friendly_name: 'Shop', ttl_seconds: 60 }))
      .body
    const verify = async () => (await client.verify.verifications.create(service.sid, { to: ADA })) as Json
    const ends: Json[] = []
    const approved = await verify()
    await world.text(ADA, approved.delivery_target.code, { to: approved.delivery_target.pool_number })
    ends.push([await events.until('verification.approved'), approved.sid])
    const expired = await verify()
    await world.advance(61_000)
    ends.push([await events.until('verification.expired'), expired.sid])
    const canceled = await verify()
    await world.post(`/api/v2/verify/services/${service.sid}/verifications/${canceled.sid}`, {
      status: 'canceled',
    })
    ends.push([await events.until('verification.canceled'), canceled.sid])
    for (const [event, sid] of ends) {
      const ending = event.type.split('.')[1]
      expect(event).toMatchObject({
        id: `verification:${sid}:${ending}`,
        data: { verification_sid: sid, status: ending },
      })
    }

    const consent = await reader({ types: 'contact.opted_out,contact.opted_in' })
    for (const [word, type] of [
      ['STOP', 'contact.opted_out'],
      ['START', 'contact.opted_in'],
    ] as const) {
      await world.text(ADA, word)
      expect((await consent.until(type)).data).toMatchObject({ number: ADA, sendblue_number: LINE })
    }
    consent.stop()

    await world.setLine(LINE, { blocked: true })
    const blocked = await events.until('line.blocked')
    expect(blocked.data).toMatchObject({
      worker_id: state.worker_id,
      sendblue_number: LINE,
      blocked_at: blocked.occurred_at,
    })
    expect(new Set(events.seen.map(({ type }) => type))).toEqual(new Set(STREAM_TYPES))
    const ids = events.seen.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    events.stop()
  })

  it('takes heartbeats for nothing, an allowlist, a bookmark, and the regular end', async () => {
    const events = await reader({ types: 'contact.created' })
    await world.send()
    await world.advance(30_000)
    await world.post('/api/v2/contacts', { number: '+12025550179' })
    expect(await events.next()).toMatchObject({ type: 'contact.created', data: { phone: '+12025550179' } })
    await world.advance(15 * 60_000)
    expect(await events.next()).toBeUndefined()
    const again = await reader({ types: 'contact.created' }, { headers: { 'Last-Event-ID': '0' } })
    for (const phone of ['+12025550177', '+12025550179'])
      await again.until('contact.created', (data) => data.phone === phone)
    again.stop()
    await expect(client.events.stream({ types: 'nonsense' })).rejects.toMatchObject({ status: 400 })
  })

  it('serves a token of the account and refuses one of some lines', async () => {
    const token = async (body: object) => (await world.post('/v3/auth/tokens', body)).body.token
    const as = (accessToken: string) =>
      new SendblueAPI({ baseURL: world.app.url(), accessToken, maxRetries: 0 })
    const stream = await as(await token({})).events.stream()
    stream.controller.abort()
    const confined = as(await token({ phone_number: LINE }))
    await expect(confined.events.stream()).rejects.toMatchObject({ status: 403 })
  })
})
