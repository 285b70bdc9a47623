// A quiet account beside a hostile one: from a send to its webhook, with and without the attack, in turns.
import net from 'node:net'
import { stolen } from './processor.js'
import { ADMIN, startTrunkline } from './servers.js'
import { median, percentile, round } from './stats.js'
import { startReceiver } from './webhooks.js'

const SENDS = 200
const SEND_EVERY_MS = 25
/** More than the server has slots for posts, each to an origin that takes the connection and never answers. */
const SILENT = 300
/** Callbacks to further silent origins during the measurement. */
const SILENT_EVERY_MS = 100
/** Messages that are due at once, in the middle of the measurement. */
const DUE = 2000
/** Time for accepting these. */
const PREPARE_MS = 20_000
/** Seconds that the host may take from this machine during one measurement of five. A run with more does not count. */
const MOST_STOLEN = 0.1
/** Runs that do not count, for each that does. */
const SPOILED = 3

/** Takes connections on every loopback address and never answers. */
async function startSilence() {
  const sockets = new Set()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  await new Promise((resolve) => server.listen(0, '0.0.0.0', resolve))
  let n = 0
  return {
    nextUrl: () => `http://127.${1 + (n >> 16)}.${(n >> 8) & 255}.${n++ & 255}:${server.address().port}/`,
    stop() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An account with a key and an unpaced line. */
export async function addAccount(server, name, number) {
  const make = (path, body) =>
    server.request(path, { method: 'POST', headers: ADMIN, body: JSON.stringify(body) })
  const { id } = await make('/admin/accounts', { email: `${name}@example.com` })
  const key = await make('/admin/keys', { account_id: id })
  const line = await make('/admin/lines', { account_id: id, number, pace: 0 })
  for (let state; state !== 'ONLINE'; )
    state = (await server.request(`/admin/lines/${line.id}`, { headers: ADMIN })).state
  const headers = {
    'sb-api-key-id': key.id,
    'sb-api-secret-key': key.secret,
    'content-type': 'application/json',
  }
  return {
    headers,
    line: number,
    call: (path, body, method = 'POST') =>
      server.request(path, { method, headers, body: JSON.stringify(body) }),
    async send(fields) {
      const body = JSON.stringify({ from_number: number, ...fields })
      const reply = await server.request('/api/send-message', { method: 'POST', headers, body })
      if (reply.status !== 'QUEUED') throw new Error(JSON.stringify(reply))
    },
  }
}

let nextPerson = 0
const person = () => `+1${202 + Math.floor(nextPerson / 1_000_000)}${3_000_000 + (nextPerson++ % 1_000_000)}`

export async function neighbour(runs, say) {
  const arrived = new Map()
  const receiver = await startReceiver((body) => {
    const { content } = JSON.parse(body)
    if (!arrived.has(content)) arrived.set(content, performance.now())
  })
  const silence = await startSilence()
  const server = await startTrunkline()
  try {
    const quiet = await addAccount(server, 'quiet', '+12025550160')
    const hostile = await addAccount(server, 'hostile', '+12025550161')
    await quiet.call('/api/account/webhooks', { webhooks: { outbound: [receiver.url] } }, 'PUT')
    let n = 0
    const measure = async () => {
      const sent = new Map()
      const before = stolen()
      for (let i = 0; i < SENDS; i++) {
        const content = `send ${n++}`
        sent.set(content, performance.now())
        void quiet.send({ number: person(), content })
        await new Promise((resolve) => setTimeout(resolve, SEND_EVERY_MS))
      }
      while ([...sent.keys()].some((content) => !arrived.has(content)))
        await new Promise((resolve) => setTimeout(resolve, 10))
      const times = [...sent].map(([content, at]) => arrived.get(content) - at)
      return {
        p99: percentile(times, 99),
        p50: percentile(times, 50),
        isCalm: stolen() - before < MOST_STOLEN,
      }
    }
    const attack = (fields) => hostile.send({ number: person(), content: 'attack', ...fields })
    const silent = () => attack({ status_callback: silence.nextUrl() })
    await measure()
    const ratios = []
    for (let run = 1; run <= runs * (SPOILED + 1) && ratios.length < runs; run++) {
      const alone = await measure()
      for (let i = 0; i < SILENT; i++) await silent()
      const dueAt = Date.now() + PREPARE_MS
      const sendAt = new Date(dueAt).toISOString()
      for (let i = 0; i < DUE; i += 50)
        await Promise.all(Array.from({ length: 50 }, () => attack({ send_at: sendAt })))
      const beginsIn = dueAt - (SENDS * SEND_EVERY_MS) / 2 - Date.now()
      await new Promise((resolve) => setTimeout(resolve, beginsIn))
      const going = setInterval(() => void silent(), SILENT_EVERY_MS)
      const beside = await measure()
      clearInterval(going)
      const ratio = beside.p99 / alone.p99
      const isCalm = alone.isCalm && beside.isCalm
      if (isCalm) ratios.push(ratio)
      say(
        `neighbour_p99 run ${run}: ${round(beside.p99, 1)} ms (median ${round(beside.p50, 1)}) beside a hostile account, ${round(alone.p99, 1)} ms (median ${round(alone.p50, 1)}) without = ${round(ratio, 2)}${isCalm ? '' : ', does not count: the host took processor time away'}`,
      )
    }
    if (ratios.length === 0)
      throw new Error('neighbour_p99: the machine was never calm for the length of a run')
    return { neighbour_p99: round(median(ratios), 2) }
  } finally {
    await silence.stop()
    await server.stop()
    await receiver.stop()
  }
}
