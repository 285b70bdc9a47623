import { createSmsGate } from '../../peers/smsgate/smsgate.js'
import { driverContract } from '../contract.js'

const PASSWORD = 'canary-p4ssword'
const PEOPLE = Array.from({ length: 60 }, (_, i) => `+1202558${2000 + i}`)
const good = { url: 'http://phone.example.com:8080', username: 'sms', password: PASSWORD }
const SEND = 'POST /messages'

driverContract(
  'smsgate',
  {
    driver: 'smsgate',
    evidence: 'look-up',
    accepted: 'ACCEPTED',
    refusal: 'http_400: Empty phone numbers list',
    badConfigs: [
      [{ username: 'sms', password: PASSWORD }, 'url'],
      [{ ...good, url: 'phone.example.com:8080' }, 'url'],
      [{ ...good, url: 'http://sms:secret@phone.example.com:8080' }, 'url'],
      [{ url: good.url, username: 'sms' }, 'password'],
      [{ ...good, username: 'a:b' }, 'username'],
      [{ ...good, sim: 4 }, 'sim'],
      [{ ...good, poll_ms: 1 }, 'poll_ms'],
      [{ ...good, receipts: 'yes' }, 'receipts'],
    ],
    secrets: [PASSWORD, Buffer.from(`sms:${PASSWORD}`).toString('base64')],
    people: PEOPLE,
    noticeMs: 5000,
    settleMs: 10_000,
    stepMs: 1000,
  },
  async (world) => {
    const phone = await createSmsGate({ password: PASSWORD, now: () => world.app.ctx.clock.now() })
    const airedTo = (to: string) => phone.queue.aired.filter((text) => text.to === to)
    let seconds = 0
    return {
      config: { url: phone.url, username: phone.username, password: phone.password },
      async act(what) {
        phone.clear()
        phone.refuse(what === 'refuse')
        if (what === 'take-then-drop') phone.fault(SEND, 'cut after')
        if (what === 'silence') phone.fault(SEND, 'hang')
      },
      unplug: () => phone.stop(),
      plug: () => phone.start(),
      taken: async (to) => airedTo(to).map(({ text }) => ({ content: text })),
      async report(to, n, status) {
        const state = ({ SENT: 'Sent', DELIVERED: 'Delivered', ERROR: 'Failed' } as const)[status]
        phone.queue.set(airedTo(to)[n]!, state)
        await phone.called()
        // The phone tells its present state only, so a state that is over at once is never seen.
        await world.advance(3000)
      },
      async bring(from, content) {
        // Two texts of one second would have the same id on a real phone, too.
        phone.inbox.text(from, content, { at: world.app.ctx.clock.now() + ++seconds })
      },
      async bringTwice(from, content, recover) {
        const row = phone.inbox.text(from, content)
        await recover()
        // The app reads the phone's inbox again and does not know the SIM this time.
        phone.inbox.rows.delete(row.id)
        phone.inbox.text(from, content, { at: row.at, sim: null })
        await recover()
      },
      close: () => phone.close(),
    }
  },
)
