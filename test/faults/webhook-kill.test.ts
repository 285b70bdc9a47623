import { describe, expect, it } from 'vitest'
import { eventually, type SpawnedServer, spawnServer, temporaryStorage } from '../support/server.js'
import { createSink } from '../support/web/sink.js'
import { credentials, ENGINES } from '../support/world.js'
import { get, newLedger, send, tuneLine } from './ledger.js'
import { listEmitted, outOfOrder } from './webhook-ledger.js'

/** Every step from an event to its acknowledgement, early and late. */
const POINTS = [
  'webhook.before_fanout',
  'webhook.after_fanout',
  'webhook.before_post',
  'webhook.after_post',
  'webhook.before_record',
  'webhook.after_record',
]
  .flatMap((name) => [1, 3, 7].map((passing) => `${name}@${passing}`))
  .concat([
    'storage.before_commit@28',
    'storage.before_commit@33',
    'storage.before_commit@38',
    'storage.before_commit@44',
  ])
const PER_LIFE = 8
const ENDS = new Set(['DELIVERED', 'ERROR'])

describe.concurrent.each(ENGINES)('kill -9 while webhooks are delivered on %s', (engine) => {
  it(`every event reaches its receiver, and never an older one after a newer, at ${POINTS.length} moments`, async () => {
    const sink = await createSink()
    const storage = await temporaryStorage(engine)
    const env = { ...storage, TRUNKLINE_LEASE_MS: '700', LOG_LEVEL: 'silent' }
    const ledger = newLedger()
    let n = 0

    const first = await spawnServer({ env })
    await tuneLine(first.url, { pace: 0, settle_ms: 300, config: { latency_ms: 1 } })
    const webhooks = { outbound: [`${sink.url}/out`] }
    const configured = await fetch(`${first.url}/api/account/webhooks`, {
      method: 'PUT',
      headers: { ...credentials('live'), 'content-type': 'application/json' },
      body: JSON.stringify({ webhooks }),
    })
    expect(configured.status).toBe(200)
    await first.kill('SIGTERM')

    const live = async (server: SpawnedServer) => {
      for (let i = 0; i < PER_LIFE; i++) if (!(await send(ledger, server.url, `text ${n++}`))) return
    }
    for (const point of POINTS) {
      // Work left by the last death may bring the next one before the server is even ready.
      const server = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: point } }).catch(
        (error: Error) => {
          expect(error.message, point).toContain('ended instead of getting ready')
        },
      )
      if (!server) continue
      await live(server)
      // Slowly: until the leases of the dead process end, nothing is posted, and hundreds would have to be made up for.
      await eventually(async () => !(await send(ledger, server.url, `text ${n++}`)), Boolean, 30_000, 25)
      expect(await server.exited, point).toMatchObject({ signal: 'SIGKILL' })
    }

    const last = await spawnServer({ env })
    const open = async () => {
      const counts = await Promise.all(
        ['QUEUED', 'PENDING', 'SENT'].map(
          async (status) => (await get(last.url, `/api/v2/messages?status=${status}`)).data.length,
        ),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    }
    // Three lists each time, and an account may ask for a hundred in ten seconds.
    await eventually(open, (count) => count === 0, 20_000, 400)
    // Events become deliveries in order: after the last event of one more message, none waits for its delivery.
    expect(await send(ledger, last.url, 'text 0, the last')).toBe(true)
    const handle = ledger.acknowledged.get('text 0, the last')
    const hasHeard = async () =>
      sink.received.some(({ body }) => body.message_handle === handle && body.status === 'DELIVERED')
    await eventually(hasHeard, Boolean)
    const pending = async () => (await get(last.url, '/v3/webhook-deliveries?status=pending')).data.length
    await eventually(pending, (count) => count === 0, 60_000, 200)
    expect(await last.kill('SIGTERM')).toMatchObject({ code: 0 })
    await sink.close()

    const emitted = await listEmitted(engine, storage)
    expect(new Set(sink.received.map((post) => post.headers['webhook-id']))).toEqual(new Set(emitted))
    expect(outOfOrder(sink.received)).toEqual([])
    // How many there are depends on the moments of the deaths; each was heard of to its end.
    const ended = new Set(
      sink.received.filter(({ body }) => ENDS.has(body.status)).map(({ body }) => body.message_handle),
    )
    expect([...ledger.acknowledged.values()].filter((acknowledged) => !ended.has(acknowledged))).toEqual([])
  })
})
