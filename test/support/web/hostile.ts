import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

export interface Receiver {
  url: string
  port: number
  /** Connections that were made. */
  count(): number
  close(): Promise<void>
}

/** A receiver without manners: each request is handled on the bare socket. Some speak before they are asked. */
export async function misbehave(
  act: (socket: Socket, request: string) => void,
  greeting = '',
): Promise<Receiver> {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((socket) => {
    count++
    sockets.add(socket)
    if (greeting) socket.end(greeting)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (data) => {
      const text = data.toString('latin1')
      if (text.startsWith('POST ') || text.startsWith('GET ')) act(socket, text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    count: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Writes one byte at a time for as long as anybody listens. */
export function drip(socket: Socket, text: string, thenForever = ''): void {
  let at = 0
  const timer = setInterval(() => {
    const byte = text[at++] ?? thenForever
    if (byte === '') clearInterval(timer)
    else socket.write(byte)
  }, 5)
  socket.on('close', () => clearInterval(timer))
}

/** Writes as fast as the other side takes it, for ever. */
export function flood(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}
