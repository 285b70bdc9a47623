// Real texts through SMPP: from the HTTP request to the carrier's acceptance, against kannel doing the same.
import { spawn } from 'node:child_process'
import http from 'node:http'
import { createInterface } from 'node:readline'
import { cpuMsOf, hasKannel, RECORDED, startKannel } from './kannel.js'
import { load } from './load.js'
import { startTrunkline } from './servers.js'
import { median, round } from './stats.js'

const MESSAGES = 20_000
const WARM_UP = 3000
const CONNECTIONS = 32
const THROTTLED = { messages: 3000, perSecond: 500 }
const LINE = '+12025559900'
const TEXT =
  'Hello, this is a message of usual length for a single part, which is one hundred and three signs long..'

/** One of ten thousand people. */
const person = (i) => `1202${String(2_000_000 + ((i * 7919) % 10_000) * 131)}`

async function startSmsc() {
  const child = spawn(process.execPath, ['bench/smsc.js'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value)
  const { port } = await next()
  const ask = async (order) => {
    child.stdin.write(`${JSON.stringify({ order })}\n`)
    return next()
  }
  return {
    port,
    order: (order) => ask(order),
    /** Waits until that many were taken. */
    async took(count, limitMs = 120_000) {
      const startedAt = Date.now()
      for (;;) {
        const state = await ask()
        if (state.taken >= count || Date.now() - startedAt > limitMs) return state
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    stop() {
      child.kill()
    },
  }
}

/** A Trunkline with a line at this carrier. */
async function startOurs(smsc, { callback } = {}) {
  const trunkline = await startTrunkline({
    add: {
      number: LINE,
      driver: 'smpp',
      pace: 0,
      config: { host: '127.0.0.1', port: smsc.port, system_id: 'bench', password: 'secret', window: 100 },
    },
  })
  const body = (i) =>
    JSON.stringify({
      number: `+${person(i)}`,
      from_number: LINE,
      content: TEXT,
      ...(callback ? { status_callback: callback } : {}),
    })
  return {
    send: (count, connections = CONNECTIONS) => load({ port: trunkline.port, count, connections, body }),
    cpuMs: () => cpuMsOf(trunkline.pid),
    stop: trunkline.stop,
  }
}

async function startTheirs(smsc, { spool, callback } = {}) {
  const kannel = await startKannel({ smscPort: smsc.port, spool })
  const request = (i) => `GET ${kannel.path(i, person(i), TEXT, callback)} HTTP/1.1\r\nhost: bench\r\n\r\n`
  return {
    send: (count, connections = CONNECTIONS) => load({ port: kannel.port, count, connections, request }),
    cpuMs: kannel.cpuMs,
    stop: kannel.stop,
  }
}

/** Messages a second from the first request to the last acceptance, and the server's processor time for each. */
async function accepted(smsc, server) {
  await smsc.order({ receipts: false, perSecond: 0 })
  await server.send(WARM_UP)
  await smsc.took(WARM_UP)
  await smsc.order({})
  const cpu = server.cpuMs()
  const startedAt = performance.now()
  const { failed } = await server.send(MESSAGES)
  const { taken } = await smsc.took(MESSAGES)
  const rate = MESSAGES / ((performance.now() - startedAt) / 1000)
  if (failed > 0 || taken !== MESSAGES) throw new Error(`${failed} refused, ${taken} of ${MESSAGES} arrived`)
  return { rate, cpuUs: ((server.cpuMs() - cpu) * 1000) / MESSAGES }
}

const words = ({ rate, cpuUs }) =>
  `${Math.round(rate)}/s${cpuUs === undefined ? ' (recorded, not measured here)' : ` at ${Math.round(cpuUs)} µs of the processor`}`

async function using(start, work) {
  const server = await start()
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

export async function smppAccept(runs, say) {
  const withKannel = hasKannel()
  const figures = { plain: [], spool: [] }
  const smsc = await startSmsc()
  try {
    for (let run = 1; run <= runs; run++) {
      const theirs = {}
      for (const kind of ['plain', 'spool'])
        theirs[kind] = withKannel
          ? await using(
              () => startTheirs(smsc, { spool: kind === 'spool' }),
              (server) => accepted(smsc, server),
            )
          : { rate: RECORDED[kind] }
      const ours = await using(
        () => startOurs(smsc),
        (server) => accepted(smsc, server),
      )
      for (const kind of ['plain', 'spool']) figures[kind].push(ours.rate / theirs[kind].rate)
      say(
        `smpp_accept run ${run}: ${words(ours)}; kannel ${words(theirs.plain)}, with its spool ${words(theirs.spool)} = ${round(figures.plain.at(-1))} and ${round(figures.spool.at(-1))}`,
      )
    }
  } finally {
    smsc.stop()
  }
  return {
    smpp_accept_vs_kannel: round(median(figures.plain)),
    smpp_accept_vs_kannel_spool: round(median(figures.spool)),
  }
}

/** Counts what it is told of messages that have arrived, by whatever name they have. */
async function startReceiver() {
  let arrived = 0
  const server = http.createServer((request, reply) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method === 'GET' || Buffer.concat(chunks).includes('"status":"DELIVERED"')) arrived++
      reply.writeHead(200, { 'content-length': 2 }).end('ok')
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/dlr`,
    async heard(count) {
      while (arrived < count) await new Promise((resolve) => setTimeout(resolve, 20))
      arrived = 0
    },
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

async function reported(smsc, receiver, server) {
  await smsc.order({ receipts: true, perSecond: 0 })
  await server.send(WARM_UP)
  await receiver.heard(WARM_UP)
  const cpu = server.cpuMs()
  const startedAt = performance.now()
  await server.send(MESSAGES)
  await receiver.heard(MESSAGES)
  const rate = MESSAGES / ((performance.now() - startedAt) / 1000)
  return { rate, cpuUs: ((server.cpuMs() - cpu) * 1000) / MESSAGES }
}

export async function smppReceipts(runs, say) {
  const withKannel = hasKannel()
  const ratios = []
  const smsc = await startSmsc()
  const receiver = await startReceiver()
  const callback = receiver.url
  try {
    for (let run = 1; run <= runs; run++) {
      const theirs = withKannel
        ? await using(
            () => startTheirs(smsc, { callback }),
            (server) => reported(smsc, receiver, server),
          )
        : { rate: RECORDED.receipts }
      const ours = await using(
        () => startOurs(smsc, { callback }),
        (server) => reported(smsc, receiver, server),
      )
      ratios.push(ours.rate / theirs.rate)
      say(`smpp_receipts run ${run}: ${words(ours)}; kannel ${words(theirs)} = ${round(ratios.at(-1))}`)
    }
  } finally {
    smsc.stop()
    await receiver.stop()
  }
  return { smpp_receipts_vs_kannel: round(median(ratios)) }
}

/** A carrier that takes only so many a second: the time until all are taken ÷ the time that needs at least. */
export async function smppThrottled(runs, say) {
  const ratios = []
  const smsc = await startSmsc()
  const { messages, perSecond } = THROTTLED
  try {
    for (let run = 1; run <= runs; run++) {
      await using(
        () => startOurs(smsc),
        async (server) => {
          await smsc.order({ receipts: false, perSecond: 0 })
          await server.send(200)
          await smsc.took(200)
          await smsc.order({ perSecond })
          const startedAt = performance.now()
          await server.send(messages)
          const { taken, refused } = await smsc.took(messages)
          const seconds = (performance.now() - startedAt) / 1000
          ratios.push(taken === messages ? seconds / (messages / perSecond) : Number.POSITIVE_INFINITY)
          say(
            `smpp_throttled run ${run}: ${taken} of ${messages} taken in ${seconds.toFixed(1)} s at ${perSecond} a second, refused ${refused} times = ${round(ratios.at(-1))}`,
          )
        },
      )
    }
  } finally {
    smsc.stop()
  }
  return { smpp_throttled_ideal: round(median(ratios)) }
}
