import { describe, it } from 'vitest'
import { createDiallingPhone } from '../../peers/smsgate/dialling.js'
import { ENGINES } from '../../support/world.js'
import { post } from '../ledger.js'
import { type Carrier, killEverywhere } from './carrier-kill.js'

const LOOK_MS = 2

describe.concurrent.each(ENGINES)('kill -9 of us and of a phone that dials in, on %s', (engine) => {
  it('no text twice, none lost, and what the phone has is known', async () => {
    const carrier = diallingCarrier()
    try {
      await killEverywhere(engine, carrier)
    } finally {
      await carrier.close()
    }
  })
})

/** A phone that is handed every text again until it reports it. */
function diallingCarrier(): Carrier {
  let url = ''
  const phone = createDiallingPhone({ base: () => url })
  phone.queue.become('Delivered')
  const looks = new Set<NodeJS.Timeout>()
  return {
    driver: 'phone',
    config: {},
    env: { TRUNKLINE_PUBLIC_URL: 'https://trunkline.example' },
    async meet(base, lineId) {
      url = base
      if (!lineId) return
      const made = await post(url, '/admin/phones', { lines: [{ line_id: lineId }] }, {}, 'admin')
      await phone.register(made.body.code)
    },
    taken: () => phone.queue.aired.map(({ text }) => text),
    whenTaken(isAnswered, act) {
      const before = phone.queue.aired.length
      if (!isAnswered) phone.lose({ reports: true })
      const look = setInterval(() => {
        if (phone.queue.aired.length === before) return
        clearInterval(look)
        looks.delete(look)
        act()
        phone.lose({})
      }, LOOK_MS)
      looks.add(look)
    },
    die: async () => phone.offline(),
    revive: async () => phone.online(),
    async report() {
      // Those that were lost on purpose; the app repeats the others by itself.
      for (const row of phone.queue.rows.values()) void phone.report(row)
      return 0
    },
    async close() {
      for (const look of looks) clearInterval(look)
      await phone.close()
    },
  }
}
