import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { receiptText } from '../../support/drivers/smpp.js'
import { eventually, realStorage, type SpawnedServer, spawnServer } from '../../support/server.js'
import { ENGINES, type Json } from '../../support/world.js'
import { get, post } from '../ledger.js'

const LINE = '+12025557700'
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400)

describe.each(ENGINES)('kill -9 between the parts of a long SMS, on %s', (engine) => {
  let smsc: Smsc
  let env: Record<string, string>
  let server: SpawnedServer
  let people = 0

  beforeAll(async () => {
    smsc = await createSmsc()
    env = { ...(await realStorage(engine)), TRUNKLINE_LEASE_MS: '900', LOG_LEVEL: 'silent' }
    server = await spawnServer({ env })
    const [account] = (await get(server.url, '/admin/accounts', 'admin')).data
    const config = { host: '127.0.0.1', port: smsc.port, system_id: 'us', password: 'secret' }
    const line = { account_id: account.id, number: LINE, driver: 'smpp', pace: 0, settle_ms: 1500, config }
    const made = await post(server.url, '/admin/lines', line, {}, 'admin')
    expect(made.status, JSON.stringify(made.body)).toBe(201)
  })
  afterAll(() => smsc.close())

  const online = () =>
    eventually(
      async () => (await get(server.url, '/admin/lines', 'admin')).data,
      (lines: Json[]) => lines.some((one) => one.number === LINE && one.state === 'ONLINE'),
      60_000,
    )
  const parts = (to: string) => smsc.submitted.filter(({ pdu }) => pdu.destination === to.slice(1))
  const record = async (handle: string) => (await get(server.url, `/api/v2/messages/${handle}`)).data
  const becomes = (handle: string, status: string) =>
    eventually(
      () => record(handle),
      (one) => one.status === status,
      60_000,
    )
  const story = async (handle: string) => JSON.stringify(await get(server.url, `/v3/messages/${handle}`))
  const restart = async () => {
    await server.kill('SIGKILL')
    server = await spawnServer({ env })
    await online()
  }

  /** The carrier takes n of three parts, then the process is killed before the carrier answers the n-th. */
  async function dieAfter(n: number): Promise<{ handle: string; to: string }> {
    await online()
    const to = `+1202557${1000 + people++}`
    const death = new Promise<void>((resolve) => {
      smsc.options.submit = () => {
        if (parts(to).length < n - 1) return { answer: 0 }
        void server.kill('SIGKILL').then(() => resolve())
        return 'silence'
      }
    })
    const sent = await post(server.url, '/api/send-message', { from_number: LINE, number: to, content: LONG })
    expect(sent.status, JSON.stringify(sent.body)).toBe(202)
    await death
    smsc.options.submit = undefined
    expect(parts(to)).toHaveLength(n)
    server = await spawnServer({ env })
    await online()
    return { handle: sent.body.message_handle, to }
  }
  /** The receipt of the n-th part. */
  const report = async (to: string, n: number) => {
    const id = `P${people}-${n}`
    const { status } = await smsc.bring(receiptText(parts(to)[n - 1]!, 'DELIVRD', { id, echo: true }))
    expect(status).toBe(0)
  }

  it('ends as error 10002 with the number of parts taken, never SENT, also after another kill', async () => {
    const { handle, to } = await dieAfter(2)
    await report(to, 1)
    await report(to, 1)
    await restart()
    await report(to, 2)
    const ended = await becomes(handle, 'ERROR')
    expect(ended).toMatchObject({ error_code: 10002, error_reason: 'outcome_unknown' })
    expect(ended.error_detail).toBe('2 of 3 parts taken')
    expect(await story(handle)).not.toMatch(/"SENT"|"DELIVERED"/)
    expect(parts(to)).toHaveLength(2)
  })

  it('is DELIVERED if the carrier took all parts, and reports on each, some of them late', async () => {
    const { handle, to } = await dieAfter(3)
    await report(to, 1)
    expect((await becomes(handle, 'ERROR')).error_detail).toBe('1 of 3 parts taken')
    await report(to, 2)
    expect((await record(handle)).error_detail).toBe('2 of 3 parts taken')
    await restart()
    await report(to, 3)
    await becomes(handle, 'DELIVERED')
    expect(parts(to)).toHaveLength(3)
  })
})
