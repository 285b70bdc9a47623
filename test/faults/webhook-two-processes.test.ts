import { expect, it } from 'vitest'
import { eventually, type SpawnedServer, spawnServer, temporaryStorage } from '../support/server.js'
import { createSink } from '../support/web/sink.js'
import { credentials, ENGINES } from '../support/world.js'
import { get, newLedger, send, tuneLine } from './ledger.js'
import { listEmitted, outOfOrder } from './webhook-ledger.js'

const SENDS = 60

it.skipIf(!ENGINES.includes('postgres'))(
  'two processes on one PostgreSQL deliver every event, in order, also when one of them is killed',
  async () => {
    const sink = await createSink()
    const storage = await temporaryStorage('postgres')
    const env = { ...storage, TRUNKLINE_LEASE_MS: '1000', LOG_LEVEL: 'silent' }
    const ledger = newLedger()
    const [first, second] = (await Promise.all([spawnServer({ env }), spawnServer({ env })])) as [
      SpawnedServer,
      SpawnedServer,
    ]
    await tuneLine(first.url, { pace: 0, settle_ms: 300, config: { latency_ms: 1 } })
    await fetch(`${first.url}/api/account/webhooks`, {
      method: 'PUT',
      headers: { ...credentials('live'), 'content-type': 'application/json' },
      body: JSON.stringify({ webhooks: { outbound: [`${sink.url}/out`] } }),
    })
    for (let i = 0; i < SENDS; i++) {
      if (i === SENDS / 2) await first.kill('SIGKILL')
      await send(ledger, i < SENDS / 2 && i % 2 ? first.url : second.url, `text ${i}`)
    }
    const open = async () => {
      const lists = [
        '/v3/webhook-deliveries?status=pending',
        '/api/v2/messages?status=QUEUED',
        '/api/v2/messages?status=SENT',
      ]
      const found = await Promise.all(lists.map(async (path) => (await get(second.url, path)).data.length))
      return found.reduce((sum, count) => sum + count, 0)
    }
    await eventually(open, (count) => count === 0, 30_000, 400)
    const emitted = await listEmitted('postgres', storage)
    // The last answers may be on their way to the log of deliveries, but not to their receiver.
    const heard = () => Promise.resolve(new Set(sink.received.map((post) => post.headers['webhook-id'])).size)
    await eventually(heard, (count) => count >= emitted.length)
    await second.kill('SIGTERM')
    await sink.close()
    expect(new Set(sink.received.map((post) => post.headers['webhook-id']))).toEqual(new Set(emitted))
    expect(outOfOrder(sink.received)).toEqual([])
    expect(emitted.length).toBeGreaterThan(SENDS * 2)
  },
  240_000,
)
