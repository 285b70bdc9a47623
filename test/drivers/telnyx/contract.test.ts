import { createTelnyx } from '../../peers/telnyx/telnyx.js'
import { driverContract } from '../contract.js'

const KEY = 'KEY-canary'
const PEOPLE = Array.from({ length: 60 }, (_, i) => `+1202558${3000 + i}`)
const good = { api_key: KEY }
const SEND = 'POST /messages'
const ENDS = {
  COMPLETED: 'normal_clearing',
  NO_ANSWER: 'timeout',
  BUSY: 'user_busy',
  FAILED: 'not_found',
  CANCELLED: 'originator_cancel',
} as const

driverContract(
  'telnyx',
  {
    driver: 'telnyx',
    evidence: 'look-up',
    accepted: 'ACCEPTED',
    refusal: '40310: The recipient is not a valid phone number',
    badConfigs: [
      [{}, 'api_key'],
      [{ api_key: 'two words' }, 'api_key'],
      [{ ...good, api_key: 7 }, 'api_key'],
      [{ ...good, public_key: 'short' }, 'public_key'],
      [{ ...good, messaging_profile_id: 'MG1' }, 'messaging_profile_id'],
      [{ ...good, api_url: 'api.telnyx.com' }, 'api_url'],
      [{ ...good, poll_ms: 1 }, 'poll_ms'],
      [{ ...good, wire: 'yes' }, 'wire'],
      [{ ...good, voice: 'yes' }, 'voice'],
    ],
    secrets: [KEY],
    people: PEOPLE,
    noticeMs: 15_000,
    settleMs: 120_000,
    stepMs: 1000,
  },
  async (world, number) => {
    const peer = await createTelnyx({ number, key: KEY, now: () => world.app.ctx.clock.now() })
    const sentTo = (to: string) => peer.sent().filter((row) => row.to.includes(to))
    let brought = 0
    return {
      config: { api_key: KEY, public_key: peer.webhooks.publicKey, api_url: peer.url, wire: true },
      async act(what) {
        peer.clear()
        // The look-up is the evidence, without the webhooks that would be quicker.
        peer.webhooks.become(what === 'take-then-drop' ? 'vanished' : 'once')
        peer.refuseWith(what === 'refuse' ? 40310 : undefined)
        if (what === 'take-then-drop') peer.fault(SEND, 'cut after')
        if (what === 'silence') peer.fault(SEND, 'hang')
      },
      unplug: () => peer.stop(),
      plug: () => peer.start(),
      taken: async (to) => sentTo(to).map(({ text }) => ({ content: text })),
      async report(to, n, status) {
        const own = ({ SENT: 'sent', DELIVERED: 'delivered', ERROR: 'delivery_failed' } as const)[status]
        peer.set(sentTo(to)[n]!, own, status === 'ERROR' ? 40008 : null)
        await peer.webhooks.called()
      },
      async bring(from, content) {
        // Every other webhook gets lost: the message is then read from the log.
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
          const caller = peer.calls.call(from)
          await peer.webhooks.quiet()
          return {
            rings: peer.calls.phoneOf(caller)?.to,
            async again() {
              peer.calls.again(caller)
              await peer.webhooks.quiet()
            },
            async answer() {
              peer.calls.answer(caller)
              await peer.webhooks.quiet()
            },
            async end(outcome) {
              peer.calls.end(caller, ENDS[outcome])
              await peer.webhooks.quiet()
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
