import { describe, it } from 'vitest'
import { createSmsGate } from '../../peers/smsgate/smsgate.js'
import { ENGINES } from '../../support/world.js'
import { type Carrier, killEverywhere } from './carrier-kill.js'

const LOOK_MS = 2

describe.concurrent.each(ENGINES)('kill -9 of us and of the phone, on %s', (engine) => {
  it('no text twice, none lost, and what the phone has is known', async () => {
    const carrier = await phoneCarrier()
    try {
      await killEverywhere(engine, carrier)
    } finally {
      await carrier.close()
    }
  })
})

/** A phone that can be asked: whatever it has taken is found out. */
async function phoneCarrier(): Promise<Carrier> {
  const phone = await createSmsGate()
  phone.queue.become('Delivered')
  const looks = new Set<NodeJS.Timeout>()
  return {
    driver: 'smsgate',
    config: { url: phone.url, username: phone.username, password: phone.password, poll_ms: 1000 },
    taken: () => phone.queue.aired.map(({ text }) => text),
    whenTaken(isAnswered, act) {
      const before = phone.queue.aired.length
      if (!isAnswered) phone.fault('POST /messages', 'hang after')
      const look = setInterval(() => {
        if (phone.queue.aired.length === before) return
        clearInterval(look)
        looks.delete(look)
        phone.clear()
        act()
      }, LOOK_MS)
      looks.add(look)
    },
    die: phone.stop,
    revive: phone.start,
    // It is asked.
    report: async () => 0,
    async close() {
      for (const look of looks) clearInterval(look)
      await phone.close()
    },
  }
}
