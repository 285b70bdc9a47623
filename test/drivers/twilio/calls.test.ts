import { afterEach, describe, expect, it } from 'vitest'
import { ANNA, createTwilioWorld, NUMBER, type TwilioWorld } from '../../support/drivers/twilio-world.js'
import { ENGINES, type Json } from '../../support/world.js'

const PHONE = '+12025550197'
const MINUTE = 60_000
const HOUR = 3_600_000
const CALLS = 'GET Calls'

type BeginOptions = Parameters<typeof createTwilioWorld> extends [unknown, ...infer Rest] ? Rest : never

describe.each(ENGINES)('calls through Twilio on %s', (engine) => {
  let on: TwilioWorld
  afterEach(() => on.close())

  async function begin(...options: BeginOptions) {
    on = await createTwilioWorld(engine, ...options)
    await on.pass(15_000)
    await on.world.call('PUT', `/api/lines/${NUMBER}/call-forwarding`, {
      as: 'live',
      body: { forwarding_number: PHONE },
    })
  }
  const events = async () =>
    (await on.world.events())
      .filter((event: Json) => event.type === 'call.inbound')
      .map((event: Json) => event.data)
  const listed = async () => (await on.world.get('/v3/calls')).body.data
  const webhooks = async () => {
    const statuses = await on.peer.webhooks.called()
    await on.world.settle()
    return statuses
  }

  it('ring the phone with the number of the caller, or of the line if the caller hides theirs', async () => {
    await begin()
    for (const [from, callerId] of [
      [ANNA, ANNA],
      ['+266696687', NUMBER],
      ['Anonymous', NUMBER],
      ['sip:a&b@example.com', NUMBER],
    ] as const) {
      const call = await on.peer.calls.call(from)
      expect(call.dial).toMatchObject({ number: PHONE, callerId })
      call.end!('canceled')
      expect(await webhooks()).toEqual([204, 200, 204])
      expect((await events()).at(-1)).toMatchObject({ fromNumber: from, status: 'CANCELLED' })
    }
  })

  it('are answered at once when the phone is, and end once, in whatever order Twilio tells', async () => {
    await begin()
    const call = await on.peer.calls.call(ANNA)
    expect(await listed()).toMatchObject([{ state: 'ringing', forwarded_to: PHONE }])
    call.answer!()
    await webhooks()
    expect(await listed()).toMatchObject([{ state: 'answered' }])
    await on.pass(45_000)
    on.peer.webhooks.hold()
    call.end!('completed')
    on.peer.webhooks.release()
    await webhooks()
    await on.pass(3 * MINUTE)
    expect(await events()).toMatchObject([{ status: 'COMPLETED', duration: 45, forwardedTo: PHONE }])
  })

  it('of somebody else do not count: a wrong signature, another account, another number', async () => {
    await begin()
    on.peer.signWith('forged')
    expect((await on.peer.calls.call(ANNA)).twiml).toBeUndefined()
    on.peer.signWith(on.peer.token)
    expect(await listed()).toEqual([])
    const other = await on.peer.calls.call(ANNA, '+12025559999')
    expect(other.twiml).toContain('<Reject')
    const live = await on.peer.calls.call(ANNA)
    on.peer.signWith('forged')
    live.end!('completed', 5)
    expect(await webhooks()).toContain(403)
    const forwarded = (await listed()).filter((call: Json) => call.forwarded_to === PHONE)
    expect(forwarded).toMatchObject([{ state: 'ringing' }])
  })

  it('that Twilio could not announce were missed, and calls from before the line are not told', async () => {
    await begin({}, (peer, now) => {
      const old = peer.calls.add({ direction: 'inbound', from: ANNA, to: NUMBER, startedAt: now - HOUR })
      peer.calls.finish(old, 'completed', 8)
    })
    on.peer.webhooks.become('lost')
    const { parent } = await on.peer.calls.call(ANNA)
    const left = on.peer.calls.add({ direction: 'inbound', from: ANNA, to: NUMBER })
    on.peer.calls.finish(left, 'no-answer', 0)
    await on.pass(2 * MINUTE)
    expect(await events()).toMatchObject([
      { status: 'FAILED', duration: null, forwardedTo: null, createdAt: parent.startedAt },
      { status: 'CANCELLED', duration: null, forwardedTo: null },
    ])
    await on.pass(20 * MINUTE)
    expect(await events()).toHaveLength(2)
  })

  it('of an outage of a day are told once the server is back', async () => {
    await begin()
    const position = () =>
      on.world.app.ctx.db.all('select value from line_cursors where value like $1', ['%calls%'])
    await expect.poll(position).toHaveLength(1)
    await on.world.restart(on.now() + 26 * HOUR, () => {
      for (const hours of [2, 25]) {
        const startedAt = on.now() + hours * HOUR
        const row = on.peer.calls.add({ direction: 'inbound', from: ANNA, to: NUMBER, startedAt })
        on.peer.calls.finish(row, 'completed', 8, startedAt + 8000)
      }
    })
    const told = async () => {
      // The new process first takes the line.
      await on.pass(MINUTE)
      return (await events()).length
    }
    await expect.poll(told).toBe(2)
    expect((await events()).map(({ endedAt, createdAt }: Json) => endedAt - createdAt)).toEqual([8000, 8000])
  })

  it('that last for hours end by the list, although Twilio was away and listed others since', async () => {
    await begin()
    const call = await on.peer.calls.call(ANNA)
    call.answer!()
    await webhooks()
    for (let i = 0; i < 120; i++) {
      const row = on.peer.calls.add({ direction: 'inbound', from: ANNA, to: NUMBER, startedAt: on.now() + i })
      on.peer.calls.finish(row, 'busy', 0)
    }
    await on.pass(2 * HOUR)
    expect(await events()).toHaveLength(120)
    on.peer.webhooks.become('lost')
    on.peer.fault(CALLS, { status: 503 })
    call.end!('completed')
    await on.pass(3 * MINUTE)
    expect(await events()).toHaveLength(120)
    on.peer.clear()
    await on.pass(2 * MINUTE)
    expect((await events()).at(-1)).toMatchObject({ status: 'COMPLETED', duration: 7200, answered: true })
  })

  it('whose end only the status of the number tells are asked about at once', async () => {
    await begin()
    const call = await on.peer.calls.call(ANNA)
    await on.pass(MINUTE)
    on.peer.webhooks.become('lost')
    call.end!('no-answer')
    on.peer.webhooks.become('once')
    on.peer.webhooks.call(on.peer.phone.status_callback, {
      AccountSid: on.peer.account,
      CallSid: call.parent.sid,
      CallStatus: 'no-answer',
      From: ANNA,
      To: NUMBER,
    })
    expect(await webhooks()).toEqual([204])
    await expect.poll(events).toMatchObject([{ status: 'NO_ANSWER' }])
  })

  it('cost one read a minute, and none for what is known', async () => {
    await begin()
    const call = await on.peer.calls.call(ANNA)
    call.end!('busy')
    await webhooks()
    await on.pass(MINUTE)
    on.peer.heard.length = 0
    await on.pass(10 * MINUTE)
    expect(on.peer.heard.filter((route) => route === CALLS).length).toBeLessThanOrEqual(11)
  })

  it.each<[string, object, object, boolean]>([
    ['nowhere', {}, {}, true],
    ["to Twilio's example", {}, { voice_url: 'https://demo.twilio.com/welcome/voice/' }, true],
    ['elsewhere', {}, { voice_url: 'https://pbx.example.com/in' }, false],
    ['elsewhere, and voice is set', { voice: true }, { voice_url: 'https://pbx.example.com/in' }, true],
    ['to an application', {}, { voice_application_sid: `AP${'1'.repeat(32)}` }, false],
    ['to a trunk, and voice is set', { voice: true }, { trunk_sid: `TK${'1'.repeat(32)}` }, true],
    ['nowhere, and voice is off', { voice: false }, {}, false],
    ['nowhere, and nothing is to be set', { wire: false }, {}, false],
    ['nowhere, and the number has no voice', {}, { capabilities: { sms: true, mms: true } }, false],
  ])(
    'are taken by setting up the number, or not: calls went %s',
    async (_where, settings, phone, isTaken) => {
      await begin(settings, (peer) => void Object.assign(peer.phone, phone))
      const url = on.peer.phone.voice_url
      expect(url.endsWith('/voice')).toBe(isTaken)
      expect(on.peer.phone.status_callback).toBe(isTaken ? `${url}/status` : '')
      const before = on.peer.heard.filter((route) => route === CALLS).length
      await on.pass(6 * MINUTE)
      expect(on.peer.heard.filter((route) => route === CALLS).length > before).toBe(isTaken)
      const call = await on.peer.calls.call(ANNA)
      expect(call.dial?.number).toBe(isTaken ? PHONE : undefined)
      if (!isTaken) await on.pass(6 * MINUTE)
      expect(await listed()).toHaveLength(isTaken ? 1 : 0)
    },
  )
})
