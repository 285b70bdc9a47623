import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface GatewayMessage {
  id: string
  from: string
  to: string
  text: string
  reference: string
  status: 'queued' | 'sent' | 'delivered' | 'failed'
}

/** Reaction of the gateway to the next message. */
export type Mood =
  | 'fine'
  /** Accepts the message, then breaks the connection before answering. */
  | 'takes it and is cut off'
  /** Breaks the connection before it accepts the message. */
  | 'is cut off'
  | 'busy'
  | 'refuses'
  /** Accepts the message, but a proxy answers instead. */
  | 'takes it and a proxy fails'

/** A minimal version of the gateway in README.md. */
export async function startGateway(account: { apiKey: string; secret: string }) {
  const messages: GatewayMessage[] = []
  const callbacks = new Map<string, string>()
  const moods: Mood[] = []

  const server = createServer(async (request, reply) => {
    const body = await text(request)
    const answer = (status: number, value: object, headers = {}) =>
      reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    if (request.headers.authorization !== `Bearer ${account.apiKey}`)
      return answer(401, { code: 'key', message: 'Unknown key' })
    const { pathname, searchParams } = new URL(request.url!, 'http://gateway')
    const [, number] = /^\/v1\/numbers\/([^/]+)\/callback$/.exec(pathname) ?? []
    if (request.method === 'GET' && pathname === '/v1/account') return answer(200, { name: 'Example' })
    if (request.method === 'PUT' && number) {
      callbacks.set(decodeURIComponent(number), JSON.parse(body).url)
      return answer(200, {})
    }
    if (pathname !== '/v1/messages') return answer(404, { code: 'path', message: 'Nothing here' })
    if (request.method === 'GET') {
      const found = messages.filter(({ reference }) => reference === searchParams.get('reference'))
      return answer(200, { messages: found.map(({ id, status }) => ({ id, status })) })
    }

    const mood = moods.shift() ?? 'fine'
    if (mood === 'is cut off') return request.socket.destroy()
    if (mood === 'busy') return answer(429, { code: 'busy', message: 'Slower' }, { 'retry-after': '7' })
    if (mood === 'refuses') return answer(422, { code: 'number', message: 'No such number' })
    const message: GatewayMessage = { ...JSON.parse(body), id: randomUUID(), status: 'queued' }
    messages.push(message)
    if (mood === 'takes it and is cut off') return request.socket.destroy()
    if (mood === 'takes it and a proxy fails') return reply.writeHead(502).end('<html>Bad Gateway</html>')
    return answer(202, { id: message.id })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  /** Calls the callback URL of a number; returns the response status. */
  async function call(number: string, body: string, signature = sign(body)): Promise<number> {
    const headers = { 'content-type': 'application/json', 'x-signature': signature }
    return (await fetch(callbacks.get(number)!, { method: 'POST', headers, body })).status
  }
  const sign = (body: string) => createHmac('sha256', account.secret).update(body).digest('hex')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Accepted messages. */
    messages,
    /** Reactions to the next messages, in order. */
    moods,
    call,
    /** Sends a status callback. */
    report(message: GatewayMessage, status: GatewayMessage['status']): Promise<number> {
      message.status = status
      const { id, reference } = message
      return call(message.from, JSON.stringify({ event: 'status', id, reference, status, at: new Date() }))
    },
    /** Sends an inbound message callback. */
    text(from: string, to: string, words: string, id: string = randomUUID()): Promise<number> {
      return call(to, JSON.stringify({ event: 'message', id, from, to, text: words, at: new Date() }))
    },
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}
