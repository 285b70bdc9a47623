import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'

/** What happens to requests instead of an answer. */
export type Fault = 'cut before' | 'cut after' | 'hang' | 'hang after' | 'html' | InjectedStatus

export interface InjectedStatus {
  status: number
  code?: number
  headers?: Record<string, string>
}

export type Reply = [status: number, body: unknown, headers?: Record<string, string>]

export interface Asked {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
}

interface Carrier {
  /** Name of the request for `fault` and `heard`. */
  routeOf(asked: Asked): string
  answer(asked: Asked, route: string): Reply
  /** The body of an answer with an injected status. */
  failure(fault: InjectedStatus): unknown
  now(): number
}

/** The HTTP server of a fake carrier: it keeps its port over a stop, and its requests can meet faults. */
export async function serveCarrier({ routeOf, answer, failure, now }: Carrier) {
  const heard: string[] = []
  let faults: { route: string; fault: Fault }[] = []

  function meet(fault: Fault | undefined, asked: Asked, route: string, response: ServerResponse) {
    const end = ([status, body, headers = {}]: Reply) => {
      const date = new Date(now()).toUTCString()
      const bytes = Buffer.isBuffer(body) ? body : JSON.stringify(body)
      response.writeHead(status, { 'content-type': 'application/json', date, ...headers }).end(bytes)
    }
    if (fault === 'cut before') return response.socket?.resetAndDestroy()
    if (fault === 'hang') return
    if (fault === 'html')
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
    if (typeof fault === 'object') return end([fault.status, failure(fault), fault.headers])
    const reply = answer(asked, route)
    if (fault === 'hang after') return
    if (fault === 'cut after') return response.socket?.resetAndDestroy()
    end(reply)
  }

  const create = () =>
    createServer(async (request, response) => {
      const { pathname: path, searchParams: query } = new URL(request.url!, 'http://carrier')
      const { method = '', headers } = request
      const asked = { method, path, query, headers, body: await textOf(request) }
      const route = routeOf(asked)
      heard.push(route)
      meet(faults.find((one) => one.route === route)?.fault, asked, route, response)
    })
  let server = create()
  const listen = (at: number) =>
    new Promise<void>((resolve) => void server.listen(at, '127.0.0.1', () => resolve()))
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    /** Every request of a route meets this fault, until `clear`. */
    fault: (route: string, fault: Fault) => void faults.push({ route, fault }),
    clear() {
      faults = []
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    async start() {
      server = create()
      await listen(port)
    },
  }
}
