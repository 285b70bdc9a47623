import { describe, it } from 'vitest'
import { createSmsGate } from '../../peers/smsgate/smsgate.js'
import { ENGINES } from '../../support/world.js'
import { type Carrier, createLooks, killEverywhere } from './carrier-kill.js'

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
  const looks = createLooks(() => phone.queue.aired.length)
  return {
    driver: 'smsgate',
    config: { url: phone.url, username: phone.username, password: phone.password, poll_ms: 1000 },
    taken: () => phone.queue.aired.map(({ text }) => text),
    whenTaken(isAnswered, act) {
      if (!isAnswered) phone.fault('POST /messages', 'hang after')
      looks.whenMore(() => {
        phone.clear()
        act()
      })
    },
    die: phone.stop,
    revive: phone.start,
    // It is asked.
    report: async () => 0,
    async close() {
      looks.end()
      await phone.close()
    },
  }
}
