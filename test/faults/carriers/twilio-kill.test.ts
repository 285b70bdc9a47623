import { describe, it } from 'vitest'
import { createTwilio } from '../../peers/twilio/twilio.js'
import { ENGINES } from '../../support/world.js'
import { type Carrier, createLooks, killEverywhere } from './carrier-kill.js'

const NUMBER = '+12025557700'

describe.concurrent.each(ENGINES)('kill -9 of us and of Twilio, on %s', (engine) => {
  it.each([
    ['with callbacks', true],
    ['without an auth token, so without callbacks', false],
  ])('no text twice, none lost, and what Twilio has is known, %s', async (_how, callsUs) => {
    const carrier = await twilioCarrier(callsUs)
    try {
      await killEverywhere(engine, carrier)
    } finally {
      await carrier.close()
    }
  })
})

/** A Twilio that takes no id of ours: what it has taken is found out by its callbacks, or else in its list. */
async function twilioCarrier(callsUs: boolean): Promise<Carrier> {
  const peer = await createTwilio({ number: NUMBER })
  peer.become('delivered')
  const key = `SK${'d4'.repeat(16)}`
  peer.keys.set(key, 'secret')
  const credentials = callsUs ? { auth_token: peer.token } : { api_key: key, api_secret: 'secret' }
  const looks = createLooks(() => peer.sent().length)
  return {
    driver: 'twilio',
    config: { account_sid: peer.account, ...credentials, api_url: peer.url, poll_ms: 1000 },
    taken: () => peer.sent().map(({ body }) => body),
    whenTaken(isAnswered, act) {
      if (!isAnswered) peer.fault('POST Messages', 'hang after')
      looks.whenMore(() => {
        peer.clear()
        act()
      })
    },
    die: peer.stop,
    revive: peer.start,
    // It calls by itself, and a server that was away asks.
    report: async () => 0,
    async close() {
      looks.end()
      await peer.close()
    },
  }
}
