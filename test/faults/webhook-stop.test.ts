import { describe, expect, it } from 'vitest'
import { spawnServer, temporaryStorage } from '../support/server.js'
import { createSink } from '../support/web/sink.js'
import { credentials, ENGINES } from '../support/world.js'
import { newLedger, send, tuneLine } from './ledger.js'

/** The fault showed in one of eight stops on a loaded machine, in one of two when feeds were slowed down. */
const STOPS = 4

describe.each(ENGINES)('SIGTERM while webhooks are fanned out on %s', (engine) => {
  it('stops every lane, also one that a late feed opens, and ends with 0', async () => {
    const sink = await createSink()
    const env = { ...(await temporaryStorage(engine)), TRUNKLINE_LEASE_MS: '700', LOG_LEVEL: 'silent' }
    const ledger = newLedger()
    for (let stop = 0; stop < STOPS; stop++) {
      const server = await spawnServer({ env })
      if (stop === 0) {
        await tuneLine(server.url, { pace: 0, config: { latency_ms: 1 } })
        const configured = await fetch(`${server.url}/api/account/webhooks`, {
          method: 'PUT',
          headers: { ...credentials('live'), 'content-type': 'application/json' },
          body: JSON.stringify({ webhooks: { outbound: [`${sink.url}/out`] } }),
        })
        expect(configured.status).toBe(200)
      }
      await Promise.all(Array.from({ length: 12 }, (_, i) => send(ledger, server.url, `text ${stop}.${i}`)))
      expect(await server.kill('SIGTERM'), `stop ${stop}`).toMatchObject({ code: 0 })
    }
    await sink.close()
  })
})
