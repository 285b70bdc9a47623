// Phones that dial in. A thousand event streams: the time from the request of a send to the event that its phone gets,
// p99. Ten thousand: the processor time of the server while nothing happens.
import net from 'node:net'
import { cpuOf } from './processor.js'
import { ADMIN, LIVE, startTrunkline } from './servers.js'
import { round } from './stats.js'

const FANOUT_PHONES = 1000
const IDLE_PHONES = Number(process.env.BENCH_PHONES ?? 10_000)
const SENDS = 1000
const SENDS_PER_SECOND = 50
const LIMIT_MS = 100
const AT_ONCE = 20
const IDLE_MS = 120_000
/** As for idle lines: until then V8 collects what setting up has left. */
const SETTLE_MS = 150_000
const NUMBER = 2_000_000

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** A server with lines, each with a phone whose event stream is open. */
async function startPhones(count, onEvent) {
  const server = await startTrunkline({ publicUrl: 'https://trunkline.example' })
  const ask = async (method, path, body, headers = ADMIN) => {
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    })
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return reply.status === 204 ? undefined : reply.json()
  }
  const { 'content-type': _, ...bare } = ADMIN
  const account = (await ask('GET', '/admin/accounts', undefined, bare)).data[0].id
  const sockets = []

  async function add(i) {
    const line = { account_id: account, number: `+1303${NUMBER + i}`, driver: 'phone', pace: 0 }
    const { id } = await ask('POST', '/admin/lines', line)
    const { code } = await ask('POST', '/admin/phones', { lines: [{ line_id: id }] })
    const device = { name: 'bench', pushToken: null, simCards: [] }
    const json = { 'content-type': 'application/json' }
    const { token } = await ask('POST', '/mobile/v1/device', device, {
      ...json,
      authorization: `Code ${code}`,
    })
    const authorization = `Bearer ${token}`
    const pull = async () => {
      const texts = await ask('GET', '/mobile/v1/message', undefined, { authorization })
      const reports = texts.map(({ id }) => ({ id, state: 'Sent', recipients: [] }))
      if (texts.length > 0) await ask('PATCH', '/mobile/v1/message', reports, { ...json, authorization })
    }
    await new Promise((resolve) => {
      const socket = net.connect(server.port, '127.0.0.1')
      sockets.push(socket)
      socket.write(`GET /mobile/v1/events HTTP/1.1\r\nhost: bench\r\nauthorization: ${authorization}\r\n\r\n`)
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        resolve()
        if (!chunk.includes('MessageEnqueued')) return
        onEvent(i)
        void pull().catch(() => {})
      })
    })
    // A line that is not driven yet rings its phone when it is.
    await pull().catch(() => {})
  }

  for (let i = 0; i < count; i += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, j) => add(i + j)))
  return {
    server,
    ask,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await server.stop()
    },
  }
}

export async function mobileFanout(_runs, say) {
  const sentAt = new Map()
  const took = []
  const phones = await startPhones(FANOUT_PHONES, (i) => {
    if (!sentAt.has(i)) return
    took.push(performance.now() - sentAt.get(i))
    sentAt.delete(i)
  })
  try {
    await pause(3000)
    const startedAt = performance.now()
    for (let n = 0; n < SENDS; n++) {
      const wait = startedAt + (n * 1000) / SENDS_PER_SECOND - performance.now()
      if (wait > 0) await pause(wait)
      const i = n % FANOUT_PHONES
      sentAt.set(i, performance.now())
      const body = { from_number: `+1303${NUMBER + i}`, number: '+12025552000', content: `Hello ${n}` }
      void phones.ask('POST', '/api/send-message', body, LIVE)
    }
    for (let i = 0; i < 50 && took.length < SENDS; i++) await pause(100)
    if (took.length < SENDS) throw new Error(`${took.length} of ${SENDS} sends had an event`)
    took.sort((a, b) => a - b)
    const [p50, p99] = [0.5, 0.99].map((share) => took[Math.floor(share * (took.length - 1))])
    say(
      `mobile_fanout_ms: ${FANOUT_PHONES} phones, ${SENDS_PER_SECOND} sends/s: p50 ${round(p50, 1)} ms, p99 ${round(p99, 1)} ms, longest ${round(took.at(-1), 1)} ms`,
    )
    if (p99 >= LIMIT_MS) say(`mobile_fanout_ms: MISSED, should be under ${LIMIT_MS} ms`)
    return { mobile_fanout_ms: round(p99, 1) }
  } finally {
    await phones.stop()
  }
}

export async function mobileIdle(_runs, say) {
  const phones = await startPhones(IDLE_PHONES, () => {})
  try {
    await pause(SETTLE_MS)
    const before = cpuOf([phones.server.pid])
    await pause(IDLE_MS)
    const share = (cpuOf([phones.server.pid]) - before) / (IDLE_MS / 1000)
    say(
      `mobile_idle_core: ${IDLE_PHONES} phones use ${round(share * 100, 2)} % of a core, ${round(phones.server.rssMb(), 0)} MB`,
    )
    return { mobile_idle_core: round(share, 4) }
  } finally {
    await phones.stop()
  }
}
