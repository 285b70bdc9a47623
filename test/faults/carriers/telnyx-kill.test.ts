import { describe, it } from 'vitest'
import { createTelnyx } from '../../peers/telnyx/telnyx.js'
import { ENGINES } from '../../support/world.js'
import { type Carrier, createLooks, killEverywhere } from './carrier-kill.js'

const NUMBER = '+12025557700'

describe.concurrent.each(ENGINES)('kill -9 of us and of Telnyx, on %s', (engine) => {
  it.each([
    ['with webhooks', true],
    ['without a public key, so from the log', false],
  ])('no text twice, none lost, and what Telnyx has is known, %s', async (_how, callsUs) => {
    const carrier = await telnyxCarrier(callsUs)
    try {
      await killEverywhere(engine, carrier)
    } finally {
      await carrier.close()
    }
  })
})

/** A Telnyx that returns our ref in its webhooks and lists. */
async function telnyxCarrier(callsUs: boolean): Promise<Carrier> {
  const peer = await createTelnyx({ number: NUMBER })
  peer.become('delivered')
  peer.profile.webhook_url = 'http://127.0.0.1:9/nobody'
  peer.profile.webhook_api_version = '2'
  const looks = createLooks(() => peer.sent().length)
  const checks = callsUs ? { public_key: peer.webhooks.publicKey } : {}
  return {
    driver: 'telnyx',
    config: { api_key: peer.key, ...checks, api_url: peer.url, poll_ms: 1000 },
    taken: () => peer.sent().map(({ text }) => text),
    whenTaken(isAnswered, act) {
      if (!isAnswered) peer.fault('POST /messages', 'hang after')
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
