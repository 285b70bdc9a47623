import { connect, createServer, type Socket } from 'node:net'

/** Stands between a server and its clients, and breaks their connections as networks do. */
export interface TcpProxy {
  /** The URL of the server, with the proxy's port. */
  url: string
  /** Bytes of clients, as they come. */
  onBytes?: (from: Socket, bytes: Buffer) => void
  /** New connections lead to another server, like a name that was given another address. */
  lead(target: string): void
  /** From now on, no byte passes on the connections there are; with 'all', on new ones neither. */
  swallow(which: 'open' | 'all'): void
  /** New connections work again; swallowed ones stay silent. */
  heal(): void
  close(): Promise<void>
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let url = new URL(target)
  const pairs = new Set<[Socket, Socket]>()
  const sockets = new Set<Socket>()
  let swallowsNew = false
  const server = createServer((client) => {
    const upstream = connect(Number(url.port), url.hostname)
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    for (const [from, to] of [pair, [upstream, client] as const]) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => {
        if (from === client) proxy.onBytes?.(client, bytes)
        to.write(bytes)
      })
      from.on('close', () => {
        sockets.delete(from)
        pairs.delete(pair)
        if (!from.isPaused()) to.destroy()
      })
    }
    if (swallowsNew) for (const socket of pair) socket.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = new URL(target)
  own.port = String((server.address() as { port: number }).port)
  const proxy: TcpProxy = {
    url: own.href,
    lead(to) {
      url = new URL(to)
    },
    swallow(which) {
      for (const pair of pairs) for (const socket of pair) socket.pause()
      if (which === 'all') swallowsNew = true
    },
    heal() {
      swallowsNew = false
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
