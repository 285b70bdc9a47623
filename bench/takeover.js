// Two processes on one PostgreSQL with the default lease: how long the other one needs to take over all lines and
// webhook shards, and until a text sent at that moment is delivered and its receiver knows.
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from './postgres.js'
import { LIVE, startTrunkline } from './servers.js'
import { median, round } from './stats.js'

const FAULTS = { stop: 'SIGTERM', kill: 'SIGKILL', pause: 'SIGSTOP' }
const LINE = '+12025550100'
const LOOK_MS = 10
const LIMIT_MS = 60_000

async function until(what, isReached) {
  const startedAt = performance.now()
  while (!(await isReached())) {
    if (performance.now() - startedAt > LIMIT_MS) throw new Error(`${what} took more than ${LIMIT_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return performance.now() - startedAt
}

/** A receiver that remembers which messages were delivered. */
async function startReceiver() {
  const delivered = new Set()
  const server = http.createServer((request, reply) => {
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      const { status, message_handle } = JSON.parse(text)
      if (status === 'DELIVERED') delivered.add(message_handle)
      reply.end()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { delivered, server, url: `http://127.0.0.1:${server.address().port}/` }
}

export async function takeover(runs, say) {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-takeover-'))
  const database = await startPostgres(home)
  const receiver = await startReceiver()
  const db = new pg.Client(database.url)
  await db.connect()
  const startOne = () => startTrunkline({ databaseUrl: database.url })
  let nodes = [await startOne(), await startOne()]
  const post = (node, method, path, body) =>
    node.request(path, { method, headers: LIVE, body: JSON.stringify(body) })

  /** Leases of lines and shards of a process. */
  const leasesOf = async ({ pid }) => {
    const { rows } = await db.query(
      `select (select count(*)::int from line_leases where node_id like $1 and expires_at > 0) as lines,
              (select count(*)::int from webhook_shards where node_id like $1 and expires_at > 0) as shards`,
      [`${pid}-%`],
    )
    return rows[0]
  }
  const hasAll = async (node) => {
    const { lines, shards } = await leasesOf(node)
    return lines === 4 && shards === 8
  }
  const isBalanced = async () => {
    const all = await Promise.all(nodes.map(leasesOf))
    return all.every(({ lines, shards }) => lines === 2 && shards === 4)
  }
  const drivesLine = async ({ pid }) => {
    const text = `select x.node_id from line_leases x join lines l on l.id = x.line_id
                  join accounts a on a.id = l.account_id where l.number = $1 and a.world = 'live'`
    return (await db.query(text, [LINE])).rows[0].node_id.startsWith(`${pid}-`)
  }

  const times = { stop: [], kill: [], pause: [], join: [] }
  const messages = { stop: [], kill: [], pause: [] }
  try {
    await post(nodes[0], 'PUT', '/api/account/webhooks', { webhooks: { outbound: [receiver.url] } })
    await until('The first balance', isBalanced)
    for (let run = 1; run <= runs; run++) {
      for (const [fault, signal] of Object.entries(FAULTS)) {
        const [victim, other] = (await drivesLine(nodes[0])) ? nodes : [...nodes].reverse()
        process.kill(victim.pid, signal)
        const taking = until('The takeover', () => hasAll(other))
        const startedAt = performance.now()
        const text = { from_number: LINE, number: '+12025550101', content: `${fault} ${run}` }
        const { message_handle } = await post(other, 'POST', '/api/send-message', text)
        await until('The delivery', () => receiver.delivered.has(message_handle))
        messages[fault].push(performance.now() - startedAt)
        times[fault].push(await taking)
        if (fault === 'pause') process.kill(victim.pid, 'SIGCONT')
        else nodes = [other, await startOne()]
        times.join.push(await until('The balance', isBalanced))
        say(
          `takeover run ${run}: after ${fault} ${round(times[fault].at(-1), 0)} ms, a text and its webhook ${round(messages[fault].at(-1), 0)} ms; balanced ${round(times.join.at(-1), 0)} ms after the process was back`,
        )
      }
    }
  } finally {
    await db.end()
    await Promise.all(nodes.map((node) => node.stop()))
    receiver.server.close()
    await database.stop()
    rmSync(home, { recursive: true, force: true })
  }
  const figures = {}
  for (const [name, values] of Object.entries(times)) {
    figures[`takeover_${name}_ms`] = round(median(values), 0)
    figures[`takeover_${name}_worst_ms`] = round(Math.max(...values), 0)
  }
  for (const [name, values] of Object.entries(messages))
    figures[`takeover_${name}_text_ms`] = round(median(values), 0)
  return figures
}
