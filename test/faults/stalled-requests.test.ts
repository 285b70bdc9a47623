import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import SendblueAPI from 'sendblue'
import { describe, expect, it } from 'vitest'
import { once } from '../../src/services/once.js'
import { type SpawnedServer, spawnServer, temporaryStorage, untilPaused } from '../support/server.js'
import { ADA, createWorld, credentials, ENGINES, LINE } from '../support/world.js'
import { get } from './ledger.js'

const env = { LOG_LEVEL: 'silent', TRUNKLINE_LEASE_MS: '60000' }
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function sendTo(url: string, content: string, headers: Record<string, string>, giveUpMs = 60_000) {
  return fetch(`${url}/api/send-message`, {
    method: 'POST',
    headers: { ...credentials('live'), 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ from_number: LINE, number: ADA, content }),
    signal: AbortSignal.timeout(giveUpMs),
  })
}

/** A client that goes away; the request stays in the socket of the stopped process. */
const abandon = (url: string, content: string, headers: Record<string, string>) =>
  expect(sendTo(url, content, headers, 300)).rejects.toThrow()

/** Two sends, one after the other: everything that was in the sockets before is through. */
async function catchUp({ url }: SpawnedServer) {
  for (const mark of ['mark 1', 'mark 2']) {
    const answer = await sendTo(url, mark, { 'idempotency-key': `${mark} ${url}` })
    // The marks themselves may be told that they came too late.
    if (answer.status === 503) await sendTo(url, mark, { 'idempotency-key': `${mark} ${url}` })
  }
}

async function contents({ url }: SpawnedServer): Promise<string[]> {
  const { data } = await get(url, '/api/v2/messages?limit=100')
  return data
    .map(({ content }: { content: string }) => content)
    .filter((content: string) => !content.startsWith('mark'))
    .sort()
}

const signal = ({ pid }: SpawnedServer, name: 'SIGSTOP' | 'SIGCONT') => process.kill(pid, name)

describe.each(ENGINES)('requests in a process that was stopped (SIGSTOP), on %s', (engine) => {
  it('are not executed after their client gave up, and merge with their accepted retry', async () => {
    const server = await spawnServer({ env: { ...env, ...(await temporaryStorage(engine)) } })
    await sendTo(server.url, 'before', {})
    signal(server, 'SIGSTOP')
    await abandon(server.url, 'gone', { 'x-stainless-timeout': '1' })
    // The retry is read first, because its connection is older.
    const retry = sendTo(server.url, 'once', { 'x-stainless-retry-count': '1', 'x-stainless-timeout': '60' })
    await pause(300)
    await abandon(server.url, 'once', { 'x-stainless-retry-count': '0', 'x-stainless-timeout': '60' })
    // Two equal texts without a retry are both meant.
    const twins = [0, 1].map(() => sendTo(server.url, 'twice', {}))
    await pause(2500)
    signal(server, 'SIGCONT')
    expect((await retry).status).toBe(202)
    for (const twin of twins) expect((await twin).status).toBe(202)
    await catchUp(server)
    expect(await contents(server)).toEqual(['before', 'once', 'twice', 'twice'])
  })

  it('are refused with words just before their effect', async () => {
    const world = await createWorld(engine)
    try {
      const wall = Date.now() - 61_000
      const arrival = { at: { steady: performance.now() - 61_000, wall }, patienceMs: 60_000 }
      const account = (await world.get('/admin/accounts', 'admin')).body.data[0].id
      const request = { accountId: account, path: '/x', hash: 'x', retryCount: 0, arrival }
      let ran = false
      const late = once(world.app.ctx, request, async () => {
        ran = true
        return { status: 200, body: {} }
      })
      await expect(late).rejects.toThrow(/waited 61 s.*longer than its client waits \(60 s\).*not executed/)
      expect(ran).toBe(false)
    } finally {
      await world.close()
    }
  })
})

