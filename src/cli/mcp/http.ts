import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { parseUrl } from '../../base/parse-url.js'
import { originOutside } from '../../core/accounts/harmless.js'
import { isLoopback } from '../../core/url.js'
import { hashSecret } from '../../services/accounts/accounts.js'
import { withAccount } from '../client.js'
import { note, printLine } from '../output.js'
import { untilStopped } from '../webhooks/feed.js'
import { createMcpServer } from './server.js'
import type { Desk, Tool } from './tool.js'

export interface HttpOptions {
  host: string
  port: number
  /** The bearer token that clients must send; null (only on loopback addresses) accepts every client. */
  secret: string | null
  /** Host names of this server besides loopback names. */
  allowHosts: readonly string[]
  /** Origins of web pages that may call it besides those of this machine. */
  allowOrigins: readonly string[]
}

const PATH = '/mcp'
const MAX_BODY = 1024 * 1024

/** Streamable HTTP without sessions: a restart breaks no session, and none of an absent client is kept in memory. */
export async function serveHttp(desk: Desk, tools: readonly Tool[], options: HttpOptions): Promise<void> {
  const server = createServer((request, reply) => {
    respond(desk, tools, options, request, reply).catch((error) => {
      note(desk.args, `A request failed: ${error instanceof Error ? error.message : error}`)
      if (!reply.headersSent) refuse(reply, 500, 'Internal error')
      else reply.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const { address, port, family } = server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${PATH}`
  printLine(desk.args, { ready: true, url }, `MCP at ${url}`)
  await untilStopped(
    desk.args,
    (signal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  )
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function respond(
  desk: Desk,
  tools: readonly Tool[],
  options: HttpOptions,
  request: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const fault = faultOf(request, options)
  if (fault) {
    if (fault.status === 401) reply.setHeader('www-authenticate', 'Bearer')
    return refuse(reply, fault.status, fault.words)
  }
  if (request.url?.split('?')[0] !== PATH) return refuse(reply, 404, `MCP is at ${PATH}`)
  if (request.method !== 'POST') {
    reply.setHeader('allow', 'POST')
    return refuse(reply, 405, 'This server has no sessions. POST each request.')
  }
  const body = await bodyOf(request)
  if (body === undefined) return refuse(reply, 413, `At most ${MAX_BODY} bytes`)
  let message: unknown
  try {
    message = JSON.parse(body)
  } catch {
    return refuse(reply, 400, 'The body is not JSON', -32700)
  }
  const mcp = createMcpServer(await deskFor(desk, request), tools)
  const transport = new StreamableHTTPServerTransport()
  reply.once('close', () => void mcp.close())
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  await mcp.connect(transport as never)
  await transport.handleRequest(request, reply, message)
}

/** The server learns when a request comes from outside: it then refuses the development keys. */
function deskFor(desk: Desk, { headers, httpVersion, socket }: IncomingMessage): Promise<Desk> {
  const outside = originOutside({ headers, httpVersion, address: socket.remoteAddress })
  if (!outside) return Promise.resolve(desk)
  const args = { ...desk.args, headers: { forwarded: 'for=unknown;by=mcp' } }
  return withAccount(args, async (call) => ({ ...desk, args, call }))
}

/** Why a request is refused. A web page must not reach the server through the browser of a user. */
function faultOf(
  { headers }: IncomingMessage,
  { host, secret, allowHosts, allowOrigins }: HttpOptions,
): { status: number; words: string } | undefined {
  const called = nameOf(`http://${headers.host ?? ''}`)
  const isOwnName = called !== undefined && (isLoopback(called) || allowHosts.includes(called))
  // DNS rebinding: a web page reaches a loopback address under a host name of its own.
  if (!isOwnName && (isLoopback(host) || allowHosts.length > 0))
    return { status: 403, words: 'This host name is not allowed. Allow it with --allow-host.' }
  const { origin } = headers
  if (origin !== undefined && !allowOrigins.includes(origin)) {
    const from = nameOf(origin)
    if (from === undefined || !isLoopback(from))
      return { status: 403, words: 'This origin is not allowed. Allow it with --allow-origin.' }
  }
  if (secret !== null && !isSecret(headers.authorization, secret))
    return { status: 401, words: 'Send the secret of this server as a bearer token.' }
  return undefined
}

function nameOf(url: string): string | undefined {
  return parseUrl(url)?.hostname.replace(/^\[(.*)\]$/, '$1') || undefined
}

function isSecret(authorization: string | undefined, secret: string): boolean {
  const [, shown = ''] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  return timingSafeEqual(Buffer.from(hashSecret(shown)), Buffer.from(hashSecret(secret)))
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // Read a larger body to its end, so that the client gets the answer, but only up to a limit.
    if (size > 8 * MAX_BODY) return undefined
    if (size <= MAX_BODY) chunks.push(chunk)
  }
  return size > MAX_BODY ? undefined : Buffer.concat(chunks).toString('utf8')
}

function refuse(reply: ServerResponse, status: number, message: string, code = -32000): void {
  reply.writeHead(status, { 'content-type': 'application/json' })
  reply.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }))
}
