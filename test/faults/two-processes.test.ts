import { expect, it } from 'vitest'
import { eventually, spawnServer, temporaryStorage } from '../support/server.js'
import type { Json } from '../support/world.js'
import { get, inspect, newLedger, post, send, tuneLine, violations } from './ledger.js'

const env = { TRUNKLINE_LEASE_MS: '1000', TRUNKLINE_WIRE_TIMEOUT_MS: '2000', LOG_LEVEL: 'silent' }
const quick = { pace: 0, settle_ms: 300, config: { latency_ms: 1 } }

async function delivered(url: string, count: number): Promise<void> {
  const total = async () => (await get(url, '/api/v2/messages?status=DELIVERED&limit=1')).pagination?.total
  // An account may ask for fifty lists in ten seconds at each of two processes.
  await eventually(total, (n) => n === count, 120_000, 250)
}

it('two processes on one PostgreSQL send at once: nothing twice, nothing lost, no number missing or repeated', async () => {
  const storage = await temporaryStorage('postgres')
  const servers = await Promise.all([1, 2].map(() => spawnServer({ env: { ...env, ...storage } })))
  await tuneLine(servers[0]!.url, quick)
  const ledger = newLedger()
  const COUNT = 600
  const lanes = Array.from({ length: 16 }, async (_, lane) => {
    for (let i = lane; i < COUNT; i += 16) await send(ledger, servers[i % 2]!.url, `text ${i}`)
  })
  await Promise.all(lanes)
  expect(ledger.acknowledged.size).toBe(COUNT)
  await delivered(servers[0]!.url, COUNT)

  // Each line is driven by exactly one of them, and both have some.
  const driven = await Promise.all(
    servers.map(async ({ url }) =>
      (await get(url, '/admin/lines', 'admin')).data
        .filter((line: Json) => line.driven_here)
        .map((line: Json) => line.id),
    ),
  )
  expect(driven.flat().length).toBe(new Set(driven.flat()).size)
  expect(driven.flat()).toHaveLength(4)
  expect(driven.every((lines) => lines.length > 0)).toBe(true)

  for (const server of servers) expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 })
  const found = await inspect('postgres', storage)
  expect(violations(ledger, found)).toEqual([])
  expect(found.messages).toHaveLength(COUNT)
  expect(found.sequence).toHaveLength(COUNT * 3)
})

it('the other process takes over the lines of one that died, and asks about what was on the wire', async () => {
  const storage = await temporaryStorage('postgres')
  const servers = await Promise.all([1, 2].map(() => spawnServer({ env: { ...env, ...storage } })))
  await tuneLine(servers[0]!.url, quick)
  const ledger = newLedger()
  let n = 0
  for (const round of [0, 1]) {
    const victim = servers[round]!
    const survivor = round === 0 ? servers[1]! : await spawnServer({ env: { ...env, ...storage } })
    const sending = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 30; i++) await send(ledger, survivor.url, `text ${n++}`)
    })
    await victim.kill('SIGKILL')
    await Promise.all(sending)
    await delivered(survivor.url, ledger.acknowledged.size)
    if (round === 1) expect(await survivor.kill('SIGTERM')).toMatchObject({ code: 0 })
  }
  expect(violations(ledger, await inspect('postgres', storage))).toEqual([])
  expect(ledger.acknowledged.size).toBe(480)
})

it('an Idempotency-Key is one message on both processes at once', async () => {
  const storage = await temporaryStorage('postgres')
  const servers = await Promise.all([1, 2].map(() => spawnServer({ env: { ...env, ...storage } })))
  const body = { from_number: '+12025550100', number: '+12025550101', content: 'once' }
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      post(servers[i % 2]!.url, '/api/send-message', body, { 'idempotency-key': 'k-1' }),
    ),
  )
  expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(202))
  expect(new Set(answers.map((answer) => answer.body.message_handle)).size).toBe(1)
  expect((await get(servers[0]!.url, '/api/v2/messages')).pagination.total).toBe(1)
  for (const server of servers) await server.kill('SIGTERM')
})

it('any process answers for a line that another drives: what it is asked to do, and how it is', async () => {
  const storage = await temporaryStorage('postgres')
  const servers = await Promise.all([1, 2].map(() => spawnServer({ env: { ...env, ...storage } })))
  const lines = (await get(servers[0]!.url, '/admin/lines', 'admin')).data
  const idOf = (number: string) =>
    lines.find((line: Json) => line.number === number && line.world === 'live').id
  // One line alone can be asked about iMessage.
  const smsOnly = { config: { services: ['SMS'] } }
  await post(servers[0]!.url, `/admin/lines/${idOf('+12025550190')}`, smsOnly, {}, 'admin')
  const drives = async ({ url }: { url: string }) =>
    (await get(url, `/admin/lines/${idOf('+12025550100')}`, 'admin')).driven_here
  const driver = await eventually(
    async () => (await Promise.all(servers.map(drives))).indexOf(true),
    (index) => index >= 0,
  )
  const [near, far] = [servers[driver]!, servers[1 - driver]!]
  expect(await drives(far)).toBe(false)
  const evaluate = (url: string, number: string) =>
    get(url, `/api/evaluate-service?number=${encodeURIComponent(number)}`)
  for (const { url } of [near, far]) {
    expect(await evaluate(url, '+12025550101')).toEqual({ number: '+12025550101', service: 'iMessage' })
    expect(await evaluate(url, '+12025550102')).toEqual({ number: '+12025550102', service: 'SMS' })
    expect(await evaluate(url, 'nobody@example.com')).toMatchObject({ service: 'SMS' })
  }

  const states = async (url: string) => (await get(url, '/api/v2/lines/state')).data
  const online = (data: Json[]) => data.length === 2 && data.every((one) => one.status === 'ONLINE')
  const before = await eventually(() => states(far.url), online)
  expect(await states(near.url)).toEqual(before)
  // Its process is dead: nobody knows, until the other has taken over. That is no change of the line itself.
  await near.kill('SIGKILL')
  const seen = new Set<string>()
  await eventually(
    async () => {
      for (const one of await states(far.url)) seen.add(one.status)
      return drives(far)
    },
    (taken) => taken,
  )
  expect([...seen].filter((status) => status !== 'ONLINE' && status !== 'UNKNOWN')).toEqual([])
  expect(await eventually(() => states(far.url), online)).toEqual(before)
  expect(await evaluate(far.url, '+12025550101')).toMatchObject({ service: 'iMessage' })
  await far.kill('SIGTERM')
  expect((await inspect('postgres', storage)).sequence).toEqual([])
})
