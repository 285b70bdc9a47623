import { afterEach, describe, expect, it } from 'vitest'
import { blueBubbles } from '../../../src/drivers/bluebubbles/bluebubbles.js'
import { createLineHttp } from '../../../src/services/lines/http.js'
import { ANNA, BEN, CARA, createMacWorld, MAC, type MacWorld } from '../../support/drivers/mac-world.js'
import { ENGINES, type Json } from '../../support/world.js'

const HOUR = 3_600_000
const MINUTE = 60_000

describe.each(ENGINES)('different Macs, on %s', (engine) => {
  let kit: MacWorld
  afterEach(() => kit.close())
  const start = async (options: Parameters<typeof createMacWorld>[1] = {}) => {
    kit = await createMacWorld(engine, { ...options, config: { poll_ms: HOUR, ...options.config } })
  }
  const contents = async () => (await kit.inbound()).map((one: Json) => one.content)

  it('works with macOS 26, whose chats name no service, and a clock five minutes behind', async () => {
    await start({ mac: { chatPrefix: 'any', osVersion: '26.0', skewMs: -5 * MINUTE }, config: { sms: true } })
    expect(await kit.line()).toMatchObject({
      state: 'DEGRADED',
      state_detail: expect.stringContaining('clock'),
    })
    kit.mac.phone(BEN).text('From afar')
    kit.mac.phone(CARA).text('By SMS', { service: 'SMS' })
    await kit.settle()
    expect((await kit.inbound()).map((one: Json) => [one.content, one.service])).toEqual([
      ['From afar', 'iMessage'],
      ['By SMS', 'SMS'],
    ])
    await kit.send({ number: BEN, content: 'Hi' })
    await kit.advance(3000)
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: true })
    const unsure = await kit.send({ number: BEN, content: 'Did it go?' })
    await kit.advance(10_000)
    expect(await kit.record(unsure.message_handle)).toMatchObject({
      status: 'DELIVERED',
      service: 'iMessage',
    })
    expect(kit.mac.phone(BEN).texts()).toEqual(['Hi', 'Did it go?'])
    kit.mac.phone(BEN).next({ downgrade: true })
    const green = await kit.send({ number: BEN, content: 'Green' })
    await kit.advance(3000)
    expect(await kit.record(green.message_handle)).toMatchObject({
      status: 'SENT',
      service: 'SMS',
      was_downgraded: true,
    })
  })

  it('sends SMS through the Mac, known before or after an iMessage refusal', async () => {
    await start({ config: { sms: true }, mac: { skewMs: 5 * MINUTE } })
    kit.mac.phone(ANNA).person.imessage = false
    const known = await kit.send({ content: 'To a green phone' })
    await kit.advance(5000)
    expect(kit.mac.phone(ANNA).inbox).toMatchObject([{ text: 'To a green phone', service: 'SMS' }])
    expect(await kit.record(known.message_handle)).toMatchObject({
      status: 'SENT',
      service: 'SMS',
      was_downgraded: true,
    })

    await kit.send({ number: BEN, content: 'Blue' })
    await kit.advance(5000)
    kit.mac.phone(BEN).person.imessage = false
    const changed = await kit.send({ number: BEN, content: 'Was blue' })
    await kit.advance(10_000)
    expect(kit.mac.phone(BEN).inbox.map(({ text, service }) => [text, service])).toEqual([
      ['Blue', 'iMessage'],
      ['Was blue', 'SMS'],
    ])
    expect(await kit.record(changed.message_handle)).toMatchObject({ status: 'SENT', service: 'SMS' })
    // Apple refuses only after a while.
    kit.mac.phone(CARA).next({ error: 22, errorAfterMs: 3000 })
    await kit.send({ number: CARA, content: 'Late no' })
    await kit.advance(20_000)
    expect(kit.mac.phone(CARA).inbox.map(({ text, service }) => [text, service])).toEqual([
      ['Late no', 'SMS'],
    ])
  })

  it('uses the extra features of the Swift server: cards, locations, any emoji, stop typing', async () => {
    await start({ mac: { profile: 'swift', findMy: true }, config: { server: 'swift' } })
    await kit.send({ content: 'Hi' })
    await kit.advance(3000)
    const anna = kit.mac.phone(ANNA)
    const card = await kit.world.post('/api/send-message', {
      from_number: MAC,
      number: ANNA,
      app_card: {
        appName: 'Game',
        extensionBundleId: 'com.example.game.ext',
        teamId: 'ABCDE12345',
        layout: { caption: 'Your turn' },
        url: 'https://example.com/game/1',
      },
    })
    expect(card.body).toMatchObject({ status: 'QUEUED' })
    await kit.settle()
    await kit.advance(3000)
    expect(anna.inbox.at(-1)!.app).toMatchObject({ url: 'https://example.com/game/1', caption: 'Your turn' })

    const asked = await kit.world.post('/api/request-location', { from_number: MAC, number: ANNA })
    expect(asked.status).toBe(202)
    await kit.settle()
    await kit.advance(3000)
    expect(anna.person.locationRequests).toBe(1)
    anna.shareLocation({ coordinates: [48.1, 11.5], long_address: 'Marienplatz', status: 'live' })
    await kit.settle()
    const place = await kit.world.get(
      `/api/location/${encodeURIComponent(ANNA)}?from_number=${encodeURIComponent(MAC)}`,
    )
    expect(JSON.stringify(place.body)).toContain('48.1')

    const guid = anna.text('React to this')
    await kit.settle()
    const { message_handle } = (await kit.inbound()).at(-1)
    const reacted = await kit.world.post('/api/send-reaction', {
      from_number: MAC,
      message_handle,
      reaction: '🦄',
    })
    expect(reacted.status).toBe(200)
    await kit.advance(1000)
    expect(anna.person.tapbacks.at(-1)).toMatchObject({ guid, emoji: '🦄' })
    const typing = (state: string) =>
      kit.world.post('/api/send-typing-indicator', { from_number: MAC, number: ANNA, state })
    await typing('start')
    await kit.advance(1000)
    expect(anna.person.typing).toBe(true)
    await typing('stop')
    expect(anna.person.typing).toBe(false)
  })

  it('polls imessage-rs, which cannot register webhooks', async () => {
    await start({ mac: { profile: 'imessage-rs' }, config: { server: 'imessage_rs', poll_ms: 20_000 } })
    kit.mac.phone(ANNA).text('Hello')
    await kit.settle()
    expect(await contents()).toEqual([])
    await kit.advance(20_000)
    expect(await contents()).toEqual(['Hello'])
    const sent = await kit.send({ content: 'Hi' })
    await kit.advance(5000)
    expect(await kit.record(sent.message_handle)).toMatchObject({ status: 'DELIVERED' })
  })

  it('catches up on thousands of messages, without those older than the line', async () => {
    await start({ mac: { switches: { drop: true } } })
    kit.mac.phone(ANNA).text('Old', { sentAt: kit.world.app.ctx.clock.now() - 30 * 24 * HOUR })
    for (let n = 0; n < 1100; n++)
      kit.mac.phone(n % 2 ? ANNA : BEN).text(`Message ${n}`, { sentAt: kit.world.app.ctx.clock.now() - n })
    await kit.advance(HOUR)
    const came = await kit.world.app.ctx.db.all<{ content: string }>(
      'select content from messages where line_id = $1 and is_outbound = 0',
      [kit.lineId],
    )
    expect(came).toHaveLength(1100)
    expect(new Set(came.map((one) => one.content)).size).toBe(1100)
  })

  it('notices a recreated database, while polling and while stopped', async () => {
    await start({ mac: { switches: { drop: true } } })
    for (let n = 0; n < 60; n++) kit.mac.phone(ANNA).text(`Before ${n}`)
    await kit.advance(HOUR)
    expect(await contents()).toHaveLength(60)
    kit.mac.rebuild()
    kit.mac.phone(ANNA).text('After')
    await kit.advance(HOUR)
    expect((await contents()).slice(60)).toEqual(['After'])
    await kit.world.restart()
    // The new database is longer: the row read last exists, but holds another message.
    kit.mac.rebuild((row) => row.text !== 'Before 3')
    for (let n = 0; n < 80; n++) kit.mac.phone(BEN).text(`Much later ${n}`)
    await kit.advance(2 * HOUR)
    const all = await contents()
    expect(all.slice(61).sort()).toEqual(Array.from({ length: 80 }, (_, n) => `Much later ${n}`).sort())
  })

  it('`line test` explains what is wrong', async () => {
    await start()
    const client = createLineHttp(kit.world.app.ctx)
    const host = { http: client.http, clock: kit.world.app.ctx.clock, log: kit.world.app.ctx.log }
    const probe = async (config: Record<string, unknown> = {}, number = MAC) => {
      const all = { url: kit.mac.url, password: kit.mac.password, ...config }
      const findings = await blueBubbles.probe!({ number, config: all }, host)
      return findings
        .filter(({ ok }) => !ok)
        .map(({ what }) => what)
        .join('; ')
    }
    expect(await probe()).toBe('')
    expect(await probe({ password: 'wrong-canary' })).toBe('The server does not accept the password')
    expect(await probe({ url: 'http://127.0.0.1:1' })).toContain('nobody listens')
    expect(await probe({ url: kit.world.app.url() })).toContain('is not BlueBubbles Server')
    expect(await probe({}, '+15552019999')).toContain('does not send from the number')
    expect(await probe({ server: 'swift' })).toContain('set to swift')
    kit.mac.flags.skewMs = 90_000
    expect(await probe()).toContain('clock of the Mac is off by 90 s')
    kit.mac.flags.helperConnected = false
    expect(await probe()).toContain('helper is not connected')
    kit.mac.flags.privateApi = false
    expect(await probe()).toContain('Private API is switched off')
    await client.close()
    expect(kit.world.logs.join('')).not.toContain('wrong-canary')
  })
})
