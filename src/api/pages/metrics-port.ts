import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../config.js'
import { listenFault } from '../../core/listen-fault.js'

declare module 'fastify' {
  interface FastifyInstance {
    metricsPort: MetricsPort
  }
}

/**
 * A second listener for Prometheus and probes, which needs no key: the port of the API may be open to the world, this
 * one is for the operator's network.
 */
export interface MetricsPort {
  /** Whether a request came in here. */
  has(request: FastifyRequest): boolean
  /** Listens, if the settings name a port. */
  listen(): Promise<void>
  /** Where it listens; null while it does not. */
  url(): string | null
}

const PAGES = /^\/(?:metrics|livez|readyz)(?:\?|$)/

export function createMetricsPort(app: FastifyInstance, { metricsPort, metricsHost }: Config): MetricsPort {
  const arrived = new WeakSet<IncomingMessage>()
  let server: Server | undefined
  app.addHook('onClose', async () => {
    server?.close()
    server?.closeAllConnections()
  })
  return {
    has: ({ raw }) => arrived.has(raw),
    async listen() {
      if (metricsPort === null) return
      const limits = { headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 }
      server = createServer(limits, (request, response) => {
        const isPage = PAGES.test(request.url!) && ['GET', 'HEAD'].includes(request.method!)
        if (!isPage) return void response.writeHead(404, { connection: 'close' }).end()
        arrived.add(request)
        app.routing(request, response)
      })
      await new Promise<void>((resolve, reject) => {
        const refuse = (error: Error) =>
          reject(listenFault(error, metricsHost, metricsPort, 'TRUNKLINE_METRICS_PORT'))
        server!.once('error', refuse).listen(metricsPort, metricsHost, resolve)
      })
    },
    url() {
      const address = server?.address() as AddressInfo | null | undefined
      if (!address) return null
      const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
      return `http://${host}:${address.port}`
    },
  }
}
