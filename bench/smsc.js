// A carrier that does as little as possible: takes what it is sent, counts it, and reports delivery if told to.
// node bench/smsc.js — prints {"port": …}; then reads orders as lines of JSON and answers each with a line.
import net from 'node:net'
import { createInterface } from 'node:readline'
import { createFramer } from '../dist/drivers/smpp/codec/framer.js'
import { decodePdu, encodePdu } from '../dist/drivers/smpp/codec/pdu.js'

const THROTTLED = 0x58
let order = { receipts: false, perSecond: 0 }
let taken = 0
let refused = 0
let acknowledged = 0
let firstAt = 0
let lastAt = 0
let second = 0
let inSecond = 0
let ids = 0

const server = net.createServer((socket) => {
  socket.setNoDelay(true)
  const frame = createFramer()
  let sequence = 0
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    socket.cork()
    for (const octets of frame(chunk).pdus) take(decodePdu(octets))
    process.nextTick(() => socket.uncork())
  })

  function take(pdu) {
    const answer = (command, fields = {}) =>
      socket.write(encodePdu({ command, status: 0, sequence: pdu.sequence, ...fields }))
    if (pdu.command === 'submit_sm') {
      const now = Date.now()
      if (order.perSecond > 0 && isTooMany(now)) {
        refused++
        return answer('submit_sm_resp', { status: THROTTLED })
      }
      taken++
      firstAt ||= now
      lastAt = now
      const messageId = (++ids).toString(16).padStart(8, '0')
      answer('submit_sm_resp', { messageId })
      if (order.receipts) report(messageId, pdu)
    } else if (pdu.command === 'deliver_sm_resp') acknowledged++
    else if (pdu.command?.startsWith('bind_') && !pdu.command.endsWith('_resp'))
      answer(`${pdu.command}_resp`, { systemId: 'bench' })
    else if (pdu.command === 'enquire_link') answer('enquire_link_resp')
    else if (pdu.command === 'unbind') answer('unbind_resp')
  }

  function report(messageId, { source, destination }) {
    const date = '2611150000'
    socket.write(
      encodePdu({
        command: 'deliver_sm',
        status: 0,
        sequence: ++sequence,
        source: destination,
        destination: source,
        esmClass: 0x04,
        shortMessage: Buffer.from(
          `id:${messageId} sub:001 dlvrd:001 submit date:${date} done date:${date} stat:DELIVRD err:000 text:Hello`,
        ),
      }),
    )
  }
})

/** A fixed number in each tenth of a second. */
function isTooMany(now) {
  const tenth = Math.floor(now / 100)
  if (tenth !== second) {
    second = tenth
    inSecond = 0
  }
  return ++inSecond > order.perSecond / 10
}

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () =>
  console.log(JSON.stringify({ port: server.address().port })),
)

createInterface({ input: process.stdin }).on('line', (line) => {
  const asked = JSON.parse(line)
  if (asked.order) {
    order = { ...order, ...asked.order }
    taken = refused = acknowledged = firstAt = lastAt = 0
  }
  const { user, system } = process.cpuUsage()
  console.log(
    JSON.stringify({ taken, refused, acknowledged, firstAt, lastAt, cpuMs: (user + system) / 1000 }),
  )
})
