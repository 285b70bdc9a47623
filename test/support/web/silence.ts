import { createServer, type Server, type Socket } from 'node:net'

/** A receiver that takes every connection on every loopback address and never answers. */
export interface Silence {
  port: number
  open: Set<Socket>
  close(): Promise<void>
}

export async function createSilence(): Promise<Silence> {
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return {
    port: (server.address() as { port: number }).port,
    open,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A callback URL on the n-th of many origins. */
export const silentOrigin = ({ port }: Silence, n: number) => `http://127.1.${n >> 8}.${n & 255}:${port}/`
