import { afterEach, describe, expect, it } from 'vitest'
import type { Twilio } from '../../peers/twilio/twilio.js'
import { ANNA, createTwilioWorld, NUMBER, type TwilioWorld } from '../../support/drivers/twilio-world.js'
import { ENGINES } from '../../support/world.js'

const SEND = 'POST Messages'
const MINUTE = 60_000
const SENDER = 'acme_agent'
const SERVICE = { rcs: true, messaging_service_sid: `MG${'b2'.repeat(16)}` }
const withSender = (peer: Twilio) => void peer.rcs.pool.push(`rcs:${SENDER}`)

describe.each(ENGINES)('RCS through Twilio on %s', (engine) => {
  let on: TwilioWorld
  afterEach(() => on.close())

  async function begin(settings: object, prepare?: (peer: Twilio) => void) {
    on = await createTwilioWorld(engine, settings, prepare)
  }
  async function told() {
    await on.peer.webhooks.called()
    await on.world.settle()
  }
  const record = async (handle: string) => {
    const { status, service, was_downgraded: isDowngraded, error_detail } = await on.world.record(handle)
    return [status, service, isDowngraded, error_detail]
  }
  const ends = () => on.peer.sent().map(({ from, to }) => [from, to])

  describe('through a Messaging Service', () => {
    it('is one message, whichever channel Twilio takes, and tells which it took', async () => {
      await begin(SERVICE, withSender)
      on.peer.become('delivered')
      on.peer.rcs.reach.add(ANNA)
      const rich = await on.send('rich')
      await told()
      expect(await record(rich)).toEqual(['DELIVERED', 'RCS', null, null])
      on.peer.rcs.reach.clear()
      const plain = await on.send('plain')
      await told()
      expect(await record(plain)).toEqual(['DELIVERED', 'SMS', true, null])
      expect(ends()).toEqual([
        [`rcs:${SENDER}`, `rcs:${ANNA}`],
        [NUMBER, ANNA],
      ])
      expect(on.peer.sent().every(({ service }) => service === on.peer.service)).toBe(true)
    })

    it('tells the channel also if Trunkline has to ask', async () => {
      await begin(SERVICE, withSender)
      on.peer.webhooks.become('lost')
      const handle = await on.send('asked for')
      await on.pass(2 * MINUTE)
      expect(await record(handle)).toEqual(['SENT', 'SMS', true, null])
    })

    it('is never sent again, because Twilio falls back itself', async () => {
      await begin(SERVICE, withSender)
      on.peer.become({ error: 63036 })
      const handle = await on.send('lost')
      await told()
      await on.pass(MINUTE)
      expect((await record(handle))[0]).toBe('ERROR')
      expect(on.texts()).toEqual(['lost'])
    })

    it.each([true, false])('is found in the list without an answer (phone has RCS: %s)', async (hasRcs) => {
      await begin(SERVICE, withSender)
      if (hasRcs) on.peer.rcs.reach.add(ANNA)
      on.peer.webhooks.become('lost')
      on.peer.fault(SEND, 'cut after')
      const handle = await on.send('in doubt')
      on.peer.clear()
      await on.pass(3 * MINUTE)
      expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['in doubt']])
    })

    it('fails if the service has no RCS sender, and the line says so', async () => {
      await begin(SERVICE)
      const handle = await on.send('misconfigured')
      await told()
      expect((await record(handle))[3]).toContain('21666: The Messaging Service has no RCS sender')
      expect((await on.line()).state).toBe('DEGRADED')
    })
  })

  describe('from a sender', () => {
    const begun = () => begin({ rcs_sender: SENDER })

    it('reaches a phone that has RCS', async () => {
      await begun()
      on.peer.become('delivered')
      on.peer.rcs.reach.add(ANNA)
      const handle = await on.send('rich')
      await told()
      expect(await record(handle)).toEqual(['DELIVERED', 'RCS', null, null])
      expect(ends()).toEqual([[`rcs:${SENDER}`, `rcs:${ANNA}`]])
    })

    it.each(['at once', 'later'] as const)('falls back to SMS once if Twilio notices it %s', async (when) => {
      await begun()
      on.peer.rcs.notices = when
      on.peer.webhooks.become('twice')
      const handle = await on.send('plain')
      await told()
      await told()
      expect(await record(handle)).toEqual(['SENT', 'SMS', true, null])
      expect(ends().at(-1)).toEqual([NUMBER, ANNA])
      expect(ends().length).toBe(when === 'later' ? 2 : 1)
      for (const row of on.peer.sent()) on.peer.set(row, row.status, row.errorCode)
      await told()
      await on.pass(3 * MINUTE)
      expect(await record(handle)).toEqual(['SENT', 'SMS', true, null])
      expect(ends().length).toBe(when === 'later' ? 2 : 1)
    })

    it('falls back although no callback comes, and before the answer comes', async () => {
      await begun()
      on.peer.rcs.notices = 'later'
      on.peer.webhooks.become('lost')
      const asked = await on.send('asked for')
      await on.pass(2 * MINUTE)
      expect((await record(asked)).slice(1)).toEqual(['SMS', true, null])
      on.peer.webhooks.become('once')
      on.peer.fault(SEND, 'cut after')
      const early = await on.send('lost answer')
      on.peer.clear()
      await told()
      await on.pass(5 * MINUTE)
      await told()
      expect(await record(early)).toEqual(['SENT', 'SMS', true, null])
      expect(on.texts()).toEqual(['asked for', 'asked for', 'lost answer', 'lost answer'])
    })

    it('falls back from a send without an answer that the list shows as failed', async () => {
      await begun()
      on.peer.rcs.notices = 'later'
      on.peer.webhooks.become('lost')
      on.peer.fault(SEND, 'cut after')
      const handle = await on.send('in doubt')
      on.peer.clear()
      await on.pass(5 * MINUTE)
      expect(await record(handle)).toEqual(['SENT', 'SMS', true, null])
      expect(ends()).toEqual([
        [`rcs:${SENDER}`, `rcs:${ANNA}`],
        [NUMBER, ANNA],
      ])
    })

    it.each([30410, 30003, 30008])('does not fall back with %s, which may hide a delivery', async (code) => {
      await begun()
      Object.assign(on.peer.rcs, { notices: 'later', code })
      const handle = await on.send('doubtful')
      await told()
      await on.pass(3 * MINUTE)
      expect([(await record(handle))[0], on.texts()]).toEqual(['ERROR', ['doubtful']])
    })

    it('tells that the person read it', async () => {
      await begun()
      on.peer.rcs.reach.add(ANNA)
      const handle = await on.send('read me')
      on.peer.set(on.peer.sent()[0]!, 'read')
      await told()
      expect(await on.status(handle)).toBe('DELIVERED')
      const read = (await on.world.events()).filter(({ type }: { type: string }) => type === 'message.read')
      expect(read.length).toBe(1)
    })
  })

  it.each(['once', 'lost'] as const)('comes in with the plain number (webhook: %s)', async (webhook) => {
    await begin({ rcs_sender: SENDER })
    await on.pass(15_000)
    on.peer.webhooks.become(webhook)
    on.peer.text(`rcs:${ANNA}`, 'hello', { to: `rcs:${SENDER}` })
    on.peer.text(ANNA, 'as SMS')
    on.peer.text(`rcs:${ANNA}`, 'for another', { to: 'rcs:other_agent' })
    await told()
    await on.pass(15_000)
    const got = (await on.arrived()).map(({ content, from_number, service }) => [
      content,
      from_number,
      service,
    ])
    expect(got.sort()).toEqual([
      ['as SMS', ANNA, 'SMS'],
      ['hello', ANNA, 'RCS'],
    ])
  })

  it('comes in as the words on a button, and opts out', async () => {
    await begin(SERVICE, withSender)
    await on.pass(15_000)
    const to = `rcs:${SENDER}`
    const params = { ButtonText: 'Yes, please', ButtonPayload: 'yes' }
    on.peer.text(`rcs:${ANNA}`, '', { to, params })
    await told()
    on.peer.text(`rcs:${ANNA}`, 'BASTA', { to, params: { OptOutType: 'STOP' } })
    await told()
    const got = (await on.arrived()).map(({ content, service }) => [content, service])
    expect(got.sort()).toEqual([
      ['BASTA', 'RCS'],
      ['Yes, please', 'RCS'],
    ])
    expect((await on.world.record(await on.send('more'))).opted_out).toBe(true)
  })
})
