import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { readBody } from './body.js'
import {
  iMessageError,
  NOT_FOUND,
  PRIVATE_API_GATE,
  Refusal,
  type Reply,
  refusalOf,
  unauthorised,
} from './envelope.js'
import { doesWork, type Fault, type Faults } from './faults.js'
import { type Ask, helperTrouble, type Mac, type Route, wait } from './state.js'
import { write } from './write.js'

/** A received request, without the password. */
export interface ReceivedRequest {
  method: string
  path: string
  query: Record<string, string>
  body: Record<string, unknown>
  at: number
  /** Null until answered. */
  status: number | null
}

export interface Transport {
  listen(port: number): Promise<number>
  /** Ends every connection. */
  cut(): void
  stop(): Promise<void>
}

export function createTransport(
  mac: Mac,
  routes: readonly Route[],
  faults: Faults,
  heard: ReceivedRequest[],
): Transport {
  const sockets = new Set<Socket>()
  const patterns = routes.map((route) => ({ route, parts: partsOf(route.path) }))
  let server = createServer()

  async function onRequest(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', 'http://mac')
    const method = request.method ?? 'GET'
    const entry: ReceivedRequest = {
      method,
      path: url.pathname,
      query: Object.fromEntries([...url.searchParams].filter(([key]) => !isPassword(key))),
      body: {},
      at: mac.clock.now(),
      status: null,
    }
    heard.push(entry)
    const fault = faults.take(method, url.pathname)
    const done = (reply: Reply | Refusal) => {
      entry.status = write(response, reply, {
        pretty: url.searchParams.has('pretty'),
        profile: mac.profile,
        fault,
      })
    }
    if (fault && !doesWork(fault)) return breakOff(response, fault, done)
    const reply = await answer(request, url, entry).catch(refusalOf)
    // The server restarted in the meantime and closed this connection.
    if (response.destroyed) return
    if (fault) return breakOff(response, fault, done, reply)
    done(reply)
  }

  async function answer(request: IncomingMessage, url: URL, entry: ReceivedRequest): Promise<Reply> {
    const method = request.method ?? 'GET'
    if (url.pathname === '/') return { plain: 200, text: 'BlueBubbles' }
    const match = find(method, url.pathname)
    if (match === 'another method') return { plain: 405, text: 'Method Not Allowed' }
    const body = await readBody(request)
    entry.body = body.fields
    if (!match) return NOT_FOUND
    authenticate(mac, request, url.searchParams)
    if (match.route.privateApi) {
      const trouble = helperTrouble(mac)
      if (trouble) throw iMessageError(PRIVATE_API_GATE, trouble)
    }
    const ask: Ask = { ...body, method, path: url.pathname, params: match.params, query: url.searchParams }
    return match.route.handle(mac, ask)
  }

  function find(method: string, path: string) {
    const parts = path.split('/').slice(1)
    for (const { route, parts: wanted } of patterns) {
      if (route.method !== method || parts.length !== wanted.length) continue
      const params: Record<string, string> = {}
      const fits = wanted.every((part, i) => {
        if (!part.startsWith(':')) return part === parts[i]
        params[part.slice(1)] = decodeURIComponent(parts[i]!)
        return true
      })
      if (fits) return { route, params }
    }
    // Only this server answers 405 for a path that exists with another method.
    const other = patterns.some(({ parts: wanted }) => wanted.join('/') === parts.join('/'))
    return other && mac.profile.name === 'imessage-rs' ? ('another method' as const) : null
  }

  function breakOff(
    response: ServerResponse,
    fault: Fault,
    done: (reply: Reply | Refusal) => void,
    reply?: Reply | Refusal,
  ) {
    switch (fault.kind) {
      case 'hang':
        return
      case 'reset':
        response.socket?.resetAndDestroy()
        return
      case '500':
        return done(refusalOf(new Error('Injected failure')))
      case '504':
        return done(new Refusal(504, 'Gateway Timeout', 'The request has timed out', 'Gateway Timeout'))
      case 'delay':
        return void wait(mac, fault.ms ?? 0).then(() => done(reply ?? NOT_FOUND))
      default:
        return done(reply ?? NOT_FOUND)
    }
  }

  return {
    listen(port) {
      server = createServer({ keepAliveTimeout: 5000 }, (request, response) => {
        onRequest(request, response).catch(() => response.destroy())
      })
      server.on('connection', (socket) => {
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
      })
      return new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
      })
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    stop() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      // Finished responses may still be read; open requests get no answer.
      server.closeIdleConnections()
      this.cut()
      return closed
    },
  }
}

const isPassword = (key: string) => key === 'guid' || key === 'password' || key === 'token'

function partsOf(path: string): string[] {
  return path.startsWith('/') ? ['api', ...path.slice(1).split('/')] : ['api', 'v1', ...path.split('/')]
}

/** The first of the three parameters that is present counts, even if it is wrong. */
function authenticate(mac: Mac, request: IncomingMessage, query: URLSearchParams) {
  const header = mac.profile.headerAuth ? fromHeader(request.headers.authorization) : null
  const given = query.get('guid') ?? query.get('password') ?? query.get('token') ?? header
  if (!given) throw unauthorised('Missing server password!')
  if (given.trim() !== mac.password.trim()) throw unauthorised('Unauthorized')
}

function fromHeader(header = ''): string | null {
  const [scheme, value = ''] = header.split(' ')
  if (scheme?.toLowerCase() === 'bearer') return value
  if (scheme?.toLowerCase() !== 'basic') return null
  const pair = Buffer.from(value, 'base64').toString()
  return pair.slice(pair.indexOf(':') + 1)
}
