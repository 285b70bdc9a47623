import { afterEach, describe, expect, it } from 'vitest'
import { createTelnyx, type Telnyx } from '../../peers/telnyx/telnyx.js'
import { createWorld, type World } from '../../support/world.js'

const NUMBERS = 'GET /phone_numbers/messaging'

describe('the test of a line at Telnyx', () => {
  let peer: Telnyx
  let world: World
  afterEach(async () => {
    await world.close()
    await peer.close()
  })

  async function probe(change: (peer: Telnyx) => unknown = () => {}, settings: object = {}) {
    peer = await createTelnyx({ number: '+12025550180' })
    peer.profile.webhook_api_version = '2'
    await change(peer)
    world = await createWorld('sqlite', { isReal: true, realTime: true })
    const { key, url, webhooks } = peer
    const config = { api_key: key, public_key: webhooks.publicKey, api_url: url, ...settings }
    const body = { driver: 'telnyx', number: '+12025550180', config }
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
    expect(
      await probe((own) => Object.assign(own.profile, { webhook_url: 'https://a.example.com' })),
    ).toEqual([
      'ok | Telnyx answers and knows the API key',
      'ok | The number can do SMS and MMS',
      'ok | Messages to the number go to a.example.com, which may answer them; Trunkline reads them from the log of Telnyx',
      'ok | No webhook is set for calls to the number; Trunkline does not hear of them',
    ])
  })

  it.each<[string, string, (peer: Telnyx) => unknown, object]>([
    ['a wrong key', 'no | Telnyx rejects the API key', () => {}, { api_key: 'KEY-canary-wrong' }],
    [
      'no public key',
      'ok | Without public_key no webhook can be checked',
      () => {},
      { public_key: undefined },
    ],
    [
      'a key without the permission',
      'no | The API key may not read phone numbers',
      (own) => own.fault(NUMBERS, { status: 403, code: 10010 }),
      {},
    ],
    [
      'calls that go elsewhere',
      'ok | Calls to the number go to pbx.example.com; Trunkline changes that',
      (own) =>
        Object.assign(own.calls.application, { webhook_event_url: 'https://pbx.example.com/a?secret' }),
      { voice: true, wire: true },
    ],
    [
      'no application for calls',
      'no | No application takes calls to the number',
      (own) => Object.assign(own.calls.phone, { connection_id: null }),
      { voice: true },
    ],
    [
      'no application, and calls are not asked for',
      'ok | No application takes calls to the number; Trunkline takes no calls',
      (own) => Object.assign(own.calls.phone, { connection_id: '' }),
      {},
    ],
    [
      'a SIP connection',
      'no | Calls to the number go to a connection that is no Voice API application',
      (own) => Object.assign(own.calls.phone, { connection_id: '1293384261075731400' }),
      { voice: true },
    ],
    [
      'an application that cannot dial',
      'no | The application for calls has no outbound voice profile',
      (own) => Object.assign(own.calls.application.outbound, { outbound_voice_profile_id: null }),
      { voice: true, wire: true },
    ],
    [
      'calls without a public key',
      'no | Calls need the public key',
      () => {},
      { voice: true, public_key: undefined },
    ],
    [
      'a key that may not read voice settings',
      'ok | The voice settings of the number cannot be read; Trunkline takes no calls',
      (own) => own.fault('GET /phone_numbers/voice', { status: 403, code: 10010 }),
      {},
    ],
    [
      'forwarding by Telnyx',
      'no | Telnyx itself forwards calls to the number',
      (own) => Object.assign(own.calls.phone.call_forwarding, { forwards_to: '+12025550197' }),
      { voice: true },
    ],
    ['a Telnyx that is away', 'no | Telnyx does not answer', (own) => own.stop(), {}],
    ['another server', 'no | Something else than Telnyx answers', (own) => own.fault(NUMBERS, 'html'), {}],
    [
      'a failure of Telnyx',
      'no | Telnyx answered HTTP 500: Telnyx reports an unexpected error',
      (own) => own.fault(NUMBERS, { status: 500, code: 10007 }),
      {},
    ],
    [
      'a number of somebody else',
      'no | The number does not belong to this account',
      (own) => Object.assign(own.phone, { phone_number: '+12025550000' }),
      {},
    ],
    [
      'a number without texts',
      'no | The number cannot send texts',
      (own) => Object.assign(own.phone.features, { sms: null }),
      {},
    ],
    [
      'a number without MMS',
      'no | The number cannot send MMS',
      (own) => Object.assign(own.phone.features, { mms: null }),
      {},
    ],
    [
      'a number without a profile',
      'no | The number is in no messaging profile',
      (own) => Object.assign(own.phone, { messaging_profile_id: null }),
      {},
    ],
    [
      'a number of another profile',
      'no | The number is in another messaging profile',
      () => {},
      { messaging_profile_id: '00000000-0000-4000-8000-000000000000' },
    ],
    [
      'a profile that cannot be read',
      'no | The messaging profile cannot be read',
      (own) => own.fault('GET /messaging_profiles/:id', { status: 403, code: 10010 }),
      {},
    ],
    [
      'a disabled profile',
      'no | The messaging profile is disabled',
      (own) => Object.assign(own.profile, { enabled: false }),
      {},
    ],
    [
      'a profile that hides texts',
      'no | The messaging profile hides texts and numbers of received messages',
      (own) => Object.assign(own.profile, { redaction_enabled: true }),
      {},
    ],
    [
      'an assistant that answers',
      'ok | An AI assistant of Telnyx may answer messages to the number, too',
      (own) => Object.assign(own.profile, { ai_assistant_id: 'assistant-1' }),
      {},
    ],
    [
      'webhooks of another version',
      'no | The messaging profile does not use webhooks of API version 2',
      (own) => Object.assign(own.profile, { webhook_api_version: '2010-04-01' }),
      {},
    ],
    [
      'webhooks of another version that the line changes',
      'ok | The messaging profile does not use webhooks of API version 2; Trunkline changes that',
      (own) => Object.assign(own.profile, { webhook_api_version: '1' }),
      { wire: true },
    ],
    ['no webhook', 'no | No webhook is set for the messaging profile, so messages', () => {}, {}],
    [
      'no webhook, which the line sets',
      'ok | No webhook is set for the messaging profile; Trunkline changes that',
      () => {},
      { wire: true },
    ],
    [
      'an address that takes the messages',
      'ok | Messages to the number go to old.example.com, which may answer them; Trunkline changes that',
      (own) => Object.assign(own.profile, { webhook_url: 'https://user:canary@old.example.com/sms?canary' }),
      { wire: true },
    ],
  ])('finds %s', async (_what, words, change, settings) => {
    expect((await probe(change, settings)).join('\n')).toContain(words)
  })
})
