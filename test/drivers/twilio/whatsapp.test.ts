import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ANNA, createTwilioWorld, NUMBER, type TwilioWorld } from '../../support/drivers/twilio-world.js'
import { ENGINES } from '../../support/world.js'

const SEND = 'POST Messages'
const MINUTE = 60_000
const HOUR = 3_600_000
const PERSON = `whatsapp:${ANNA}`
const SENDER = `whatsapp:${NUMBER}`

describe.each(ENGINES)('WhatsApp through Twilio on %s', (engine) => {
  let on: TwilioWorld
  beforeEach(async () => {
    on = await createTwilioWorld(engine, { channel: 'whatsapp', poll_ms: HOUR }, (peer) => {
      peer.rcs.senders.push({ sid: 'XE1', sender_id: SENDER, status: 'ONLINE' })
      // The number belongs to another carrier.
      peer.phone.phone_number = '+12025559998'
      peer.become('delivered')
    })
    await on.world.advance(HOUR)
    await on.world.settle()
  })
  afterEach(() => on.close())

  async function told() {
    await on.peer.webhooks.called()
    await on.world.settle()
  }
  /** The person writes; Trunkline finds the message by asking. */
  async function hear(text = 'hello') {
    on.peer.text(PERSON, text, { to: SENDER, createdAt: on.now() })
    await on.world.advance(HOUR)
    await on.world.settle()
    await expect.poll(async () => (await on.arrived()).some(({ content }) => content === text)).toBe(true)
  }
  const why = async (handle: string) => (await on.world.get(`/v3/messages/${handle}`)).body.data.why

  it('has WhatsApp only, and its state and capabilities say so', async () => {
    const line = await on.line()
    expect([line.state, line.capabilities.services]).toEqual(['ONLINE', ['WhatsApp']])
    const style = { content: 'x', send_style: 'balloons' }
    const reply = await on.world.post('/api/send-message', { number: ANNA, from_number: NUMBER, ...style })
    expect([reply.status, JSON.stringify(reply.body)]).toEqual([400, expect.stringContaining('send_style')])
  })

  it('goes out and comes in with the plain number, and tells that it was read', async () => {
    await hear()
    expect(await on.arrived()).toMatchObject([{ content: 'hello', from_number: ANNA, service: 'WhatsApp' }])
    const handle = await on.send('hi')
    await told()
    expect(await on.world.record(handle)).toMatchObject({
      status: 'DELIVERED',
      service: 'WhatsApp',
      to_number: ANNA,
      was_downgraded: null,
    })
    expect(on.peer.sent().map(({ from, to }) => [from, to])).toEqual([[SENDER, PERSON]])
    on.peer.set(on.peer.sent()[0]!, 'read')
    await told()
    const read = (await on.world.events()).filter(({ type }: { type: string }) => type === 'message.read')
    expect(read.length).toBe(1)
    const { data } = (await on.world.get('/api/v2/messages?service=WhatsApp')).body
    expect(data.length).toBe(2)
  })

  it('is found in the list without an answer', async () => {
    await hear()
    on.peer.webhooks.become('lost')
    on.peer.fault(SEND, 'cut after')
    const handle = await on.send('in doubt')
    on.peer.clear()
    await on.pass(3 * MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['DELIVERED', ['in doubt']])
  })

  it.each(['at once', 'later'] as const)('explains the 24 hours if Twilio notices %s', async (when) => {
    on.peer.whatsapp.notices = when
    const first = await on.send('out of the blue')
    await told()
    const rule = 'WhatsApp takes free text only within 24 hours of the last message from the person'
    expect((await on.world.record(first)).error_detail).toBe(`63016: ${rule}`)
    expect((await why(first)).summary).toContain(`${rule}. ${ANNA} had not written to this line before.`)

    await hear()
    const heardAt = on.now()
    await on.world.advance(25 * HOUR)
    await on.world.settle()
    const late = await on.send('too late')
    await told()
    expect(await on.status(late)).toBe('ERROR')
    const { summary, next_step: nextStep } = await why(late)
    expect(summary).toMatch(/had last written to this line at .*, so free text was possible until /)
    expect(summary).toContain(new Date(heardAt + 24 * HOUR).toISOString().slice(0, 13))
    expect(nextStep).toContain('Wait until they write to this line')

    await hear('again')
    expect((await why(late)).next_step).toContain('They have written since: send a new message before')
    const open = await on.send('in time')
    await told()
    expect(await on.status(open)).toBe('DELIVERED')
  })
})
