import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventually, spawnServer, temporaryStorage } from '../../support/server.js'
import { ADA, ENGINES, LINE } from '../../support/world.js'
import { get, post } from '../ledger.js'

const env = { LOG_LEVEL: 'silent', TRUNKLINE_LEASE_MS: '3000' }
/** Each wait for a lock ends after 1 s at most, and then counts as a repeat: two of them cost a send 2 s at most. */
const REPEATS = 2

const isStopped = (pid: number) => /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

function send(url: string, content: string, headers: Record<string, string> = {}) {
  const [path, body] = ['/api/send-message', { from_number: LINE, number: ADA, content }]
  return post(url, path, body, headers)
}

/** Transactions that a process has repeated, because of a lock that it did not get in time. */
async function repeats(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/repeated_transaction"} (\d+)/.exec(text)?.[1])
}

/** SQLite has one process; `/proc` tells whether a process is stopped. */
describe.runIf(ENGINES.includes('postgres') && process.platform === 'linux')('a stopped process', () => {
  it.each([
    ['while it accepts a request with an Idempotency-Key', 'accept.in_transaction@1'],
    ['between any two statements of a transaction', 'storage.in_transaction@200'],
  ])(
    'delays a send of another process by two waits for a lock at most: %s',
    async (_when, point) => {
      const storage = await temporaryStorage('postgres')
      const other = await spawnServer({ env: { ...env, ...storage } })
      const stopped = await spawnServer({
        env: { ...env, ...storage, TRUNKLINE_FAILPOINT: `${point}:SIGSTOP` },
      })
      const key = { 'idempotency-key': 'one' }
      const first = send(stopped.url, 'with a key', key).catch(() => undefined)
      let n = 0
      await eventually(
        async () => {
          // Traffic, until the process comes to the point.
          if (n > 0) void send(stopped.url, `traffic ${n}`, { 'idempotency-key': `t${n}` }).catch(() => {})
          n++
          return isStopped(stopped.pid)
        },
        (is) => is,
        20_000,
        50,
      )
      for (let i = 0; i < 4; i++) {
        const before = await repeats(other.url)
        expect(await send(other.url, `meanwhile ${i}`)).toMatchObject({ status: 202 })
        expect((await repeats(other.url)) - before).toBeLessThanOrEqual(REPEATS)
      }
      // The client of the stopped process gives up and asks the other one.
      expect(await send(other.url, 'with a key', key)).toMatchObject({ status: 202 })
      expect(isStopped(stopped.pid)).toBe(true)

      process.kill(stopped.pid, 'SIGCONT')
      await first
      const { data } = await get(other.url, `/api/v2/messages?limit=100`)
      expect(data.filter((one: { content: string }) => one.content === 'with a key')).toHaveLength(1)
      await Promise.all([stopped.kill('SIGKILL'), other.kill('SIGKILL')])
    },
    60_000,
  )
})
