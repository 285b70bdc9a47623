import { createTwilio } from '../../peers/twilio/twilio.js'
import { driverContract } from '../contract.js'

const TOKEN = 'canary-t0ken'
const PEOPLE = Array.from({ length: 60 }, (_, i) => `+1202558${3000 + i}`)
const good = { account_sid: `AC${'0'.repeat(32)}`, auth_token: TOKEN }
const SEND = 'POST Messages'
const ENDS = {
  COMPLETED: 'completed',
  NO_ANSWER: 'no-answer',
  BUSY: 'busy',
  FAILED: 'failed',
  CANCELLED: 'canceled',
} as const

driverContract(
  'twilio',
  {
    driver: 'twilio',
    evidence: 'look-up',
    accepted: 'ACCEPTED',
    refusal: '21211: The recipient is not a valid phone number',
    badConfigs: [
      [{ auth_token: TOKEN }, 'account_sid'],
      [{ ...good, account_sid: 'AC123' }, 'account_sid'],
      [{ ...good, auth_token: 7 }, 'auth_token'],
      [{ ...good, api_key: 'SK1' }, 'api_key'],
      [{ ...good, messaging_service_sid: 'AC1' }, 'messaging_service_sid'],
      [{ ...good, api_url: 'api.twilio.com' }, 'api_url'],
      [{ ...good, validity_s: 36_001 }, 'validity_s'],
      [{ ...good, poll_ms: 1 }, 'poll_ms'],
      [{ ...good, wire: 'yes' }, 'wire'],
      [{ ...good, rcs: 'yes' }, 'rcs'],
      [{ ...good, channel: 'fax' }, 'channel'],
      [{ ...good, rcs_sender: 'rcs:agent' }, 'rcs_sender'],
    ],
    secrets: [TOKEN, Buffer.from(`AC${'a1'.repeat(16)}:${TOKEN}`).toString('base64')],
    people: PEOPLE,
    noticeMs: 15_000,
    settleMs: 120_000,
    stepMs: 1000,
  },
  async (world, number) => {
    const peer = await createTwilio({ number, token: TOKEN, now: () => world.app.ctx.clock.now() })
    const sentTo = (to: string) => peer.sent().filter((row) => row.to === to)
    let brought = 0
    return {
      config: { account_sid: peer.account, auth_token: TOKEN, api_url: peer.url, wire: true },
      async act(what) {
        peer.clear()
        // The look-up is the evidence, without the callbacks that would be quicker.
        peer.webhooks.become(what === 'take-then-drop' ? 'lost' : 'once')
        peer.refuseWith(what === 'refuse' ? 21211 : undefined)
        if (what === 'take-then-drop') peer.fault(SEND, 'cut after')
        if (what === 'silence') peer.fault(SEND, 'hang')
      },
      unplug: () => peer.stop(),
      plug: () => peer.start(),
      taken: async (to) => sentTo(to).map(({ body }) => ({ content: body })),
      async report(to, n, status) {
        const own = ({ SENT: 'sent', DELIVERED: 'delivered', ERROR: 'undelivered' } as const)[status]
        peer.set(sentTo(to)[n]!, own, status === 'ERROR' ? 30003 : null)
        await peer.webhooks.called()
      },
      async bring(from, content) {
        // Every other webhook gets lost: the message is then read from the list.
        if (++brought % 2 === 0) peer.webhooks.become('lost')
        peer.text(from, content)
        peer.webhooks.become('once')
        await peer.webhooks.called()
      },
      async bringTwice(from, content, recover) {
        const row = peer.text(from, content)
        await peer.webhooks.called()
        peer.deliver(row)
        await peer.webhooks.called()
        await recover()
      },
      calls: {
        async ring(from) {
          const call = await peer.calls.call(from)
          return {
            rings: call.dial?.number,
            async again() {
              await peer.calls.again(call.parent)
            },
            async answer() {
              call.answer!()
              await peer.webhooks.called()
            },
            async end(outcome) {
              call.end!(ENDS[outcome])
              await peer.webhooks.called()
            },
          }
        },
        loseReports: () => peer.webhooks.become('lost'),
        bringReports: () => peer.webhooks.become('once'),
        repeatReports: () => peer.webhooks.become('twice'),
      },
      close: () => peer.close(),
    }
  },
)
