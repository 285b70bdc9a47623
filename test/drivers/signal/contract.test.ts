import { driver } from '../../../examples/driver-signal/driver.js'
import { startFake } from '../../../examples/driver-signal/fake.js'
import { driverContract } from '../contract.js'

const TOKEN = 'canary-token'
const PEOPLE = Array.from({ length: 60 }, (_, i) => `+1202559${3000 + i}`)
const good = { url: 'http://127.0.0.1:1' }
const SEND = 'POST /v2/send'

driverContract(
  'signal',
  {
    driver: 'signal',
    outside: driver,
    evidence: 'report',
    accepted: 'SENT',
    refusal: 'not_on_signal: The recipient is not on Signal',
    badConfigs: [
      [{}, 'url'],
      [{ url: 'signal.example' }, 'url'],
      [{ ...good, token: '' }, 'token'],
      [{ ...good, poll_ms: 10 }, 'poll_ms'],
      [{ ...good, mode: 'native' }, 'mode'],
    ],
    secrets: [TOKEN],
    people: PEOPLE,
    noticeMs: 3000,
    settleMs: 60_000,
    stepMs: 1000,
  },
  async (world, number) => {
    const fake = await startFake(number, () => world.app.ctx.clock.now())
    fake.set({ token: TOKEN })
    return {
      config: { url: fake.url, token: TOKEN },
      async act(what) {
        fake.clear()
        if (what === 'refuse')
          fake.fault(SEND, {
            status: 400,
            error: '{"type":"UNREGISTERED_FAILURE"}\nFailed to send message\n',
          })
        if (what === 'take-then-drop') fake.fault(SEND, 'cut after')
        if (what === 'silence') fake.fault(SEND, 'hang')
      },
      unplug: () => fake.stop(),
      plug: () => fake.start(),
      taken: async (to) => fake.sentTo(to).map(({ message }) => ({ content: message })),
      async report(to, n, status) {
        // Signal has receipts of delivery and of reading only.
        if (status === 'DELIVERED') fake.receipt(to, 'isDelivery', fake.sentTo(to)[n]!.timestamp)
      },
      bring: async (from, content) => void fake.text(from, content),
      async bringTwice(from, content, recover) {
        const item = fake.text(from, content)
        await recover()
        fake.again(item)
        await recover()
      },
      close: () => fake.stop(),
    }
  },
)
