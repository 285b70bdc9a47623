import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { createWorld, ENGINES, type Json, LINE, SHARED_LINE, START, type World } from '../support/world.js'

const SETTLE = 5000
const CALM = { config: {}, settle_ms: SETTLE, pace: 10, on_unknown: 'hold', blocked: false }

/** The story of a message is right for everything that the simulated network can do to it. */
describe.each(ENGINES)('why, on %s', (engine) => {
  let world: World
  let sink: Sink
  let n = 0
  const someone = () => `+1202555${4000 + ++n}`
  const why = async (handle: string, as?: Json): Promise<Json> => {
    const reply = await world.get(`/v3/messages/${handle}/why`, as)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return reply.body.data
  }
  const line = (config: Record<string, unknown>, settings: Record<string, unknown> = {}) =>
    world.setLine(LINE, { ...CALM, ...settings, config })
  const send = async (fields: Json = {}): Promise<string> => {
    const sent = await world.send({ number: someone(), ...fields })
    expect(sent.message_handle, JSON.stringify(sent)).toBeTypeOf('string')
    await world.settle()
    return sent.message_handle
  }
  const kinds = (story: Json) => story.steps.map((step: Json) => step.what)
  const details = (story: Json, what: string) =>
    story.steps.filter((step: Json) => step.what === what).map((step: Json) => step.detail)
  const webhooks = (config: Json) =>
    world.call('PUT', '/api/account/webhooks', { body: { webhooks: config } })

  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })
  beforeEach(async () => {
    await line({})
    // So that nothing that the test before did shares a moment with this one.
    await world.advance(1000)
  })

  it('delivered and read', async () => {
    const number = someone()
    const handle = await send({ number })
    expect(await why(handle)).toMatchObject({ verdict: 'sent' })
    await world.advance(1000)
    const story = await why(handle)
    expect(story).toMatchObject({
      handle,
      verdict: 'delivered',
      summary: 'The message was delivered by iMessage.',
      next_step: 'Nothing to do.',
    })
    expect(story.steps.map((step: Json) => [step.what, step.detail])).toEqual([
      ['accepted', `Accepted for the line ${LINE}, to ${number}.`],
      ['service', 'iMessage was chosen.'],
      ['attempt', 'Attempt 1 by iMessage: the carrier accepted it.'],
      ['status', 'SENT by iMessage.'],
      ['status', 'DELIVERED by iMessage.'],
    ])
    expect(Date.parse(story.steps[0].at)).toBeGreaterThanOrEqual(START)
    const path = `/sim/phones/${encodeURIComponent(number)}`
    expect((await world.post(`${path}/read`, {})).status).toBe(200)
    await world.settle()
    const read = await why(handle)
    expect(read.summary).toBe('The message was delivered by iMessage. The recipient read it.')
    expect(kinds(read).at(-1)).toBe('read')
  })

  it('unreachable: tried again, then given up', async () => {
    await line({ fault: 'unreachable' })
    const handle = await send()
    const trying = await why(handle)
    expect(trying).toMatchObject({ verdict: 'retrying' })
    expect(trying.summary).toMatch(/^One attempt could not reach the carrier\. Trunkline retries at 2026-/)
    expect(kinds(trying).at(-1)).toBe('waits')
    await world.advance(600_000)
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'unreachable' })
    expect(story.summary).toBe(
      'The line could not be reached in 8 attempts. The message was not sent. The carrier answered: sim.unreachable: The line is unplugged.',
    )
    expect(details(story, 'attempt')).toHaveLength(8)
    expect(details(story, 'attempt')[7]).toBe(
      'Attempt 8 by iMessage: it did not reach the carrier (sim.unreachable: The line is unplugged).',
    )
    expect(kinds(story)).not.toContain('waits')
  })

  it('refuse', async () => {
    await line({ fault: 'refuse' })
    const story = await why(await send())
    expect(story).toMatchObject({ verdict: 'refused' })
    expect(story.summary).toContain('The carrier answered: sim.refused: The carrier refuses this message.')
    expect(details(story, 'status')).toEqual([
      'ERROR 10001, refused: The carrier refused the message (sim.refused: The carrier refuses this message).',
    ])
  })

  it('drop: asked about, found missing, sent again', async () => {
    await line({ fault: 'drop', fault_times: 1 })
    const handle = await send()
    await world.advance(1000)
    expect(await why(handle)).toMatchObject({
      verdict: 'pending_lookup',
      next_step: 'Wait. Do not send the message again: it may already have been sent.',
    })
    await world.advance(SETTLE + 2000)
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'delivered' })
    expect(details(story, 'attempt')).toMatchObject([
      expect.stringMatching(
        /^Attempt 1 by iMessage: it did not reach the carrier \(sim\.dropped: The connection broke/,
      ),
      'Attempt 2 by iMessage: the carrier accepted it.',
    ])
  })

  it('silence: on the wire, then asked about, then sent again', async () => {
    await line({ fault: 'silence', fault_times: 1 })
    const handle = await send()
    await world.advance(20_000)
    const quiet = await why(handle)
    expect(quiet).toMatchObject({ verdict: 'on_wire' })
    expect(quiet.summary).toBe('The message went to the carrier 20 s ago. The carrier has not answered yet.')
    await world.advance(30_000)
    expect(await why(handle)).toMatchObject({ verdict: 'delivered' })
  })

  it.each(['accept-then-drop', 'accept-then-silence'])('%s, with a look-up', async (fault) => {
    await line({ fault, fault_times: 1, lookup_lag_ms: SETTLE - 1000 }, { settle_ms: SETTLE * 20 })
    const handle = await send()
    await world.advance(fault === 'accept-then-drop' ? 1000 : 100)
    expect(await why(handle)).toMatchObject({
      verdict: fault === 'accept-then-drop' ? 'pending_lookup' : 'on_wire',
    })
    await world.advance(60_000)
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'delivered' })
    expect(details(story, 'attempt')).toMatchObject([
      expect.stringMatching(/^Attempt 1 by iMessage: the answer was lost \(.+\), but the carrier has it\.$/),
    ])
  })

  it.each(['accept-then-drop', 'accept-then-silence'])('%s, without a look-up', async (fault) => {
    await line({ fault, fault_times: 1, lookup: false })
    const handle = await send()
    await world.advance(fault === 'accept-then-drop' ? 1000 : 31_000)
    expect(await why(handle)).toMatchObject({ verdict: 'pending_lookup' })
    await world.advance(60_000)
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'outcome_unknown' })
    expect(story.next_step).toMatch(/^The message may have arrived\. Ask the recipient/)
    expect(details(story, 'attempt')[0]).toMatch(/the outcome could not be found out/)
  })

  it('block: the message that met it, and the next that waited', async () => {
    await line({ fault: 'block', latency_ms: 0 }, { pace: 1 })
    const [first, second] = await Promise.all([send({ content: 'a' }), send({ content: 'b' })])
    await world.advance(1000)
    const met = await why(first)
    const story = kinds(met).includes('attempt') ? met : await why(second)
    expect(story).toMatchObject({ verdict: 'line_blocked' })
    expect(story.summary).toContain('sim.blocked: The carrier blocked this line')
    expect(kinds(story)).toContain('line')
    const waited = story === met ? await why(second) : met
    expect(waited).toMatchObject({ verdict: 'line_blocked' })
    expect(waited.next_step).toMatch(/^Send the message from another line/)
    expect(details(waited, 'attempt')).toEqual([])
  })

  it('OFFLINE: it waits for the line and goes out when that is back', async () => {
    await line({ state: 'OFFLINE' })
    await world.advance(1000)
    const handle = await send()
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'line_offline' })
    expect(story.summary).toMatch(/^The line is offline since 2026-.*, so it sends nothing\.$/)
    expect(details(story, 'waits')).toEqual(['The line to come online (Set by the line setting "state").'])
    await world.advance(5000)
    await line({})
    await world.advance(1000)
    const back = await why(handle)
    expect(back).toMatchObject({ verdict: 'delivered' })
    expect(details(back, 'line')).toEqual(['The line became ONLINE.'])
    expect(details(back, 'attempt')).toEqual([
      'Attempt 1 by iMessage after 5.0 s in the queue: the carrier accepted it.',
    ])
  })

  it('a phone that is off', async () => {
    const number = someone()
    await world.setPhone(number, { power: false })
    const handle = await send({ number })
    await world.advance(120_000)
    expect(await why(handle)).toMatchObject({
      verdict: 'phone_off',
      summary: "The carrier accepted the message and sent it by iMessage. The recipient's phone is off.",
    })
    await world.setPhone(number, { power: true })
    await world.advance(1000)
    expect(await why(handle)).toMatchObject({ verdict: 'delivered' })
  })

  it('a phone that refuses everything', async () => {
    const number = someone()
    await world.setPhone(number, { refuses: true })
    const story = await why(await send({ number }))
    expect(story).toMatchObject({ verdict: 'refused' })
    expect(story.summary).toContain('sim.refused: The recipient refuses everything')
  })

  it('a phone without iMessage: another service is chosen, and text messages have no receipts', async () => {
    const number = someone()
    await world.setPhone(number, { imessage: false })
    const handle = await send({ number })
    await world.advance(1000)
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'sent_no_receipts', next_step: 'Nothing to do.' })
    expect(story.summary).toContain('The recipient is not on iMessage.')
    expect(details(story, 'service')).toEqual(['The recipient is not on iMessage: SMS was chosen.'])
  })

  it('what never goes out as a text message', async () => {
    const number = someone()
    await world.setPhone(number, { imessage: false })
    const urls = ['https://a.example/1.png', 'https://a.example/2.png']
    const sent = await world.post('/api/send-carousel', { from_number: LINE, number, media_urls: urls })
    const handle = sent.body.message_handle ?? sent.body.data?.message_handle
    await world.advance(1000)
    expect(await why(handle)).toMatchObject({ verdict: 'not_imessage' })
  })

  it('a line without receipts', async () => {
    await line({ receipts: false })
    const handle = await send()
    await world.advance(10_000)
    expect(await why(handle)).toMatchObject({ verdict: 'sent' })
    await world.advance(60_000)
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'sent_no_receipts' })
    expect(story.summary).toMatch(/No delivery receipt has arrived for 70 s\.$/)
  })

  it('somebody who opted out', async () => {
    const number = someone()
    await world.text(number, 'STOP')
    await world.advance(1000)
    const story = await why(await send({ number }))
    expect(story).toMatchObject({ verdict: 'opted_out' })
    expect(story.next_step).toContain('START')
    expect(kinds(story)).toEqual(['accepted', 'status'])
  })

  it('a conversation that is held, released and dropped', async () => {
    const { id } = await line({ latency_ms: 0 }, { loop_limit: 4 })
    const number = someone()
    for (let i = 0; i < 5; i++) {
      await world.text(number, `machine ${i}`)
      await world.advance(100)
      await world.send({ number, content: `answer ${i}` })
      await world.advance(100)
    }
    const handle = await send({ number, content: 'held' })
    const story = await why(handle)
    expect(story).toMatchObject({ verdict: 'conversation_held' })
    expect(story.summary).toMatch(/^The two sides replied to each other 4 times without a pause/)
    const release = { line_id: id, conversation: number, drop: true }
    expect((await world.post('/admin/conversations/release', release, 'admin')).status).toBe(200)
    const dropped = await why(handle)
    expect(dropped).toMatchObject({ verdict: 'conversation_dropped' })
    expect(details(dropped, 'conversation')).toEqual(['The conversation was released.'])
    await line({}, { loop_limit: null })
  })

  it('the pace of the line, and an earlier message of the conversation', async () => {
    await line({}, { pace: 1 })
    await world.advance(2000)
    await send()
    const handles = [await send(), await send()]
    const number = someone()
    const [ahead, behind] = [await send({ number, content: 'a' }), await send({ number, content: 'b' })]
    const paced = await why(handles[1]!)
    expect(paced).toMatchObject({ verdict: 'waiting_for_pace' })
    expect(paced.summary).toBe('The line sends at most 1 message a second. 1 message is ahead of this one.')
    const story = await why(behind!)
    expect(story).toMatchObject({ verdict: 'queued_behind' })
    expect(story.next_step).toBe(`Check the first of them: ${ahead}.`)
    await world.advance(20_000)
    for (const handle of [...handles, ahead, behind])
      expect(await why(handle!)).toMatchObject({ verdict: 'delivered' })
  })

  it('webhooks that fail, are tried again and are removed', async () => {
    await webhooks({ outbound: [`${sink.url}/out`] })
    sink.answer(() => 500)
    const handle = await send()
    await world.advance(1000)
    const trying = await why(handle)
    expect(trying.summary).toMatch(/1 of 3 webhook deliveries about it is retried; .*answered 500/)
    await world.advance(3_600_000)
    const lost = await why(handle)
    expect(lost).toMatchObject({ verdict: 'delivered' })
    expect(lost.summary).toBe(
      'The message was delivered by iMessage. 3 of 3 webhook deliveries about it failed; the last one: the receiver answered 500.',
    )
    const [, id] =
      /^Fix the webhook receiver, then replay the delivery: POST \/v3\/webhook-deliveries\/(\d+)\/replay\.$/.exec(
        lost.next_step,
      )!
    sink.answer(() => 200)
    expect((await world.post(`/v3/webhook-deliveries/${id}/replay`, {})).status).toBe(202)
    await world.advance(1000)
    const replayed = await why(handle)
    expect(replayed.summary).toContain('2 of 3 webhook deliveries about it failed')
    expect(details(replayed, 'webhook')).toContain(
      `outbound to ${sink.url}/out about message.updated: delivered; posted 5 times, the answer was 200.`,
    )

    sink.answer(() => 410)
    const gone = await send()
    await world.advance(1000)
    const story = await why(gone)
    expect(story.next_step).toMatch(/answered 410, so the webhook was removed/)

    await webhooks({ outbound: [`${sink.url}/again`] })
    sink.answer(() => 500)
    const orphan = await send()
    await world.advance(1000)
    await webhooks({})
    await world.advance(600_000)
    const off = await why(orphan)
    expect(off.summary).toMatch(/ 3 of 3 webhook deliveries about it were canceled\.$/)
    expect(off.next_step).toBe('Add the webhook again if you still want its deliveries.')
    sink.answer(() => 200)
  })

  it('a message that came in, with and without a webhook', async () => {
    await webhooks({ receive: [`${sink.url}/in`] })
    const [number, other] = [someone(), someone()]
    await world.text(number, 'Hello')
    await world.advance(1000)
    const find = async (from: string) =>
      (await world.get(`/api/v2/messages?number=${encodeURIComponent(from)}`)).body.data[0].message_handle
    const story = await why(await find(number))
    expect(story).toMatchObject({ verdict: 'received', next_step: 'Nothing to do.' })
    expect(story.summary).toBe(
      `The message arrived from ${number} by iMessage. All of its webhooks were delivered.`,
    )
    expect(kinds(story)).toEqual(['received', 'webhook'])
    await webhooks({})
    await world.text(other, 'Hello')
    await world.advance(1000)
    expect((await why(await find(other))).summary).toContain('No webhook is configured for inbound messages.')
  })

  it('on a shared line, messages of another account to the same person are neither shown nor waited for', async () => {
    const c = await world.addAccount('c@example.com', '+12025550152')
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((one: Json) => one.number === SHARED_LINE && one.world === 'live')
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: c.id }, 'admin')
    const number = someone()
    await world.text(number, 'Hello', { to: SHARED_LINE })
    await world.advance(1000)
    await world.setLine(SHARED_LINE, { config: { fault: 'unreachable' } })
    const ahead = await send({ number, from_number: SHARED_LINE })
    const sent = await world.send({ number, from_number: SHARED_LINE, content: 'mine' }, c.live)
    const story = await why(sent.message_handle, c.live)
    expect(story.verdict).not.toBe('queued_behind')
    expect(JSON.stringify(story)).not.toContain(ahead)
    await world.setLine(SHARED_LINE, { config: {} })
  })

  it('a deleted message, another account and a token of other lines find nothing', async () => {
    const b = await world.addAccount('b@example.com', '+12025550151')
    const handle = await send({ content: 'canary' })
    await world.advance(1000)
    const absent = await world.get('/v3/messages/no-such-handle/why')
    expect(absent).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    const same = async (as: Json) => {
      const reply = await world.get(`/v3/messages/${handle}/why`, as)
      expect([reply.status, reply.body]).toEqual([404, absent.body])
    }
    await same(b.live)
    await same('test')
    const token = async (numbers: string[]) =>
      (await world.post('/v3/auth/tokens', { phone_numbers: numbers })).body.token
    const elsewhere = await token([SHARED_LINE])
    await same({ token: elsewhere })
    const here = await token([LINE])
    await webhooks({ outbound: [`${sink.url}/secret-path`] })
    const posted = await send()
    await world.advance(1000)
    const story = await why(posted, { token: here })
    expect(story).toMatchObject({ verdict: 'delivered' })
    expect(kinds(story)).toContain('webhook')
    expect(JSON.stringify(story)).not.toContain('secret-path')
    expect(JSON.stringify(await why(posted))).toContain('secret-path')
    await webhooks({})
    expect((await world.get(`/v3/messages/${handle}/why`, 'admin')).status).toBe(403)
    expect((await world.get(`/v3/messages/${handle}/why`, null)).status).toBe(401)
    expect((await world.call('DELETE', `/api/v2/messages/${handle}`)).status).toBe(200)
    await same('live')
  })
})
