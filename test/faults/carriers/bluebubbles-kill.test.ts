import { describe, it } from 'vitest'
import { createBlueBubbles } from '../../peers/bluebubbles/bluebubbles.js'
import { ENGINES } from '../../support/world.js'
import { type Carrier, createLooks, killEverywhere } from './carrier-kill.js'

describe.concurrent.each(ENGINES)('kill -9 of us and of the Mac, on %s', (engine) => {
  it('no text twice, none lost, and what the Mac has is known', async () => {
    const carrier = await macCarrier()
    try {
      await killEverywhere(engine, carrier)
    } finally {
      await carrier.close()
    }
  })
})

/** A Mac that can be asked: whatever it has taken is found out. */
async function macCarrier(): Promise<Carrier> {
  const mac = await createBlueBubbles({ address: '+12025557700', speed: 100 })
  const looks = createLooks(() => mac.world.sent.length)

  /** The Mac tells nobody that it has taken something: it is seen on the other side. */
  function whenTaken(isAnswered: boolean, act: () => void) {
    const silences = isAnswered
      ? []
      : ['POST /api/v1/message/text', 'POST /api/v1/chat/new'].map((route) =>
          mac.fault({ route, kind: 'hang', works: true }),
        )
    looks.whenMore(() => {
      for (const silence of silences) silence.clear()
      act()
    })
  }

  const carrier: Carrier = {
    driver: 'bluebubbles',
    config: { url: mac.url, password: mac.password, poll_ms: 1000 },
    taken: () => mac.world.sent.map(({ text }) => text),
    whenTaken,
    die: mac.stop,
    revive: mac.start,
    // It is asked.
    report: async () => 0,
    async close() {
      looks.end()
      await mac.close()
    },
  }
  return carrier
}
