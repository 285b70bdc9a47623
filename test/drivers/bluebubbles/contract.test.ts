import { createBlueBubbles } from '../../peers/bluebubbles/bluebubbles.js'
import { driverContract } from '../contract.js'

const PASSWORD = 'canary-p4ss&word'
const PEOPLE = Array.from({ length: 60 }, (_, i) => `+1202558${1000 + i}`)
const good = { url: 'http://mac.example.com:1234', password: PASSWORD }

driverContract(
  'bluebubbles',
  {
    driver: 'bluebubbles',
    evidence: 'look-up',
    accepted: 'SENT',
    refusal: 'imessage_4: Apple did not accept the message in time',
    badConfigs: [
      [{ password: PASSWORD }, 'url'],
      [{ ...good, url: 'mac.example.com:1234' }, 'url'],
      [{ url: good.url }, 'password'],
      [{ ...good, server: 'windows' }, 'server'],
      [{ ...good, poll_ms: 1 }, 'poll_ms'],
      [{ ...good, sms: 'yes' }, 'sms'],
    ],
    secrets: [PASSWORD, encodeURIComponent(PASSWORD)],
    people: PEOPLE,
    noticeMs: 5000,
    settleMs: 180_000,
  },
  async (world, number) => {
    const mac = await createBlueBubbles({
      address: number,
      password: PASSWORD,
      // The world's time, but real timers.
      clock: {
        now: () => world.app.ctx.clock.now(),
        after(ms, fn) {
          const timer = setTimeout(fn, ms)
          return () => clearTimeout(timer)
        },
      },
      waits: { sent: 0, delivered: 1 },
    })
    const SENDS = ['POST /api/v1/message/text', 'POST /api/v1/chat/new']
    return {
      config: { url: mac.url, password: mac.password, poll_ms: 5000 },
      async act(what) {
        mac.clearFaults()
        for (const one of PEOPLE) mac.phone(one).always(what === 'refuse' ? { error: 4 } : {})
        for (const route of SENDS) {
          if (what === 'take-then-drop') mac.fault({ route, kind: 'reset', works: true, times: 100 })
          if (what === 'silence') mac.fault({ route, kind: 'hang', times: 100 })
        }
      },
      unplug: () => mac.stop(),
      plug: () => mac.start(),
      taken: async (to) => mac.phone(to).inbox.map(({ text }) => ({ content: text })),
      async bring(from, content) {
        mac.phone(from).text(content)
        await mac.settle()
      },
      async bringTwice(from, content, recover) {
        mac.phone(from).text(content)
        await mac.settle()
        mac.replay(true)
        await recover()
        mac.replay(true)
        await mac.settle()
      },
      close: () => mac.close(),
    }
  },
)
