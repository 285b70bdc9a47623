// Many readers of the event stream over raw sockets, in a process of their own. As little work as possible: of each
// event only its time is read. Says 'open' when all are open, and on 'report' how long events took to arrive.
import net from 'node:net'

const [port, streams] = process.argv.slice(2).map(Number)
const MARK = Buffer.from('"occurred_at":"')
const TIME_LENGTH = 24
/** How many events took so many milliseconds. */
const histogram = new Float64Array(60_000)
const counts = new Float64Array(streams)
const times = new Map()
let open = 0
let closed = 0

function timeOf(text) {
  let time = times.get(text)
  if (time === undefined) {
    if (times.size > 10_000) times.clear()
    time = Date.parse(text)
    times.set(text, time)
  }
  return time
}

function connect(i) {
  const socket = net.connect(port, '127.0.0.1')
  let isOpen = false
  let rest = Buffer.alloc(0)
  socket.on('connect', () =>
    socket.write(
      'GET /api/v2/events HTTP/1.1\r\nhost: bench\r\nsb-api-key-id: dev-live-key\r\nsb-api-secret-key: dev-live-secret\r\n\r\n',
    ),
  )
  socket.on('data', (chunk) => {
    const now = Date.now()
    if (!isOpen) {
      if (!chunk.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(chunk.toString('latin1'))
      isOpen = true
      if (++open === streams) process.send('open')
    }
    // A mark may be cut in two.
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let at = data.indexOf(MARK)
    let end = 0
    while (at >= 0 && at + MARK.length + TIME_LENGTH <= data.length) {
      end = at + MARK.length + TIME_LENGTH
      const took = now - timeOf(data.latin1Slice(at + MARK.length, end))
      histogram[Math.min(Math.max(0, took), histogram.length - 1)]++
      counts[i]++
      at = data.indexOf(MARK, end)
    }
    rest = Buffer.from(data.subarray(Math.max(end, at >= 0 ? at : data.length - MARK.length)))
  })
  socket.on('error', () => {})
  socket.on('close', () => closed++)
}

// Not all in one moment: the queue of connections that wait is short.
for (let i = 0; i < streams; i++) setTimeout(connect, Math.floor(i / 20) * 10, i)

process.on('message', () => {
  const total = counts.reduce((sum, n) => sum + n, 0)
  const percentile = (p) => {
    let below = 0
    return histogram.findIndex((n) => {
      below += n
      return below >= (p / 100) * total
    })
  }
  process.send({
    total,
    fewest: Math.min(...counts),
    most: Math.max(...counts),
    closed,
    p50: percentile(50),
    p99: percentile(99),
    max: histogram.findLastIndex((n) => n > 0),
  })
})
