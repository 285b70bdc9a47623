// Closed-loop HTTP load over raw sockets: as little work as possible on this side, so that the server is measured.
import net from 'node:net'

/**
 * @param {{port: number, seconds?: number, count?: number, connections?: number, body?: (i: number) => string, request?: (i: number) => string}} options
 * `body` is what is sent to Trunkline; `request` is a whole request for another server.
 * Runs for a time or for a number of requests. Answers completed requests, failures and the time taken.
 */
export async function load({
  port,
  seconds = Number.POSITIVE_INFINITY,
  count = Number.POSITIVE_INFINITY,
  connections = 64,
  body,
  request = (i) => {
    const text = body(i)
    return `POST /api/send-message HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nsb-api-key-id: dev-live-key\r\nsb-api-secret-key: dev-live-secret\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  },
}) {
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1000
  let sent = 0
  let done = 0
  let failed = 0
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1')
      socket.setNoDelay(true)
      let answer = ''
      const next = () => {
        if (sent >= count || performance.now() >= deadline) {
          socket.end()
          return resolve(undefined)
        }
        socket.write(request(sent++))
      }
      socket.on('connect', next)
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1')
        const head = answer.indexOf('\r\n\r\n')
        if (head < 0) return
        const length = Number(/content-length: (\d+)/i.exec(answer)?.[1])
        if (answer.length < head + 4 + length) return
        if (!answer.startsWith('HTTP/1.1 20')) failed++
        answer = ''
        done++
        next()
      })
    })
  await Promise.all(Array.from({ length: connections }, one))
  const elapsed = (performance.now() - startedAt) / 1000
  return { done, failed, elapsed, rate: done / elapsed }
}

/** Texts of usual length to ten thousand people. */
export function message(i) {
  const number = `+1202${String(2_000_000 + ((i * 7919) % 10_000) * 131).padStart(7, '0')}`
  return JSON.stringify({
    number,
    from_number: '+12025550100',
    content: `Hello, this is message ${i} of usual length.`,
  })
}