// The event loop accepts one connection in each of its turns.
it('requests on many connections that waited for a stopped process are all known to be late', async () => {
  const server = await spawnServer({ env: { ...env, ...(await temporaryStorage('sqlite')) } })
  await sendTo(server.url, 'before', {})
  signal(server, 'SIGSTOP')
  const late = Array.from({ length: 400 }, (_, i) =>
    sendTo(server.url, `gone ${i}`, { 'x-stainless-timeout': '1' }),
  )
  await pause(2000)
  signal(server, 'SIGCONT')
  const statuses = (await Promise.all(late)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(await contents(server)).toEqual(['before'])
})

it('a request that came while the process stood still is answered, although its time ran out meanwhile', async () => {
  const server = await spawnServer({ env: { ...env, ...(await temporaryStorage('sqlite')) } })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  await sendTo(server.url, 'before', {})
  signal(server, 'SIGSTOP')
  socket.write(`GET /livez HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`)
  // The time for headers is 10 s.
  await pause(11_000)
  signal(server, 'SIGCONT')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
})

it('a connection may be opened long before its first request', async () => {
  const server = await spawnServer({ env: { ...env, ...(await temporaryStorage('sqlite')) } })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  await pause(12_000)
  socket.write(`GET /livez HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`)
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
})

describe('a process of two that was stopped (SIGSTOP), with retries at the other', () => {
  it.each([
    ['the client timed out', '1', 1000, 1500],
    ['a proxy gave up sooner than the client', '60', 1000, 1500],
  ])(
    'makes one message of the published SDK’s call: %s',
    async (_name, seconds, timeout, rest) => {
      const storage = await temporaryStorage('postgres')
      const [first, second] = await Promise.all(
        [1, 2].map(() => spawnServer({ env: { ...env, ...storage } })),
      )
      const [stopped, other] = [first!, second!]
      // The balancer: a retry goes to the other process.
      const balanced = (input: string | URL | Request, init?: RequestInit) => {
        const headers = new Headers(init?.headers)
        headers.set('x-stainless-timeout', seconds)
        const target = headers.get('x-stainless-retry-count') === '0' ? stopped : other
        return fetch(String(input).replace('http://balancer', target.url), { ...init, headers })
      }
      const client = new SendblueAPI({
        baseURL: 'http://balancer',
        apiKey: 'dev-live-key',
        apiSecret: 'dev-live-secret',
        timeout,
        fetch: balanced as typeof fetch,
      })
      signal(stopped, 'SIGSTOP')
      try {
        const sent = await client.messages.send({ from_number: LINE, number: ADA, content: 'only once' })
        expect(sent.message_handle).toBeTruthy()
        await pause(rest)
      } finally {
        signal(stopped, 'SIGCONT')
      }
      await catchUp(stopped)
      expect(await contents(other)).toEqual(['only once'])
    },
    240_000,
  )

  it.each([
    ['is refused', '3'],
    ['merges with the retry', '60'],
  ])(
    'a request that was read before the stop, and not yet written, %s',
    async (_fate, seconds) => {
      const storage = await temporaryStorage('postgres')
      const other = await spawnServer({ env: { ...env, ...storage } })
      const stopped = await spawnServer({
        env: { ...env, ...storage, TRUNKLINE_FAILPOINT: 'accept.before_write:SIGSTOP' },
      })
      // A cold process could need longer than the client's patience for its first request.
      await contents(stopped)
      await abandon(stopped.url, 'only once', { 'x-stainless-timeout': seconds })
      await untilPaused(stopped)
      const retry = { 'x-stainless-retry-count': '1', 'x-stainless-timeout': seconds }
      expect((await sendTo(other.url, 'only once', retry)).status).toBe(202)
      await pause(4500)
      signal(stopped, 'SIGCONT')
      await catchUp(stopped)
      expect(await contents(other)).toEqual(['only once'])
    },
    240_000,
  )
})
