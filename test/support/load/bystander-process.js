// Started by bystander.ts: an account that does its modest work beside an attack and notes how long each thing takes.
// Its first argument says where; each line of its standard input begins or ends a measurement.
import { Agent, createServer, request } from 'node:http'
import { createInterface } from 'node:readline'

const { url, headers, line, to, everyMs, sendEvery, graceMs } = JSON.parse(process.argv[2])
const agent = new Agent({ keepAlive: true })
/** Unanswered requests at once: a server that stands still is not buried in them. */
const MAX_OPEN = 200

let figures
/** When sends were made that no webhook has told of yet, by their text. */
let untold = new Map()
let open = 0
let number = 0

const sink = createServer((post, reply) => {
  let text = ''
  post.setEncoding('utf8').on('data', (piece) => (text += piece))
  post.on('end', () => {
    reply.end()
    const { content } = JSON.parse(text)
    if (!untold.has(content)) return
    figures?.webhooks.push(performance.now() - untold.get(content))
    untold.delete(content)
  })
})
await new Promise((resolve) => sink.listen(0, '127.0.0.1', resolve))

function ask(method, path, body) {
  const began = performance.now()
  open++
  return new Promise((resolve) => {
    const asked = request(url + path, { method, agent, headers: { ...headers, ...(body ? JSON_TYPE : {}) } })
    const end = (status, text) => {
      open--
      resolve({ status, text, ms: performance.now() - began })
    }
    asked.on('error', (error) => end(0, error.message))
    asked.on('response', (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece) => (text += piece))
      answer.on('end', () => end(answer.statusCode, text))
    })
    asked.end(body && JSON.stringify(body))
  })
}
const JSON_TYPE = { 'content-type': 'application/json' }

async function look() {
  const mine = figures
  const { status, ms } = await ask('GET', '/livez')
  if (status === 200) mine.livez.push(ms)
  else mine.refused.push(`GET /livez: ${status}`)
}

async function send() {
  const mine = figures
  const content = `bystander ${process.pid} ${++number}`
  const began = performance.now()
  untold.set(content, began)
  const { status, text, ms } = await ask('POST', '/api/send-message', {
    from_number: line,
    number: to,
    content,
  })
  if (status === 202) return mine.sends.push(ms)
  untold.delete(content)
  mine.refused.push(`POST /api/send-message: ${status} ${text.slice(0, 200)}`)
}

/** By the clock, not by the answers: a late answer must not make the next question later. */
let ticks = 0
setInterval(() => {
  if (!figures || figures.isOver || open >= MAX_OPEN) return
  look()
  if (ticks++ % sendEvery === 0) send()
}, everyMs)

async function until(isDone, ms) {
  for (const end = performance.now() + ms; !isDone() && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 10))
}

const set = await ask('PUT', '/api/account/webhooks', {
  webhooks: { outbound: [`http://127.0.0.1:${sink.address().port}/`] },
})
if (set.status !== 200) throw new Error(`PUT /api/account/webhooks: ${set.status} ${set.text}`)
console.log(JSON.stringify({ ready: true }))

for await (const command of createInterface({ input: process.stdin })) {
  if (command === 'begin') {
    untold = new Map()
    figures = { livez: [], sends: [], webhooks: [], refused: [], isOver: false }
  } else {
    const { sends, webhooks } = figures
    Object.assign(figures, { isOver: true, sentInTime: sends.length, toldInTime: webhooks.length })
    await until(() => open === 0 && untold.size === 0, graceMs)
    for (const times of [figures.livez, figures.sends, figures.webhooks]) times.sort((a, b) => a - b)
    console.log(JSON.stringify({ ...figures, untold: untold.size, unanswered: open }))
  }
}
process.exit(0)
