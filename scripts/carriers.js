// Carriers for screenshots of the form for lines: the drivers' own checks, with answers of accounts that do not exist.
const NUMBER = '+12025550110'
const APPLICATION = '1293384261075731499'
const PROFILE = '40017d6b-8a1e-4c0e-9d3a-5f2b6c7d8e90'

/** Answers by the beginning of a path. */
const ANSWERS = {
  twilio: {
    '/2010-04-01/Accounts/': {
      incoming_phone_numbers: [
        {
          sid: `PN${'0'.repeat(32)}`,
          phone_number: NUMBER,
          capabilities: { sms: true, mms: true, voice: true },
          sms_url: 'https://demo.twilio.com/welcome/sms/reply',
          voice_url: 'https://demo.twilio.com/welcome/voice/',
        },
      ],
    },
  },
  telnyx: {
    '/phone_numbers/messaging': {
      data: [{ phone_number: NUMBER, messaging_profile_id: PROFILE, features: { sms: {}, mms: {} } }],
    },
    '/phone_numbers/voice': { data: [{ phone_number: NUMBER, connection_id: APPLICATION }] },
    '/call_control_applications/': {
      data: {
        id: APPLICATION,
        application_name: 'Trunkline',
        webhook_event_url: '',
        webhook_api_version: '2',
        outbound: { outbound_voice_profile_id: APPLICATION },
      },
    },
    '/messaging_profiles/': {
      data: { id: PROFILE, enabled: true, webhook_url: '', webhook_api_version: '2' },
    },
  },
  smsgate: {
    '/health': { status: 'pass', version: '1.67.0', releaseId: 1, checks: {} },
    '/settings': { messages: { processing_order: 'LIFO' }, webhooks: { internet_required: false } },
    '/device': [{ id: 'phone', simCards: [{ simNumber: 1, phoneNumber: NUMBER }] }],
  },
}

/** Fields to fill in, by their labels. `wire` is among the further settings. */
export const FORMS = {
  twilio: {
    'Account SID': `AC${'0'.repeat(32)}`,
    'Auth token': 'secret of your account',
    Wire: 'yes',
  },
  telnyx: {
    'API key': 'key-of-your-account',
    'Public key': `${'A'.repeat(43)}=`,
    Wire: 'yes',
  },
  smsgate: { URL: 'http://192.168.1.30:8080', Username: 'sms', Password: 'shown by the app' },
}

export { NUMBER }

/** Lets the checks of settings hear virtual carriers. Nothing leaves this machine. */
export function pretendCarriers(drivers) {
  for (const [kind, answers] of Object.entries(ANSWERS)) {
    const driver = drivers.get(kind)
    const request = async ({ path }) => {
      const [, body] = Object.entries(answers).find(([start]) => path.startsWith(start)) ?? []
      const status = body === undefined ? 404 : 200
      return { status, headers: {}, body: Buffer.from(JSON.stringify(body ?? {})) }
    }
    const http = () => ({ request })
    drivers.set(kind, { ...driver, probe: (line, host) => driver.probe(line, { ...host, http }) })
  }
}
