// Messages through Twilio: from the HTTP request to Twilio's acceptance, against bare undici posting the same forms.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { cpuMsOf } from './kannel.js'
import { load } from './load.js'
import { startTrunkline } from './servers.js'
import { median, round } from './stats.js'

const MESSAGES = 10_000
const WARM_UP = 1500
const CONNECTIONS = 32
const LINE = '+12025559901'
const ACCOUNT = `AC${'0'.repeat(32)}`
const TEXT = 'Hello, this is a message of usual length for a single part.'
const FORM = 'application/x-www-form-urlencoded'
const person = (i) => `+1202${String(2_000_000 + ((i * 7919) % 10_000) * 131)}`

async function startPeer() {
  const child = spawn(process.execPath, ['bench/twilio-peer.js', LINE], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value)
  const { port } = await next()
  const accepted = async () => {
    child.stdin.write('\n')
    return (await next()).accepted
  }
  return {
    url: `http://127.0.0.1:${port}`,
    accepted,
    async until(count) {
      for (let i = 0; i < 6000 && (await accepted()) < count; i++)
        await new Promise((resolve) => setTimeout(resolve, 20))
      if ((await accepted()) !== count) throw new Error(`${await accepted()} of ${count} were accepted`)
    },
    stop: () => child.kill(),
  }
}

async function ours(peer) {
  const server = await startTrunkline({
    // With an address at which Twilio could call, so that it is not asked about each message.
    publicUrl: 'https://trunkline.example',
    add: {
      number: LINE,
      driver: 'twilio',
      pace: 0,
      config: { account_sid: ACCOUNT, auth_token: 'secret', api_url: peer.url },
    },
  })
  const body = (i) => JSON.stringify({ number: person(i), from_number: LINE, content: TEXT })
  const send = (count) => load({ port: server.port, count, connections: CONNECTIONS, body })
  try {
    const before = await peer.accepted()
    await send(WARM_UP)
    await peer.until(before + WARM_UP)
    const cpu = cpuMsOf(server.pid)
    const startedAt = performance.now()
    const { failed } = await send(MESSAGES)
    if (failed > 0) throw new Error(`${failed} sends were refused`)
    await peer.until(before + WARM_UP + MESSAGES)
    const rate = MESSAGES / ((performance.now() - startedAt) / 1000)
    return { rate, cpuUs: ((cpuMsOf(server.pid) - cpu) * 1000) / MESSAGES }
  } finally {
    await server.stop()
  }
}

async function bare(peer) {
  const url = `${peer.url}/2010-04-01/Accounts/${ACCOUNT}/Messages.json`
  const child = spawn(process.execPath, ['bench/bare-poster.js', url, String(CONNECTIONS), FORM], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const before = await peer.accepted()
  const forms = Array.from({ length: MESSAGES }, (_, i) =>
    new URLSearchParams({
      To: person(i),
      From: LINE,
      Body: TEXT,
      StatusCallback: 'https://trunkline.example/callbacks/line/secret?ref=0123456789abcdef012345',
    }).toString(),
  )
  const startedAt = performance.now()
  child.stdin.end(`${forms.join('\n')}\n`)
  await peer.until(before + MESSAGES)
  return MESSAGES / ((performance.now() - startedAt) / 1000)
}

export async function twilioAccept(runs, say) {
  const figures = []
  for (let run = 1; run <= runs; run++) {
    const peer = await startPeer()
    try {
      const theirs = await bare(peer)
      const { rate, cpuUs } = await ours(peer)
      figures.push(rate / theirs)
      say(
        `twilio_accept_rate run ${run}: ${Math.round(rate)}/s at ${Math.round(cpuUs)} µs of the processor; bare undici ${Math.round(theirs)}/s = ${round(figures.at(-1))}`,
      )
    } finally {
      peer.stop()
    }
  }
  return { twilio_accept_rate: round(median(figures)) }
}
