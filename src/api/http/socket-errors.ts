import type { Socket } from 'node:net'

/** Fastify's own type of this error is too narrow: the packet is a Buffer. */
type BrokenRequest = Error & { code?: string; rawPacket?: unknown }

const patient = new WeakSet<Socket>()

/** For a request that may take longer than others, until the answer is called: its route limits it in another way. */
export function bePatientWith(socket: Socket): () => void {
  patient.add(socket)
  return () => void patient.delete(socket)
}

/** Requests that are not HTTP enough to reach a route: answered as JSON, then the connection is closed. */
export function answerBrokenRequest(error: BrokenRequest, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && patient.has(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, text, message] = describe(error)
  const body = JSON.stringify({ status: 'ERROR', message })
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nx-should-retry: false\r\nconnection: close\r\n\r\n${body}`,
  )
}

function describe(error: BrokenRequest): [number, string, string] {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    // Only a packet that begins a request tells that its first line does not end; a later one may be part of a header.
    const packet = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : ''
    return /^[A-Z]+ [^\r\n]{8192}/.test(packet)
      ? [414, 'URI Too Long', 'The URL is longer than 8192 characters']
      : [431, 'Request Header Fields Too Large', 'The request line and headers are larger than 16 KiB']
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return [408, 'Request Timeout', 'The request did not arrive in time']
  return [400, 'Bad Request', 'This is not a valid HTTP request']
}
