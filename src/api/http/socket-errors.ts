import type { Socket } from 'node:net'
import type { Pulse } from './arrival.js'

/** Fastify's own type of this error is too narrow: the packet is a Buffer. */
type BrokenRequest = Error & { code?: string; rawPacket?: unknown }

/** How long a connection may be idle between two requests. */
export const IDLE_MS = 72_000
const patient = new WeakSet<Socket>()

/** Exempts a request from the request timeout until the returned function is called. Its route has its own limit. */
export function bePatientWith(socket: Socket): () => void {
  patient.add(socket)
  return () => void patient.delete(socket)
}

/** Answers requests that are too malformed to reach a route, then closes the connection. */
export function answerBrokenRequest(error: BrokenRequest, socket: Socket, pulse: Pulse): void {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  if (isLate && patient.has(socket)) return
  if (isLate && (socket.bytesRead === 0 || pulse.stoodStill())) return void reprieve(socket)
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, text, message] = describe(error)
  const body = JSON.stringify({ status: 'ERROR', message })
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nx-should-retry: false\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n${body}`,
  )
}

/**
 * A client may have opened the connection for later, and would take an answer for that of its next request. Or the
 * request is in the socket, and this process stood still while its time ran out.
 */
function reprieve(socket: Socket): void {
  const { bytesRead } = socket
  setTimeout(() => socket.bytesRead === bytesRead && socket.destroy(), IDLE_MS).unref()
}

function describe(error: BrokenRequest): [number, string, string] {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    // Only the first packet of a request shows an endless request line; a later packet may be part of a header.
    const packet = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : ''
    return /^[A-Z]+ [^\r\n]{8192}/.test(packet)
      ? [414, 'URI Too Long', 'The URL is longer than 8192 characters']
      : [431, 'Request Header Fields Too Large', 'The request line and headers are larger than 16 KiB']
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return [408, 'Request Timeout', 'The request did not arrive in time']
  return [400, 'Bad Request', 'This is not a valid HTTP request']
}
