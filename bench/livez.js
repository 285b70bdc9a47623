// GET /livez every 10 ms from a neighbour's process, beside one attack after the other.
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createApp } from '../dist/app.js'
import { loadConfig } from '../dist/config.js'
import { appendEvents } from '../dist/storage/events/events.js'
import { countMessages, insertMessages } from '../dist/storage/messages/messages.js'
import { row } from './list.js'
import { addAccount } from './neighbour.js'
import { ADMIN, LIVE, startTrunkline } from './servers.js'
import { median, percentile, round } from './stats.js'

const EVENTS = 205_000
const MESSAGES = 20_000
const AT_ONCE = 1000
const LIMIT_MS = 50
const PHONE = '+12025553000'
const LISTS = [
  '/v3/search?q=nowhere',
  '/api/v2/messages?limit=1000&offset=15000',
  '/api/v2/messages?limit=10&created_at_gte=2026-01-01&sent_at_gte=2026-01-01',
  '/v3/conversations?limit=100',
  '/v3/overview?window=7d',
]

/** The past of the hostile account. */
async function prepare(data) {
  const app = await createApp(loadConfig({ TRUNKLINE_DATA: data, LOG_LEVEL: 'error' }), {
    seed: true,
    worker: false,
  })
  const { db } = app.ctx
  const lines = await db.all(
    "select id, number, account_id from lines where network = 'live' order by number",
  )
  const { id: subject, number, account_id: accountId } = lines[0]
  const event = (i) => ({
    accountId,
    type: 'line.status.changed',
    subject,
    at: Date.now(),
    data: { number, status: 'online', statusChangedAt: Date.now(), detail: `${i}` },
  })
  const batch = (from, make) => Array.from({ length: AT_ONCE }, (_, i) => make(from + i))
  for (let from = 0; from < EVENTS; from += AT_ONCE)
    await db.write((sql) => appendEvents(sql, batch(from, event)))
  for (let from = 0; from < MESSAGES; from += AT_ONCE) {
    const rows = batch(from, (i) => row(i, MESSAGES, accountId, lines))
    await db.write((sql) => Promise.all([insertMessages(sql, rows), countMessages(sql, rows)]))
  }
  await app.stop()
}

/** The neighbour of test/support, with an account and a line of its own. */
async function startNeighbour(url, { headers, line }) {
  const setup = { url, headers, line, to: '+12025553001', everyMs: 10, sendEvery: 5, graceMs: 60_000 }
  const child = spawn(process.execPath, ['test/support/load/bystander-process.js', JSON.stringify(setup)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => JSON.parse((await answers.next()).value)
  await answer()
  return {
    async beside(work) {
      child.stdin.write('begin\n')
      await work()
      child.stdin.write('end\n')
      return answer()
    },
    stop: () => child.kill(),
  }
}

/** Reads the stream from its start until every event has come. */
function catchUp(url) {
  return new Promise((resolve, reject) => {
    let seen = 0
    let rest = ''
    const stream = `${url}/api/v2/events?types=line.status.changed&since=0`
    const reading = get(stream, { headers: LIVE }, (answer) => {
      answer.on('end', () => reject(new Error(`the stream ended after ${seen} events`)))
      answer.setEncoding('latin1').on('data', (piece) => {
        const frames = (rest + piece).split('\n\n')
        rest = frames.pop()
        seen += frames.filter((frame) => frame.includes('"detail"')).length
        if (seen < EVENTS) return
        reading.destroy()
        resolve()
      })
    }).on('error', reject)
  })
}

/** Enough looks for a p99. */
async function forAWhile(attack) {
  for (const end = performance.now() + 3000; performance.now() < end; ) await attack()
}

export async function livez(runs, say) {
  const data = mkdtempSync(join(tmpdir(), 'trunkline-bench-livez-'))
  await prepare(data)
  const server = await startTrunkline({ data, line: { pace: 0, config: { latency_ms: 0 } } })
  const url = `http://127.0.0.1:${server.port}`
  const quiet = await addAccount(server, 'quiet', '+12025550160')
  const neighbour = await startNeighbour(url, quiet)
  try {
    const ask = async (path, body) => {
      const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      const reply = await fetch(url + path, { headers: LIVE, ...init })
      await reply.arrayBuffer()
      return reply.status
    }
    const times = (count, make) => Promise.all(Array.from({ length: count }, (_, i) => make(i)))
    const send = (fields) =>
      ask('/api/send-message', { from_number: '+12025550100', number: PHONE, content: 'Hello', ...fields })
    const { data: accounts } = await server.request('/admin/accounts', { headers: ADMIN })
    const hostile = accounts.find(({ email }) => email !== 'quiet@example.com')
    const budgets = { requests: 1_000_000, queued: 1_000_000, memory: 1_000_000_000, lists: 100_000 }
    await server.request(`/admin/accounts/${hostile.id}`, {
      method: 'PATCH',
      headers: ADMIN,
      body: JSON.stringify({ budgets }),
    })
    const crafted = [`https://a${'.'.repeat(18_900)}x`, '12 34 '.repeat(3000), 'code 1234 '.repeat(1800)]
    await times(60, (i) => send({ content: crafted[i % 3] }))
    const inbox = (query) => ask(`/sim/phones/${encodeURIComponent(PHONE)}/inbox?limit=1&${query}`)
    let bulks = 0
    const contacts = () => {
      const area = 300 + (bulks++ % 100)
      return Array.from({ length: 10_000 }, (_, i) => ({
        phone: `+1${area}${2_000_000 + i}`,
        first_name: 'A',
      }))
    }
    const attacks = (run) => ({
      quiet: () => new Promise((resolve) => setTimeout(resolve, 1000)),
      stream: () => times(2, () => catchUp(url)),
      lists: () => times(60, (i) => ask(LISTS[i % LISTS.length])),
      patterns: () =>
        times(12, (i) => inbox(`extract=${i % 2 ? 'link' : 'otp'}&match=${i % 3 ? '.' : '(a|.)*(.|b)*x'}`)),
      bulk: () => ask('/api/v2/contacts/bulk', { contacts: contacts() }),
      flood: () => times(100, (i) => send({ number: `+1202556${1000 + i}` })),
      ...(run === runs ? { reset: () => ask('/sim/reset', {}) } : {}),
    })
    const p99s = {}
    for (let run = 1; run <= runs; run++)
      for (const [name, attack] of Object.entries(attacks(run))) {
        const { livez: looks, refused } = await neighbour.beside(() =>
          name === 'reset' ? attack() : forAWhile(attack),
        )
        if (refused.length > 0) throw new Error(`${name}: ${refused[0]}`)
        p99s[name] = [...(p99s[name] ?? []), percentile(looks, 99)]
      }
    for (const [name, values] of Object.entries(p99s))
      say(
        `livez_p99_ms ${name}: ${round(median(values), 1)} ms (${values.map((ms) => round(ms, 1)).join(', ')})`,
      )
    const { quiet: _, ...attacked } = p99s
    const worst = Math.max(...Object.values(attacked).map(median))
    if (worst >= LIMIT_MS) say(`livez: MISSED, p99 should be under ${LIMIT_MS} ms`)
    return { livez_p99_ms: round(worst, 1) }
  } finally {
    neighbour.stop()
    await server.stop()
  }
}
