import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { newKey } from '../../peers/telnyx/webhooks.js'
import { ANNA, createTelnyxWorld, NUMBER, type TelnyxWorld } from '../../support/drivers/telnyx-world.js'
import { ENGINES, type Json } from '../../support/world.js'

const PHONE = '+12025550197'
const MINUTE = 60_000
const COMMANDS = 'POST /calls/:id/actions'

type BeginOptions = Parameters<typeof createTelnyxWorld> extends [unknown, ...infer Rest] ? Rest : never

describe.each(ENGINES)('calls through Telnyx on %s', (engine) => {
  let on: TelnyxWorld
  afterEach(() => on.close())

  async function begin(...options: BeginOptions) {
    on = await createTelnyxWorld(engine, ...options)
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
    const statuses = await on.peer.webhooks.quiet()
    await on.world.settle()
    return statuses
  }
  const ring = async (from = ANNA) => {
    const caller = on.peer.calls.call(from)
    await webhooks()
    return caller
  }
  const phones = () => on.peer.calls.legs.filter(({ direction }) => direction === 'outgoing')

  it('ring the phone with the number of the caller, or of the line if the caller hides theirs', async () => {
    await begin()
    for (const [from, callerId] of [
      [ANNA, ANNA],
      ['anonymous', NUMBER],
      ['sip:a&b@example.com', NUMBER],
    ] as const) {
      const caller = await ring(from)
      expect(on.peer.calls.phoneOf(caller)).toMatchObject({ to: PHONE, from: callerId })
      on.peer.calls.leave(caller)
      on.peer.calls.end(caller, 'originator_cancel')
      await webhooks()
      expect((await events()).at(-1)).toMatchObject({
        fromNumber: from,
        status: 'CANCELLED',
        provider: 'telnyx',
        forwardedTo: PHONE,
      })
    }
  })

  it('are answered at once when the phone is, and end once, in whatever order Telnyx tells', async () => {
    await begin()
    const caller = await ring()
    expect(await listed()).toMatchObject([{ state: 'ringing', forwarded_to: PHONE }])
    on.peer.calls.answer(caller)
    await webhooks()
    expect(await listed()).toMatchObject([{ state: 'answered' }])
    await on.pass(45_000)
    on.peer.webhooks.hold()
    on.peer.calls.end(caller, 'normal_clearing')
    on.peer.webhooks.release()
    await webhooks()
    await on.pass(3 * MINUTE)
    expect(await events()).toMatchObject([{ status: 'COMPLETED', duration: 45, forwardedTo: PHONE }])
    const late = await ring()
    on.peer.webhooks.hold()
    on.peer.calls.answer(late)
    on.peer.calls.end(late, 'normal_clearing')
    on.peer.webhooks.release()
    await webhooks()
    expect((await events()).at(-1)).toMatchObject({ status: 'COMPLETED', answered: true })
  })

  it.each([
    ['user_busy', 'BUSY'],
    ['call_rejected', 'BUSY'],
    ['no_answer', 'NO_ANSWER'],
    ['unspecified', 'FAILED'],
  ] as const)('are hung up if the phone does not take them: %s', async (cause, status) => {
    await begin()
    const caller = await ring()
    on.peer.fault(COMMANDS, { status: 500, code: 10007 })
    on.peer.calls.end(caller, cause)
    await webhooks()
    expect(await events()).toMatchObject([{ status, answered: false, duration: null }])
    expect(caller.isOver).toBe(false)
    on.peer.clear()
    await on.pass(MINUTE)
    expect(caller.isOver).toBe(true)
    expect(await events()).toHaveLength(1)
  })

  it('ring once, although Telnyx announces them again and again, and over a restart', async () => {
    await begin()
    on.peer.webhooks.become('twice')
    const caller = await ring()
    await on.world.restart()
    const { application } = on.peer.calls
    const { port } = on.world.app.server.server.address() as AddressInfo
    application.webhook_event_url = application.webhook_event_url.replace(/:\d+/, `:${port}`)
    const announced = async () => {
      // The new process first takes the line.
      await on.pass(15_000)
      on.peer.calls.again(caller)
      return webhooks()
    }
    await expect.poll(announced).toContain(204)
    expect(phones()).toHaveLength(1)
    on.peer.calls.answer(caller)
    await webhooks()
    on.peer.calls.again(caller)
    on.peer.calls.end(caller, 'normal_clearing')
    await webhooks()
    expect(phones()).toHaveLength(1)
    expect(await events()).toMatchObject([{ status: 'COMPLETED', forwardedTo: PHONE }])
  })

  it('of somebody else do not count: a wrong signature, another number', async () => {
    await begin()
    on.peer.webhooks.signWith(newKey().privateKey)
    on.peer.calls.call(ANNA)
    expect(await webhooks()).toEqual([403])
    on.peer.calls.legs.splice(0)
    on.peer.webhooks.log.splice(0)
    on.peer.webhooks.restoreKey()
    const other = on.peer.calls.call(ANNA, '+12025559999')
    expect(await webhooks()).toEqual([204])
    on.peer.calls.end(other, 'normal_clearing')
    await webhooks()
    await on.pass(MINUTE)
    expect([phones(), await listed()]).toEqual([[], []])
  })

  it('that Telnyx could not announce ring late, or were missed', async () => {
    await begin({}, (peer, now) => {
      peer.calls.application.webhook_event_url = 'http://127.0.0.1:9/away'
      peer.webhooks.become('lost')
      peer.webhooks.logAt(now - 60 * MINUTE)
      peer.calls.leave(peer.calls.call(ANNA))
      peer.webhooks.logAt(undefined)
      peer.calls.application.webhook_event_url = ''
    })
    on.peer.webhooks.become('lost')
    const gone = on.peer.calls.call(ANNA)
    on.peer.calls.leave(gone)
    const patient = on.peer.calls.call('+12025558302')
    on.peer.webhooks.become('once')
    await on.pass(MINUTE)
    expect(await events()).toMatchObject([
      { status: 'CANCELLED', duration: null, forwardedTo: null, createdAt: gone.startedAt },
    ])
    expect(phones()).toMatchObject([{ session: patient.session, to: PHONE }])
  })

  it('whose caller leaves before the phone rings were cancelled', async () => {
    await begin()
    on.peer.fault(COMMANDS, 'cut before')
    const caller = on.peer.calls.call(ANNA)
    await webhooks()
    on.peer.calls.leave(caller)
    await webhooks()
    on.peer.clear()
    await on.pass(MINUTE)
    expect(phones()).toEqual([])
    expect(await events()).toMatchObject([{ status: 'CANCELLED', answered: false }])
  })

  it('fail if Telnyx refuses to forward them, and the caller is not left waiting', async () => {
    await begin({}, (peer) => {
      peer.calls.application.outbound.outbound_voice_profile_id = null
    })
    const caller = await ring()
    expect(caller.isOver).toBe(true)
    expect(await events()).toMatchObject([{ status: 'FAILED', answered: false }])
    expect(await on.line()).toMatchObject({
      state: 'DEGRADED',
      state_detail: expect.stringContaining('no outbound voice profile'),
    })
  })

  it('are answered to Telnyx within two seconds, and forwarded once, although commands hang', async () => {
    await begin()
    on.peer.fault(COMMANDS, 'hang after')
    on.peer.calls.call(ANNA)
    let statuses: number[] | undefined
    void on.peer.webhooks.quiet().then((all) => (statuses = all))
    await expect
      .poll(async () => {
        await on.world.advance(1500)
        return statuses
      })
      .toContain(503)
    on.peer.clear()
    await on.pass(2 * MINUTE)
    await webhooks()
    expect(phones()).toHaveLength(1)
    expect(await listed()).toMatchObject([{ state: 'ringing', forwarded_to: PHONE }])
  })

  const elsewhere = { webhook_event_url: 'https://pbx.example.com/in' }
  it.each<[string, object, (calls: TelnyxWorld['peer']['calls']) => unknown, boolean]>([
    ['nowhere', {}, () => {}, true],
    ['elsewhere', {}, ({ application }) => Object.assign(application, elsewhere), false],
    [
      'elsewhere, and voice is set',
      { voice: true },
      ({ application }) => Object.assign(application, elsewhere),
      true,
    ],
    ['nowhere, and voice is off', { voice: false }, () => {}, false],
    ['nowhere, and nothing is to be set', { wire: false }, () => {}, false],
    ['nowhere, and no webhook can be checked', { public_key: undefined }, () => {}, false],
    [
      'to no application',
      { voice: true },
      ({ phone }) => Object.assign(phone, { connection_id: null }),
      false,
    ],
    [
      'to another phone by Telnyx itself',
      { voice: true },
      ({ phone }) => Object.assign(phone.call_forwarding, { forwards_to: PHONE }),
      false,
    ],
  ])(
    'are taken by setting up the application, or not: calls went %s',
    async (_to, settings, set, isTaken) => {
      await begin(settings, ({ calls }) => void set(calls))
      const { application } = on.peer.calls
      expect(application.webhook_event_url.includes('/callbacks/')).toBe(isTaken)
      expect(application.webhook_api_version).toBe(isTaken ? '2' : '1')
      on.peer.webhooks.become('lost')
      on.peer.calls.call(ANNA)
      await on.pass(MINUTE)
      expect(await listed()).toHaveLength(isTaken ? 1 : 0)
    },
  )
})
