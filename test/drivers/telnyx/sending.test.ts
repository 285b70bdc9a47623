import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formOf, upload } from '../../media/support.js'
import { ANNA, createTelnyxWorld, NUMBER, type TelnyxWorld } from '../../support/drivers/telnyx-world.js'
import { PNG, pattern } from '../../support/files.js'
import { ENGINES, type Json } from '../../support/world.js'

const SEND = 'POST /messages'
const ASK = 'GET /messages/:id'
const MINUTE = 60_000
const HOUR = 3_600_000

describe.each(ENGINES)('messages out through Telnyx on %s', (engine) => {
  let on: TelnyxWorld
  beforeEach(async () => {
    on = await createTelnyxWorld(engine)
  })
  afterEach(() => on.close())

  const change = (config: object) =>
    on.world.call('PATCH', `/admin/lines/${on.lineId}`, {
      as: 'admin',
      body: { config: { ...on.config, ...config } },
    })
  const verdict = async (handle: string) => {
    const { status, error_detail: detail, error_reason: reason } = await on.world.record(handle)
    return [status, reason, detail]
  }
  const called = async () => {
    const statuses = await on.peer.webhooks.called()
    await on.world.settle()
    return statuses
  }

  it('carry our ref as the idempotency key and in the address for reports', async () => {
    await on.send('hello')
    const [row] = on.peer.sent()
    expect(row!.idempotencyKey).toMatch(/^[A-Za-z0-9_:-]{1,255}$/)
    expect(row!.webhookUrl).toContain(`?ref=${row!.idempotencyKey}`)
    expect(row).toMatchObject({ from: NUMBER, to: [ANNA], useProfile: false })
  })

  it('takes statuses from webhooks in any order, repeated and lost', async () => {
    on.peer.become('delivered')
    on.peer.webhooks.hold()
    on.peer.webhooks.become('twice')
    const handle = await on.send('mixed up')
    expect(await on.status(handle)).toBe('ACCEPTED')
    on.peer.webhooks.release()
    expect(await called()).toEqual([204, 204, 204, 204])
    expect(await on.status(handle)).toBe('DELIVERED')
    on.peer.webhooks.become('vanished')
    const second = await on.send('asked for')
    expect(await on.status(second)).toBe('ACCEPTED')
    await on.pass(2 * MINUTE)
    expect(await on.status(second)).toBe('DELIVERED')
  })

  it('takes statuses that did not get through from the log', async () => {
    on.peer.become('delivered')
    on.peer.webhooks.become('lost')
    on.peer.fault(ASK, { status: 500 })
    const handle = await on.send('logged')
    await on.pass(30_000)
    expect(await on.status(handle)).toBe('DELIVERED')
  })

  it('accepts events with names that are not known, and reads what they say', async () => {
    const handle = await on.send('renamed')
    await called()
    const [row] = on.peer.sent()
    const shown = on.peer.messages.shown({ ...row!, status: 'delivered' })
    on.peer.webhooks.call([row!.webhookUrl], 'message.delivered', shown)
    on.peer.webhooks.call([row!.webhookUrl], 'number.ported', { what: 'ever' })
    on.peer.webhooks.call([row!.webhookUrl], 'message.sent', { ...shown, to: [{ status: 'levitating' }] })
    on.peer.webhooks.call([row!.webhookUrl], 'message.sent', { direction: 'outbound' })
    expect(await called()).toEqual([204, 204, 204, 204])
    expect(await on.status(handle)).toBe('DELIVERED')
  })

  it('ignores statuses of other numbers of the profile', async () => {
    const alien = on.peer.messages.add({
      direction: 'outbound',
      from: '+12025559999',
      to: [ANNA],
      text: 'not ours',
    })
    on.peer.set(alien, 'delivered')
    expect(await called()).toEqual([204])
    const rows = await on.world.app.ctx.db.all('select * from parked_receipts')
    expect(rows).toEqual([])
  })

  it('stays SENT if the delivery cannot be confirmed, and asks no more', async () => {
    const handle = await on.send('unconfirmed')
    on.peer.set(on.peer.sent()[0]!, 'delivery_unconfirmed')
    await called()
    on.peer.heard.length = 0
    await on.pass(10 * MINUTE)
    expect([await on.status(handle), on.peer.heard.includes(ASK)]).toEqual(['SENT', false])
  })

  it('asks less and less often about a message that never changes, and stops after a day', async () => {
    on.peer.become('queued')
    await on.send('waiting')
    for (let hours = 0; hours < 30; hours++) await on.world.advance(HOUR)
    await on.world.settle()
    const asked = on.peer.heard.filter((route) => route === ASK).length
    expect(asked).toBeGreaterThan(4)
    expect(asked).toBeLessThan(20)
  })

  it('learns from a webhook that a send arrived whose answer was lost', async () => {
    on.peer.fault(SEND, 'cut after')
    on.peer.fault('GET /webhook_deliveries', { status: 500 })
    const handle = await on.send('lost 200')
    await called()
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['lost 200']])
  })

  it.each([
    [401, 10009, 'QUEUED', null, null],
    [429, 10011, 'QUEUED', null, null],
    [429, undefined, 'QUEUED', null, null],
    [400, 40318, 'QUEUED', null, null],
    [400, 40310, 'ERROR', 'refused', '40310: The recipient is not a valid phone number'],
    [403, 20100, 'ERROR', 'refused', '20100: The Telnyx account has no funds left'],
    [422, 49999, 'ERROR', 'refused', '49999: Injected'],
    [400, 10007, 'PENDING', null, null],
    [408, 10008, 'PENDING', null, null],
    [400, undefined, 'PENDING', null, null],
    [404, undefined, 'PENDING', null, null],
    [500, 10007, 'PENDING', null, null],
    [503, 40300, 'PENDING', null, null],
    [302, undefined, 'PENDING', null, null],
  ])('HTTP %s with the number %s: %s', async (status, code, expected, reason, detail) => {
    on.peer.fault(SEND, { status, ...(code ? { code } : {}) })
    const handle = await on.send('classified')
    expect(await verdict(handle)).toEqual([expected, reason, detail])
    expect(on.texts()).toEqual([])
  })

  it('waits as long as Telnyx says, and sends once', async () => {
    on.peer.fault(SEND, { status: 429, code: 10011, headers: { 'x-ratelimit-reset': '90' } })
    const handle = await on.send('slowly')
    on.peer.clear()
    await on.pass(MINUTE)
    expect(on.texts()).toEqual([])
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['slowly']])
  })

  it('records an opt-out that only Telnyx knows of, and asks Telnyx no more', async () => {
    on.peer.refuseWith(40300)
    const handle = await on.send('unwanted')
    expect((await verdict(handle))[2]).toBe(
      '40300: The recipient opted out of messages from this messaging profile with STOP',
    )
    const before = on.peer.heard.filter((route) => route === SEND).length
    const next = await on.send('still unwanted')
    expect((await on.world.record(next)).opted_out).toBe(true)
    expect(on.peer.heard.filter((route) => route === SEND).length).toBe(before)
    const events = (await on.world.events()).filter(({ type }: Json) => type === 'contact.opted_out')
    expect(events.map(({ subject }: Json) => subject)).toEqual([ANNA])
  })

  it('reads the opt-outs of the profile, each once, so that a later START counts', async () => {
    on.peer.optOuts.push({ from: NUMBER, to: ANNA, keyword: 'STOP', createdAt: on.now() })
    await on.pass(6 * MINUTE)
    expect((await on.world.record(await on.send('unwanted'))).opted_out).toBe(true)
    on.peer.text(ANNA, 'START')
    await called()
    await on.world.restart(on.now() + MINUTE)
    await on.pass(6 * MINUTE)
    on.peer.optOuts.length = 0
    await on.send('welcome back')
    expect(on.texts()).toEqual(['welcome back'])
  })

  it('explains why the carrier did not deliver, and says so of the line if it concerns the line', async () => {
    on.peer.become({ error: 40010 })
    const handle = await on.send('unregistered')
    await called()
    const words = 'The number is not registered for US messages (10DLC)'
    expect(await verdict(handle)).toEqual(['ERROR', 'undelivered', `40010: ${words}`])
    expect(await on.line()).toMatchObject({ state: 'DEGRADED', state_detail: words })
    on.peer.become('sent')
    await on.send('registered')
    await called()
    expect((await on.line()).state).toBe('ONLINE')
  })

  it('holds its messages while Telnyx rejects the key, and sends them with the right one', async () => {
    on.peer.changeKey('KEY-new')
    const handle = await on.send('patient')
    await on.pass(10 * MINUTE)
    expect(await on.line()).toMatchObject({
      state: 'OFFLINE',
      state_detail: 'Telnyx rejects the API key. Copy a key of version 2 from the Telnyx portal.',
    })
    expect(await on.status(handle)).toBe('QUEUED')
    expect((await change({ api_key: 'KEY-new' })).status).toBe(200)
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['patient']])
  })

  it('sends files by their address', async () => {
    const media = (await upload(on.world, formOf(PNG))).body.media_url
    const handle = await on.send('look', { media_url: media })
    await called()
    expect(await on.status(handle)).toBe('SENT')
    expect(on.peer.sent()[0]).toMatchObject({ media: [{ url: media }] })
    expect(await on.world.record(handle)).toMatchObject({ service: 'SMS', was_downgraded: null })
  })

  it('takes files of 1 MB', async () => {
    const paper = formOf(Buffer.concat([Buffer.from('%PDF-1.4 '), pattern(1_000_000)]), 'a.pdf')
    const handle = await on.send('paper', { media_url: (await upload(on.world, paper)).body.media_url })
    expect((await on.world.record(handle)).error_detail).toContain('at most 1 MB of it')
    expect(on.peer.sent()).toEqual([])
  })

  it('goes on asking about its messages after a restart', async () => {
    on.peer.webhooks.become('vanished')
    const handle = await on.send('before')
    await on.world.restart()
    on.peer.set(on.peer.sent()[0]!, 'delivered')
    await on.pass(2 * MINUTE)
    expect(await on.status(handle)).toBe('DELIVERED')
  })

  it('asks a Telnyx that is away seldom, however many messages are open, and warns once', async () => {
    on.peer.webhooks.become('vanished')
    on.peer.become('queued')
    for (let i = 0; i < 30; i++) await on.send(`text ${i}`)
    on.peer.heard.length = 0
    for (const route of [ASK, 'GET /webhook_deliveries', 'GET /phone_numbers/messaging'])
      on.peer.fault(route, 'cut before')
    await on.pass(3 * MINUTE)
    const asked = on.peer.heard.filter((route) => route === ASK).length
    expect([asked > 0, asked <= 12]).toEqual([true, true])
    const warnings = (text: string) => on.world.logs.filter((line) => line.includes(text)).length
    expect(warnings('could not ask Telnyx about sent messages')).toBe(1)
    expect(warnings("could not read Telnyx's log")).toBe(1)
  })
})
