import { createDiallingPhone } from '../../peers/smsgate/dialling.js'
import { driverContract } from '../contract.js'

const PEOPLE = Array.from({ length: 60 }, (_, i) => `+1202558${3000 + i}`)
const secrets: string[] = []

driverContract(
  'phone',
  {
    driver: 'phone',
    evidence: 'look-up',
    accepted: 'ACCEPTED',
    refusal: 'no_service: The phone has no network',
    badConfigs: [[{ receipts: 'yes' }, 'receipts']],
    secrets,
    people: PEOPLE,
    noticeMs: 5000,
    settleMs: 10_000,
    stepMs: 200,
    env: { TRUNKLINE_PUBLIC_URL: 'https://trunkline.example' },
  },
  async (world) => {
    const phone = createDiallingPhone({ base: () => world.app.url(), now: () => world.app.ctx.clock.now() })
    const airedTo = (to: string) => phone.queue.aired.filter((text) => text.to === to)
    let seconds = 0
    const at = () => world.app.ctx.clock.now() + 1000 * ++seconds
    return {
      config: {},
      async join(lineId) {
        const { body } = await world.post('/admin/phones', { lines: [{ line_id: lineId }] }, 'admin')
        await phone.register(body.code)
        secrets.push(phone.token, body.code)
      },
      async act(what) {
        phone.lose({ reports: what === 'take-then-drop', pulls: what === 'silence' })
        phone.queue.become(what === 'refuse' ? { error: 'RESULT_ERROR_NO_SERVICE' } : 'Sent')
      },
      unplug: async () => phone.offline(),
      plug: async () => phone.online(),
      taken: async (to) => airedTo(to).map(({ text }) => ({ content: text })),
      async report(to, n, status) {
        const state = ({ SENT: 'Sent', DELIVERED: 'Delivered', ERROR: 'Failed' } as const)[status]
        phone.queue.set(airedTo(to)[n]!, state)
        await phone.rest()
      },
      async bring(from, content) {
        await phone.text(from, content, { at: at() })
      },
      async bringTwice(from, content, recover) {
        const row = await phone.text(from, content, { at: at() })
        await recover()
        await phone.text(from, content, { at: row.at, sim: null })
        await recover()
      },
      close: () => phone.close(),
    }
  },
)
