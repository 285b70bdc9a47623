// Webhooks: deliveries a second against a bare client that posts the same bodies, and a healthy receiver beside a dead one.
import { spawn } from 'node:child_process'
import http from 'node:http'
import { createInterface } from 'node:readline'
import { LIVE, startTrunkline } from './servers.js'
import { median, percentile, round } from './stats.js'

const CONTACTS = 10_000
const CONNECTIONS = 32
const TEXTS = 300
const TEXT_EVERY_MS = 20
const PHONE = '+12025550101'
const LINE = '+12025550100'

/** A receiver that does as little as possible. `onPost` gets each body as text. */
export async function startReceiver(onPost) {
  const server = http.createServer((request, reply) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      onPost(Buffer.concat(chunks), request.headers)
      reply.writeHead(200, { 'content-length': 2 }).end('ok')
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Gathers posts until there are `n`, and tells how many came a second between the first and the last. */
function createCounter() {
  let bodies = []
  let firstAt = 0
  let done = () => {}
  let wanted = 0
  return {
    take(body) {
      if (bodies.length === 0) firstAt = performance.now()
      bodies.push(body)
      if (bodies.length === wanted) done((bodies.length - 1) / ((performance.now() - firstAt) / 1000))
    },
    expect(n) {
      bodies = []
      wanted = n
      return new Promise((resolve) => {
        done = resolve
      })
    },
    bodies: () => bodies,
  }
}

let nextPerson = 0

async function makeContacts(server, n) {
  const contacts = Array.from({ length: n }, () => {
    const i = nextPerson++
    return { phone: `+1${201 + Math.floor(i / 100_000)}${2_000_000 + (i % 100_000)}`, first_name: `Ada ${i}` }
  })
  const reply = await post(server, '/api/v2/contacts/bulk', { contacts })
  if (reply.status !== 200) throw new Error(`bulk answered ${reply.status}`)
  return contacts.at(-1).phone
}

function post(server, path, body, method = 'POST') {
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: LIVE,
    body: JSON.stringify(body),
  })
}

async function configure(server, webhooks) {
  const reply = await post(server, '/api/account/webhooks', { webhooks }, 'PUT')
  if (reply.status !== 200) throw new Error(`webhooks answered ${reply.status}: ${await reply.text()}`)
}

/** Posts the bodies from a process of its own with nothing but undici. */
async function bare(url, bodies, counter) {
  const child = spawn(process.execPath, ['bench/bare-poster.js', url, String(CONNECTIONS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  await new Promise((resolve) => lines.once('line', resolve))
  const rate = counter.expect(bodies.length)
  child.stdin.end(`${bodies.map((body) => body.toString('utf8')).join('\n')}\n`)
  const answer = await rate
  child.kill()
  return answer
}

/** Until the event of the contact made last waits for its receiver. */
async function queued(server, phone) {
  const { contact } = await server.request(`/api/v2/contacts/${phone}`)
  for (;;) {
    const { data } = await server.request(`/v3/webhook-deliveries?message_handle=${contact.contact_id}`)
    if (data.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export async function webhookRate(runs, say) {
  const counter = createCounter()
  const receiver = await startReceiver((body) => counter.take(body))
  const server = await startTrunkline()
  try {
    await configure(server, { contact_created: [{ url: receiver.url, secret: 'a-secret-of-some-length' }] })
    const deliver = async () => {
      const rate = counter.expect(CONTACTS)
      await makeContacts(server, CONTACTS)
      return rate
    }
    await deliver()
    const ratios = []
    for (let run = 1; run <= runs; run++) {
      const ours = await deliver()
      const yardstick = await bare(receiver.url, counter.bodies(), counter)
      ratios.push(ours / yardstick)
      say(
        `webhook_rate run ${run}: ${Math.round(ours)}/s of ${Math.round(yardstick)}/s bare = ${round(ratios.at(-1))}`,
      )
    }
    return { webhook_rate: round(median(ratios)) }
  } finally {
    await server.stop()
    await receiver.stop()
  }
}

/** p99 of the time from a text on a phone to its webhook, with 10,000 events waiting for a dead receiver ÷ without. */
export async function deadNeighbour(runs, say) {
  const arrived = new Map()
  const receiver = await startReceiver((body) => arrived.set(JSON.parse(body).content, performance.now()))
  // Nobody listens there any more.
  const dead = await startReceiver(() => {})
  await dead.stop()
  const server = await startTrunkline()
  try {
    let n = 0
    const measure = async () => {
      const sent = new Map()
      for (let i = 0; i < TEXTS; i++) {
        const content = `text ${n++}`
        sent.set(content, performance.now())
        await post(server, `/sim/phones/${PHONE}/messages`, { to: LINE, content })
        await new Promise((resolve) => setTimeout(resolve, TEXT_EVERY_MS))
      }
      while ([...sent.keys()].some((content) => !arrived.has(content)))
        await new Promise((resolve) => setTimeout(resolve, 10))
      return percentile(
        [...sent].map(([content, at]) => arrived.get(content) - at),
        99,
      )
    }
    const ratios = []
    await configure(server, { receive: [receiver.url] })
    await measure()
    for (let run = 1; run <= runs; run++) {
      await configure(server, { receive: [receiver.url] })
      const alone = await measure()
      await configure(server, { receive: [receiver.url], contact_created: [dead.url] })
      await queued(server, await makeContacts(server, CONTACTS))
      const beside = await measure()
      ratios.push(beside / alone)
      say(
        `dead_neighbour_p99 run ${run}: ${round(beside, 1)} ms beside a dead receiver, ${round(alone, 1)} ms without = ${round(ratios.at(-1), 2)}`,
      )
    }
    return { dead_neighbour_p99: round(median(ratios), 2) }
  } finally {
    await server.stop()
    await receiver.stop()
  }
}
