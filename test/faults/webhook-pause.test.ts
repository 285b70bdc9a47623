import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  eventually,
  type SpawnedServer,
  spawnServer,
  temporaryStorage,
  untilPaused,
} from '../support/server.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { credentials, ENGINES } from '../support/world.js'
import { get, newLedger, send, tuneLine } from './ledger.js'

const STATUSES = ['QUEUED', 'SENT', 'DELIVERED']

describe.skipIf(!ENGINES.includes('postgres'))('a process that is paused (SIGSTOP) in a webhook post', () => {
  let sink: Sink
  let env: Record<string, string>
  let rounds = 0
  beforeAll(async () => {
    sink = await createSink()
    env = { ...(await temporaryStorage('postgres')), TRUNKLINE_LEASE_MS: '1000', LOG_LEVEL: 'silent' }
    const server = await spawnServer({ env })
    await tuneLine(server.url, { pace: 0, settle_ms: 300, config: { latency_ms: 1 } })
    const configured = await fetch(`${server.url}/api/account/webhooks`, {
      method: 'PUT',
      headers: { ...credentials('live'), 'content-type': 'application/json' },
      body: JSON.stringify({ webhooks: { outbound: [`${sink.url}/out`] } }),
    })
    expect(configured.status).toBe(200)
    await server.kill('SIGTERM')
  }, 60_000)
  afterAll(() => sink?.close())

  const heard = () => sink.received.map(({ body }) => body.status)
  const count = async ({ url }: SpawnedServer, status: string) =>
    (await get(url, `/v3/webhook-deliveries?status=${status}`)).data.length

  /**
   * The first process is paused at its second post of a message whose three statuses are in the log, until another
   * process has come as far as `isFar`. Posts get these answers, in order; undefined waits for the returned `letGo`.
   */
  async function pauseAt(point: string, answers: (number | undefined)[], isFar: () => boolean) {
    sink.received.splice(0)
    let letGo: (() => void) | undefined
    sink.answer((_post, reply) => {
      letGo = () => void reply.writeHead(200).end()
      return answers[sink.received.length - 1]
    })
    const paused = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: `${point}@2:SIGSTOP` } })
    const ledger = newLedger()
    const content = `text ${rounds++}`
    expect(await send(ledger, paused.url, content)).toBe(true)
    const path = `/api/v2/messages/${ledger.acknowledged.get(content)}`
    const status = async () => (await get(paused.url, path)).data.status
    await eventually(status, (one) => one === 'DELIVERED', 30_000)
    // Nothing else is going on, so the paused process keeps no lock.
    await eventually(async () => letGo, Boolean, 30_000)
    letGo!()
    await untilPaused(paused)
    const other = await spawnServer({ env, timeoutMs: 60_000 })
    await eventually(async () => isFar(), Boolean, 60_000)
    process.kill(paused.pid, 'SIGCONT')
    await eventually(async () => (await fetch(`${paused.url}/livez`)).status, Boolean, 30_000)
    // It ends when its post under way has ended.
    expect(await paused.kill('SIGTERM')).toMatchObject({ code: 0 })
    return { other, letGo: () => letGo!() }
  }

  it('before the first byte: posts nothing when it wakes, because another process has the shard', async () => {
    const isFar = () => heard().includes('DELIVERED')
    const { other } = await pauseAt('webhook.before_post', [undefined, 200, 200, 200], isFar)
    expect(heard()).toEqual(STATUSES)
    for (const { body, headers } of sink.received)
      expect(String(body.event_seq)).toBe(headers['x-trunkline-sequence'])
    await other.kill('SIGTERM')
  }, 180_000)

  it('after the answer: its late result does not end a delivery that another process is posting', async () => {
    const answers = [undefined, 404, undefined, 200]
    const { other, letGo } = await pauseAt('webhook.after_post', answers, () => heard().length === 3)
    letGo()
    await eventually(
      () => count(other, 'pending'),
      (open) => open === 0,
      60_000,
      250,
    )
    expect(heard()).toEqual(['QUEUED', 'SENT', 'SENT', 'DELIVERED'])
    expect(await count(other, 'failed')).toBe(0)
    await other.kill('SIGTERM')
  }, 180_000)
})
