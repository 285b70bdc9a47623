import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from '../world.js'

/** A webhook receiver on a real socket that remembers what it got, in order. */
export interface Sink {
  url: string
  received: Received[]
  /** Decides the answer of each post from now on; without one, 200. */
  answer(with_: (post: Received, reply: ServerResponse) => unknown): void
  close(): Promise<void>
}

export interface Received {
  /** When its last byte came. */
  at: number
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: Json
}

export async function createSink(): Promise<Sink> {
  const received: Received[] = []
  let decide: (post: Received, reply: ServerResponse) => unknown = () => 200
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const post = {
        at: Date.now(),
        path: request.url!,
        headers: request.headers,
        text,
        body: JSON.parse(text),
      }
      received.push(post)
      const status = decide(post, reply)
      if (typeof status === 'number') reply.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (with_) => {
      decide = with_
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
