import { afterEach, describe, expect, it } from 'vitest'
import { createTwilio, type Twilio } from '../../peers/twilio/twilio.js'
import { createWorld, type World } from '../../support/world.js'

const NUMBERS = 'GET IncomingPhoneNumbers'
const SERVICE = `MG${'b2'.repeat(16)}`

describe('the test of a line at Twilio', () => {
  let peer: Twilio
  let world: World
  afterEach(async () => {
    await world.close()
    await peer.close()
  })

  async function probe(change: (peer: Twilio) => unknown = () => {}, settings: object = {}) {
    peer = await createTwilio({ number: '+12025550180' })
    await change(peer)
    world = await createWorld('sqlite', { isReal: true, realTime: true })
    const config = { account_sid: peer.account, auth_token: peer.token, api_url: peer.url, ...settings }
    const body = { driver: 'twilio', number: '+12025550180', config }
    const reply = await world.post('/admin/lines/test', body, 'admin')
    expect(JSON.stringify(reply.body)).not.toContain('canary')
    expect(peer.heard.every((route) => route.startsWith('GET'))).toBe(true)
    const own = reply.body.findings.filter(
      ({ what }: { what: string }) => !/leads to this server$/.test(what),
    )
    expect(own.length).toBe(reply.body.findings.length - 1)
    return own.map(({ ok, what, advice }: Record<string, string>) =>
      [ok ? 'ok' : 'no', what, ...(advice ? [advice] : [])].join(' | '),
    )
  }

  it('tells what the number can do and where its messages go, and changes nothing', async () => {
    expect(await probe()).toEqual([
      'ok | Twilio answers and knows the credentials',
      'ok | The number can do SMS, MMS, VOICE',
      'ok | No webhook is set for messages to the number; Trunkline reads them by asking Twilio',
      'ok | No webhook is set for calls to the number; Trunkline does not hear of them',
    ])
  })

  it.each<[string, string, (peer: Twilio) => unknown, object]>([
    ['a wrong token', 'no | Twilio rejects the credentials', () => {}, { auth_token: 'canary-wrong' }],
    ['no credentials', 'no | The credentials are missing', () => {}, { auth_token: undefined }],
    [
      'an account that is closed',
      'no | The Twilio account is not active',
      (peer) => peer.fault(NUMBERS, { status: 403, code: 20005 }),
      {},
    ],
    [
      'a key without the permission',
      'no | The API key may not read phone numbers',
      (peer) => peer.fault(NUMBERS, { status: 403, code: 20003 }),
      {},
    ],
    ['a Twilio that is away', 'no | Twilio does not answer', (peer) => peer.stop(), {}],
    ['another server', 'no | Something else than Twilio answers', (peer) => peer.fault(NUMBERS, 'html'), {}],
    [
      'a number of somebody else',
      'no | The number does not belong to this account',
      (peer) => Object.assign(peer.phone, { phone_number: '+12025550000' }),
      {},
    ],
    [
      'a number without texts',
      'no | The number cannot send texts',
      (peer) => Object.assign(peer.phone.capabilities, { sms: false }),
      {},
    ],
    [
      'a number without MMS',
      'no | The number cannot send MMS',
      (peer) => Object.assign(peer.phone.capabilities, { mms: false }),
      {},
    ],
    [
      'an address that takes the messages',
      'ok | Messages to the number go to demo.twilio.com, which may answer them; Trunkline reads',
      (peer) => Object.assign(peer.phone, { sms_url: 'https://user:canary@demo.twilio.com/sms?canary' }),
      {},
    ],
    [
      'an application that takes the messages',
      'ok | An application (SmsApplicationSid) takes messages to the number; Trunkline changes that',
      (peer) => Object.assign(peer.phone, { sms_application_sid: `AP${'1'.repeat(32)}` }),
      { wire: true },
    ],
    [
      'a number without calls, although voice is set',
      'no | The number cannot take calls',
      (peer) => Object.assign(peer.phone.capabilities, { voice: false }),
      { voice: true },
    ],
    [
      'an application that takes the calls',
      'ok | An application (VoiceApplicationSid) takes calls to the number; Trunkline does not hear of them',
      (peer) => Object.assign(peer.phone, { voice_application_sid: `AP${'1'.repeat(32)}` }),
      { wire: true },
    ],
    [
      'an address that takes the calls',
      'ok | Calls to the number go to pbx.example.com; Trunkline changes that',
      (peer) => Object.assign(peer.phone, { voice_url: 'https://user:canary@pbx.example.com/in?canary' }),
      { wire: true, voice: true },
    ],
    [
      'a trunk',
      'ok | Calls to the number go to a SIP trunk; Trunkline does not hear of them',
      (peer) => Object.assign(peer.phone, { trunk_sid: `TK${'1'.repeat(32)}` }),
      {},
    ],
    [
      'a Messaging Service that drops messages',
      'ok | The Messaging Service drops messages to its numbers',
      () => {},
      { messaging_service_sid: SERVICE },
    ],
    [
      'a Messaging Service that sends them elsewhere',
      'ok | The Messaging Service sends messages to its numbers to other.example.com',
      (peer) => Object.assign(peer.pool, { inbound_request_url: 'https://other.example.com/in' }),
      { messaging_service_sid: SERVICE },
    ],
    [
      'a Messaging Service without the number',
      'no | The number is not in the Messaging Service',
      (peer) => Object.assign(peer.pool, { numbers: [] }),
      { messaging_service_sid: SERVICE },
    ],
    [
      'an RCS sender that works',
      'ok | The sender acme_agent is online',
      (peer) => peer.rcs.senders.push({ sid: 'XE1', sender_id: 'rcs:acme_agent', status: 'ONLINE' }),
      { rcs_sender: 'acme_agent' },
    ],
    [
      'an RCS sender that is being registered',
      'no | The sender acme_agent is not online: TWILIO_REVIEW',
      (peer) => peer.rcs.senders.push({ sid: 'XE1', sender_id: 'rcs:acme_agent', status: 'TWILIO_REVIEW' }),
      { rcs_sender: 'acme_agent' },
    ],
    [
      'an RCS sender of somebody else',
      'no | The account has no rcs sender acme_agent',
      () => {},
      { rcs_sender: 'acme_agent' },
    ],
    [
      'RCS without a Messaging Service',
      'no | The setting rcs needs a Messaging Service',
      () => {},
      { rcs: true },
    ],
    [
      'a Messaging Service without an RCS sender',
      'no | The Messaging Service has no RCS sender',
      () => {},
      { rcs: true, messaging_service_sid: SERVICE },
    ],
    [
      'a Messaging Service with an RCS sender',
      'ok | The Messaging Service has an RCS sender',
      (peer) => peer.rcs.pool.push('rcs:acme_agent'),
      { rcs: true, messaging_service_sid: SERVICE },
    ],
    [
      'a WhatsApp sender, whose number may be of another carrier',
      'ok | The sender +12025550180 is online',
      (peer) => {
        peer.rcs.senders.push({ sid: 'XE1', sender_id: 'whatsapp:+12025550180', status: 'ONLINE' })
        Object.assign(peer.phone, { phone_number: '+12025550000' })
      },
      { channel: 'whatsapp' },
    ],
    [
      'a number that is no WhatsApp sender',
      'no | The account has no whatsapp sender +12025550180',
      () => {},
      { channel: 'whatsapp' },
    ],
    [
      'a Messaging Service that does not exist',
      'no | The Messaging Service does not exist',
      () => {},
      { messaging_service_sid: `MG${'0'.repeat(32)}` },
    ],
  ])('finds %s', async (_what, words, change, settings) => {
    expect((await probe(change, settings)).join('\n')).toContain(words)
  })
})
