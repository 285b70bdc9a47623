import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SIM_FAULTS } from '../../src/core/sim/fault-catalogue.js'
import { createSink, type Sink } from '../support/web/sink.js'
import {
  ADA,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const HOUR = 3_600_000
const LONG = 'A text that is much longer than one text message can be. '.repeat(5)

/** The effect of a fault on a send: its first status, its last, and the texts on the phone then. */
interface Case {
  fields?: Json
  /** Verdict of the story a moment later. */
  first: string
  status: string
  last: string
  onPhone: number
  says?: RegExp
}

const SENDS: Record<string, Case> = {
  'accept-then-drop': { first: 'pending_lookup', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  'accept-then-hang': { first: 'on_wire', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  'drop-then-accept-late': { first: 'pending_lookup', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  drop: { first: 'pending_lookup', status: 'DELIVERED', last: 'delivered', onPhone: 1, says: /broke/ },
  hang: { first: 'on_wire', status: 'DELIVERED', last: 'delivered', onPhone: 1, says: /No answer/ },
  'server-error': {
    first: 'pending_lookup',
    status: 'DELIVERED',
    last: 'delivered',
    onPhone: 1,
    says: /The carrier answered 503/,
  },
  'too-many-requests': {
    first: 'retrying',
    status: 'DELIVERED',
    last: 'delivered',
    onPhone: 1,
    says: /too many/,
  },
  unreachable: { first: 'retrying', status: 'DELIVERED', last: 'delivered', onPhone: 1, says: /unplugged/ },
  refused: { first: 'refused', status: 'ERROR', last: 'refused', onPhone: 0, says: /refuses this message/ },
  'success-twice': { first: 'sent', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  'part-failure': {
    fields: { content: LONG },
    first: 'refused',
    status: 'ERROR',
    last: 'refused',
    onPhone: 1,
    says: /The carrier refused part 2 of 2; part 1 is on the phone/,
  },
  'mid-thread-downgrade': {
    first: 'sent_no_receipts',
    status: 'SENT',
    last: 'sent_no_receipts',
    onPhone: 1,
    says: /not on iMessage/,
  },
  'receipt-before-response': { first: 'delivered', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  'receipt-duplicated': { first: 'sent', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  'receipt-reordered': { first: 'sent', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  'receipt-late': { first: 'sent', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
  'receipt-lost': { first: 'sent', status: 'SENT', last: 'sent_no_receipts', onPhone: 1 },
  'receipt-id-stripped': { first: 'sent', status: 'SENT', last: 'sent_no_receipts', onPhone: 1 },
  'receipt-id-decimal': { first: 'sent', status: 'SENT', last: 'sent_no_receipts', onPhone: 1 },
  'own-message-reflected': { first: 'sent', status: 'DELIVERED', last: 'delivered', onPhone: 1 },
}

/** A phone's text, and the stored message. */
const TEXTS: Record<string, { content: string; stored: RegExp[] }> = {
  'inbound-twice-same-id': { content: 'Once only', stored: [/^Once only$/] },
  'inbound-twice-new-id': { content: 'Once only', stored: [/^Once only$/] },
  'parts-out-of-order': { content: LONG, stored: [new RegExp(`^${LONG.trim()}\\s*$`)] },
  'part-missing': { content: LONG, stored: [/^A text that is much longer.*/s] },
  'link-split': { content: 'Look: https://acme.example/x', stored: [/^Look: https:\/\/acme.example\/x$/] },
}

/** Faults with tests of their own. */
const OTHERS = [
  'threaded-reply-stalls',
  'stop-confirm-blocked',
  'line-blocked',
  'burst-after-silence',
  'line-offline',
]

it('every fault has a test', () => {
  const tested = [...Object.keys(SENDS), ...Object.keys(TEXTS), ...OTHERS].sort()
  expect(tested).toEqual(SIM_FAULTS.map(({ name }) => name).sort())
})

describe.each(ENGINES)('named faults on %s', (engine) => {
  let world: World
  let sink: Sink
  let last = 0
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })
  afterEach(async () => {
    await world.call('DELETE', '/sim/faults')
    await world.advance(5000)
  })

  const someone = () => `+1202555${5000 + last++}`
  const on = async (name: string, body: Json = {}, as: Who = 'live') => {
    const reply = await world.call('PUT', `/sim/faults/${name}`, { as, body })
    expect([name, reply.status, reply.body.on]).toEqual([name, 200, true])
    return reply.body
  }
  const off = (name: string) => world.call('DELETE', `/sim/faults/${name}`)
  const why = async (handle: string) => (await world.get(`/v3/messages/${handle}/why`)).body.data
  const stored = async (number: string) => {
    const query = `is_outbound=false&number=${encodeURIComponent(number)}&order_direction=asc`
    return ((await world.get(`/api/v2/messages?${query}`)).body.data as Json[]).map(({ content }) => content)
  }
  const eventsOf = async (handle: string) =>
    (await world.events()).filter(({ subject }) => subject === handle).map(({ data }) => data.status)
  const shown = async (name: string) =>
    (await world.get('/sim/faults')).body.data.find((fault: Json) => fault.name === name)

  it.each(Object.entries(SENDS))('%s: sent once, and its story is right', async (name, expected) => {
    const number = someone()
    await on(name, { phone: number, count: 1 })
    const { message_handle: handle } = await world.send({ number, ...expected.fields })
    await world.settle()
    expect((await why(handle)).verdict).toBe(expected.first)
    await world.advance(2 * HOUR)
    expect(await world.status(handle)).toMatchObject({ status: expected.status })
    const story = await why(handle)
    expect(story.verdict).toBe(expected.last)
    if (expected.says) expect(JSON.stringify(story)).toMatch(expected.says)
    expect(await world.inbox(number)).toHaveLength(expected.onPhone)
    expect(await stored(number)).toEqual([])
    const statuses = await eventsOf(handle)
    expect(new Set(statuses).size).toBe(statuses.length)
    expect(await shown(name)).toMatchObject({ on: false, hits: 1, remaining: 0, phone: number })
    // The fault is over, and the next message goes as always.
    const next = (await world.send({ number, content: 'Afterwards' })).message_handle
    await world.advance(1000)
    expect((await world.status(next)).status).toBe('DELIVERED')
  })

  it.each(Object.entries(TEXTS))('%s: stored and told once', async (name, expected) => {
    const url = `${sink.url}/${engine}/${name}`
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: { receive: [url] } } })
    const number = someone()
    await on(name, { phone: number })
    await world.text(number, expected.content)
    await world.advance(2 * HOUR)
    const texts = await stored(number)
    expect(texts).toHaveLength(expected.stored.length)
    for (const [i, pattern] of expected.stored.entries()) expect(texts[i]).toMatch(pattern)
    const posted = sink.received.filter(({ path }) => path === `/${engine}/${name}`)
    expect(posted.map(({ body }) => body.content)).toEqual(texts)
    expect(await shown(name)).toMatchObject({ on: true, hits: 1, remaining: null })
  })

  it('threaded-reply-stalls: only replies, and each is on the phone once', async () => {
    const number = someone()
    await on('threaded-reply-stalls')
    const { message_handle: first } = await world.send({ number })
    await world.advance(1000)
    expect((await world.status(first)).status).toBe('DELIVERED')
    const reply = await world.send({ number, content: 'Re', reply_to: { message_handle: first } })
    await world.settle()
    expect((await why(reply.message_handle)).verdict).toBe('on_wire')
    await world.advance(HOUR)
    expect((await why(reply.message_handle)).verdict).toBe('delivered')
    expect(await world.inbox(number)).toHaveLength(2)
    expect(await shown('threaded-reply-stalls')).toMatchObject({ hits: 1 })
  })

  it('mid-thread-downgrade: as long as it is on, every message goes by another service, once', async () => {
    const number = someone()
    const sent: Json[] = []
    for (const content of ['Blue', 'Green', 'Green again', 'Blue again']) {
      if (content === 'Green') await on('mid-thread-downgrade', { phone: number })
      if (content === 'Blue again') await off('mid-thread-downgrade')
      const { message_handle: handle } = await world.send({ number, content })
      await world.advance(5000)
      sent.push(await world.record(handle))
    }
    expect(sent.map(({ service }) => service)).toEqual(['iMessage', 'SMS', 'SMS', 'iMessage'])
    expect(sent.map(({ was_downgraded }) => was_downgraded)).toEqual([false, true, true, false])
    expect(await world.inbox(number)).toHaveLength(4)
  })

  it('stop-confirm-blocked: the opt-out counts, the confirmation says why it failed', async () => {
    const number = someone()
    await on('stop-confirm-blocked')
    await world.send({ number })
    await world.advance(1000)
    await world.text(number, 'STOP')
    await world.advance(HOUR)
    const query = `/api/v2/messages?number=${encodeURIComponent(number)}&is_outbound=true&order_direction=desc`
    const [confirmation] = (await world.get(query)).body.data
    expect(confirmation).toMatchObject({ status: 'ERROR' })
    const story = await why(confirmation.message_handle)
    expect(story.verdict).toBe('refused')
    expect(JSON.stringify(story)).toMatch(/recipient who sent STOP/)
    expect(await world.inbox(number)).toHaveLength(1)
    expect(await world.send({ number })).toMatchObject({ status: 'ERROR', opted_out: true })
  })

  it('line-blocked: what waits fails and says so, and the line still receives', async () => {
    const number = someone()
    await on('line-blocked', { line: LINE, count: 1 })
    const { message_handle: handle } = await world.send({ number })
    await world.advance(HOUR)
    expect((await why(handle)).verdict).toBe('line_blocked')
    expect((await world.events()).map(({ type }) => type)).toContain('line.blocked')
    await world.text(number, 'Still there?')
    await world.advance(1000)
    expect(await stored(number)).toEqual(['Still there?'])
    expect(await world.inbox(number)).toEqual([])
    await world.setLine(LINE, { blocked: false })
  })

  it('burst-after-silence: everything comes at once, in order, once', async () => {
    const number = someone()
    const other = someone()
    await on('burst-after-silence', { phone: number })
    for (let i = 0; i < 30; i++) {
      await world.text(number, `Text ${i}`)
      await world.advance(1000)
    }
    await world.text(other, 'Not stalled')
    await world.advance(1000)
    expect(await stored(number)).toEqual([])
    expect(await stored(other)).toEqual(['Not stalled'])
    await off('burst-after-silence')
    await world.settle()
    expect(await stored(number)).toEqual(Array.from({ length: 30 }, (_, i) => `Text ${i}`))
  })

  it('line-offline: messages wait and go out in order, and the line says so', async () => {
    const number = someone()
    await on('line-offline')
    await world.settle()
    const state = async () =>
      (await world.get('/api/v2/lines/state')).body.lines?.find((one: Json) => one.number === LINE)?.status ??
      JSON.stringify((await world.get('/api/v2/lines/state')).body)
    expect(await state()).toMatch(/OFFLINE/)
    const handles: string[] = []
    for (const content of ['1', '2', '3'])
      handles.push((await world.send({ number, content })).message_handle)
    await world.text(number, 'Hello?')
    await world.advance(HOUR)
    expect(await world.inbox(number)).toEqual([])
    expect(await stored(number)).toEqual([])
    expect((await why(handles[0]!)).verdict).toBe('line_offline')
    await off('line-offline')
    await world.advance(60_000)
    expect((await world.inbox(number)).map(({ content }) => content)).toEqual(['1', '2', '3'])
    expect(await stored(number)).toEqual(['Hello?'])
    for (const handle of handles) expect((await why(handle)).verdict).toBe('delivered')
  })

  it('says what there is and whether any is on', async () => {
    const list = async (as: Who = 'live') => (await world.get('/sim/faults', as)).body
    expect(await list()).toMatchObject({ active: false })
    expect((await list()).data).toHaveLength(SIM_FAULTS.length)
    await on('refused', { line: LINE, phone: ADA, probability: 0.5, count: 3, seed: 7 })
    expect(await list()).toMatchObject({ active: true })
    expect(await shown('refused')).toMatchObject({
      on: true,
      line: LINE,
      phone: ADA,
      probability: 0.5,
      remaining: 3,
      seed: 7,
      hits: 0,
    })
    expect(await list('test')).toMatchObject({ active: false })
    await on('receipt-late', { parameters: { delay_ms: 5000 } })
    expect((await shown('receipt-late')).settings).toEqual({ delay_ms: 5000 })
    expect((await world.call('DELETE', '/sim/faults')).body).toEqual({ off: 2 })
    expect(await list()).toMatchObject({ active: false })
    expect((await off('refused')).body.on).toBe(false)
  })

  it('the next 3 messages, then no more, also after a restart', async () => {
    const number = someone()
    await on('refused', { count: 3 })
    const statuses: string[] = []
    for (let i = 0; i < 5; i++) {
      if (i === 2) await world.restart()
      const { message_handle: handle } = await world.send({ number, content: `${i}` })
      await world.advance(1000)
      statuses.push((await world.status(handle)).status)
    }
    expect(statuses).toEqual(['ERROR', 'ERROR', 'ERROR', 'DELIVERED', 'DELIVERED'])
  })

  it('a chance is drawn from the seed: the same result each time', async () => {
    const run = async (seed: number) => {
      await on('refused', { probability: 0.5, seed })
      const results: boolean[] = []
      for (let i = 0; i < 12; i++) {
        const { message_handle: handle } = await world.send({ number: someone() })
        await world.advance(200)
        results.push((await world.status(handle)).status === 'ERROR')
      }
      return results
    }
    const first = await run(3)
    expect(await run(3)).toEqual(first)
    expect(await run(4)).not.toEqual(first)
    expect(new Set(first).size).toBe(2)
  })

  it('begins and ends with its world, and is of its account alone', async () => {
    const b = await world.addAccount(`faults-${engine}@example.com`, '+12025550151')
    await on('refused')
    const { message_handle: handle } = await world.send(
      { from_number: '+12025550151', number: someone() },
      b.live,
    )
    await world.advance(1000)
    expect((await world.status(handle, b.live)).status).toBe('DELIVERED')
    // A line that both use is not one's own.
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((one: Json) => one.number === SHARED_LINE && one.world === 'live')
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
    const foreign = await world.call('PUT', '/sim/faults/refused', { body: { line: SHARED_LINE } })
    expect(foreign.status).toBe(400)
    const absent = await world.call('PUT', '/sim/faults/refused', { body: { line: '+12025550151' } })
    expect(absent.status).toBe(400)
    const common = await world.send({ from_number: SHARED_LINE, number: someone() })
    await world.advance(1000)
    expect((await world.status(common.message_handle)).status).toBe('DELIVERED')
    await world.call('DELETE', `/admin/lines/${shared.id}/members/${b.id}`, { as: 'admin' })
    await world.post('/sim/reset', {})
    expect((await world.get('/sim/faults')).body.active).toBe(false)
    const after = (await world.send({ number: someone() })).message_handle
    await world.advance(1000)
    expect((await world.status(after)).status).toBe('DELIVERED')
  })

  it('refuses what makes no sense', async () => {
    const bad: [string, Json][] = [
      ['refused', { probability: 0 }],
      ['refused', { probability: 1.5 }],
      ['refused', { count: 0 }],
      ['refused', { count: 1.5 }],
      ['refused', { phone: 'x' }],
      ['refused', { line: '+12025550159' }],
      ['refused', { seed: -1 }],
      ['refused', { parameters: { delay_ms: 1 } }],
      ['receipt-late', { parameters: { delay_ms: -1 } }],
      ['receipt-late', { parameters: { delay_ms: 1.5 } }],
      ['receipt-late', { parameters: { delay_ms: 'x' } }],
      ['line-offline', { count: 1 }],
      ['line-offline', { phone: ADA }],
      ['burst-after-silence', { probability: 0.5 }],
    ]
    for (const [name, body] of bad) {
      const reply = await world.call('PUT', `/sim/faults/${name}`, { body })
      expect([name, body, reply.status]).toEqual([name, body, 400])
    }
    for (const method of ['PUT', 'DELETE'])
      expect((await world.call(method, '/sim/faults/no-such', { body: {} })).status).toBe(404)
    expect((await world.get('/sim/faults', null)).status).toBe(401)
    const { token } = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    expect((await world.get('/sim/faults', { token })).status).toBe(403)
    expect((await world.get('/sim/faults')).body.active).toBe(false)
  })
})
