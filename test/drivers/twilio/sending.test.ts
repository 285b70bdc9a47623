import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formOf, upload } from '../../media/support.js'
import { ANNA, createTwilioWorld, NUMBER, type TwilioWorld } from '../../support/drivers/twilio-world.js'
import { PNG, pattern } from '../../support/files.js'
import { ENGINES, type Json } from '../../support/world.js'

const SEND = 'POST Messages'
const LIST = 'GET Messages'
const MINUTE = 60_000
const HOUR = 3_600_000

describe.each(ENGINES)('messages out through Twilio on %s', (engine) => {
  let on: TwilioWorld
  beforeEach(async () => {
    on = await createTwilioWorld(engine)
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

  it('takes statuses from callbacks in any order, repeated and lost', async () => {
    on.peer.become('delivered')
    on.peer.webhooks.hold()
    on.peer.webhooks.become('twice')
    const handle = await on.send('mixed up')
    expect(await on.status(handle)).toBe('ACCEPTED')
    on.peer.webhooks.release()
    expect(await on.peer.webhooks.called()).toEqual([204, 204, 204, 204])
    expect(await on.status(handle)).toBe('DELIVERED')
    on.peer.webhooks.become('lost')
    const second = await on.send('asked for')
    expect(await on.status(second)).toBe('ACCEPTED')
    await on.pass(2 * MINUTE)
    expect(await on.status(second)).toBe('DELIVERED')
  })

  it('asks less and less often about a message that never changes, and stops after a day', async () => {
    on.peer.become('queued')
    await on.send('waiting')
    for (let hours = 0; hours < 30; hours++) await on.world.advance(HOUR)
    await on.world.settle()
    const asked = on.peer.heard.filter((route) => route === 'GET Messages/:sid').length
    expect(asked).toBeGreaterThan(4)
    expect(asked).toBeLessThan(20)
  })

  it('learns from a callback that a send arrived whose answer was lost', async () => {
    on.peer.fault(SEND, 'cut after')
    on.peer.fault(LIST, { status: 500 })
    const handle = await on.send('lost 201')
    await on.peer.webhooks.called()
    await on.world.settle()
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['lost 201']])
  })

  it.each([
    [401, 20003, 'QUEUED', null, null],
    [429, 20429, 'QUEUED', null, null],
    [400, 14107, 'QUEUED', null, null],
    [400, 21611, 'QUEUED', null, null],
    [400, 21614, 'ERROR', 'refused', '21614: The recipient is not a mobile number'],
    [400, 29999, 'ERROR', 'refused', '29999: Injected'],
    [404, 20404, 'ERROR', 'refused', '20404: Twilio does not know this account'],
    [404, undefined, 'PENDING', null, null],
    [400, undefined, 'PENDING', null, null],
    [500, 20500, 'PENDING', null, null],
    [503, 20503, 'PENDING', null, null],
    [502, undefined, 'PENDING', null, null],
  ])('HTTP %s with the number %s: %s', async (status, code, expected, reason, detail) => {
    on.peer.fault(SEND, { status, ...(code ? { code } : {}) })
    const handle = await on.send('classified')
    expect(await verdict(handle)).toEqual([expected, reason, detail])
    expect(on.texts()).toEqual([])
  })

  it('waits as long as Twilio says, and sends once', async () => {
    on.peer.fault(SEND, { status: 429, code: 20429, after: '90' })
    const handle = await on.send('slowly')
    on.peer.clear()
    await on.pass(MINUTE)
    expect(on.texts()).toEqual([])
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['slowly']])
  })

  it('takes a page instead of an answer as no answer', async () => {
    on.peer.fault(SEND, 'html')
    const handle = await on.send('hotel network')
    expect(await on.status(handle)).toBe('PENDING')
    on.peer.clear()
    await on.pass(3 * MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['hotel network']])
  })

  it('records an opt-out that only Twilio knows of, and asks Twilio no more', async () => {
    on.peer.optedOut.add(ANNA)
    const handle = await on.send('unwanted')
    expect((await verdict(handle))[2]).toBe(
      '21610: The recipient opted out of messages from this number with STOP',
    )
    const before = on.peer.heard.filter((route) => route === SEND).length
    const next = await on.send('still unwanted')
    expect((await on.world.record(next)).opted_out).toBe(true)
    expect(on.peer.heard.filter((route) => route === SEND).length).toBe(before)
    const events = (await on.world.events()).filter(({ type }: Json) => type === 'contact.opted_out')
    expect(events.map(({ subject }: Json) => subject)).toEqual([ANNA])
  })

  it('explains why the carrier did not deliver, and says so of the line if it concerns the line', async () => {
    on.peer.become({ error: 30034 })
    const handle = await on.send('unregistered')
    await on.peer.webhooks.called()
    await on.world.settle()
    const words = 'The number is not registered for US messages (A2P 10DLC)'
    expect(await verdict(handle)).toEqual(['ERROR', 'undelivered', `30034: ${words}`])
    expect(await on.line()).toMatchObject({ state: 'DEGRADED', state_detail: words })
    on.peer.become('sent')
    await on.send('registered')
    await on.peer.webhooks.called()
    await on.world.settle()
    expect((await on.line()).state).toBe('ONLINE')
  })

  it('holds its messages while Twilio rejects the credentials, and sends them with the right ones', async () => {
    await change({ auth_token: 'wrong' })
    await on.pass(MINUTE)
    const handle = await on.send('patient')
    await on.pass(10 * MINUTE)
    expect(await on.line()).toMatchObject({
      state: 'OFFLINE',
      state_detail:
        'Twilio rejects the credentials. Copy account_sid and auth_token, or the API key, from the Twilio console.',
    })
    expect(await on.status(handle)).toBe('QUEUED')
    await change({ auth_token: on.peer.token })
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['patient']])
  })

  it('sends with an API key, and without an auth token learns everything by asking', async () => {
    const key = `SK${'d4'.repeat(16)}`
    on.peer.keys.set(key, 'canary-secret')
    const { auth_token: _, ...rest } = on.config
    const body = { config: { ...rest, api_key: key, api_secret: 'canary-secret', auth_token: null } }
    expect((await on.world.call('PATCH', `/admin/lines/${on.lineId}`, { as: 'admin', body })).status).toBe(
      200,
    )
    on.peer.keys.delete(on.peer.account)
    await on.pass(MINUTE)
    on.peer.become('delivered')
    const handle = await on.send('by key')
    expect(on.peer.sent()[0]!.callback).toBe('')
    await on.pass(MINUTE)
    expect(await on.status(handle)).toBe('DELIVERED')
  })

  it('sends files by their address, and through a Messaging Service', async () => {
    await change({ messaging_service_sid: on.peer.service, validity_s: 600 })
    await on.pass(MINUTE)
    const media = (await upload(on.world, formOf(PNG))).body.media_url
    const handle = await on.send('look', { media_url: media })
    await on.peer.webhooks.called()
    expect(await on.status(handle)).toBe('SENT')
    expect(on.peer.sent()[0]).toMatchObject({ mediaUrls: [media], service: on.peer.service, from: NUMBER })
  })

  it('takes pictures of 5 MB and other files of 500 KB', async () => {
    const picture = formOf(Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), pattern(4_900_000)]), 'a.jpg')
    const media = (await upload(on.world, picture)).body.media_url
    await on.send('large', { media_url: media })
    expect(on.peer.sent()[0]!.mediaUrls).toEqual([media])
    const paper = formOf(Buffer.concat([Buffer.from('%PDF-1.4 '), pattern(600_000)]), 'a.pdf')
    const handle = await on.send('paper', { media_url: (await upload(on.world, paper)).body.media_url })
    expect((await on.world.record(handle)).error_detail).toContain('at most 500 KB of it')
    expect(on.peer.sent()).toHaveLength(1)
  })

  it('goes on asking about its messages after a restart', async () => {
    on.peer.webhooks.become('lost')
    const handle = await on.send('before')
    await on.world.restart()
    on.peer.set(on.peer.sent()[0]!, 'delivered')
    await on.pass(2 * MINUTE)
    expect(await on.status(handle)).toBe('DELIVERED')
  })

  it('asks a Twilio that is away seldom, however many messages are open, and warns once', async () => {
    on.peer.webhooks.become('lost')
    on.peer.become('queued')
    for (let i = 0; i < 30; i++) await on.send(`text ${i}`)
    on.peer.heard.length = 0
    for (const route of ['GET Messages/:sid', 'GET Messages', 'GET IncomingPhoneNumbers'])
      on.peer.fault(route, 'cut before')
    await on.pass(3 * 60_000)
    const asked = on.peer.heard.filter((route) => route === 'GET Messages/:sid').length
    expect([asked > 0, asked <= 12]).toEqual([true, true])
    const warnings = (text: string) => on.world.logs.filter((line) => line.includes(text)).length
    expect(warnings('could not ask Twilio about sent messages')).toBe(1)
    expect(warnings("could not read Twilio's list")).toBe(1)
  })
})
