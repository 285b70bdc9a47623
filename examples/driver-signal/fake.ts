import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

// biome-ignore lint/suspicious/noExplicitAny: JSON of requests and answers
type Json = any

/** What happens to requests of a route instead of the usual answer. */
export type Fault =
  | 'cut before'
  | 'cut after'
  | 'hang'
  /** A proxy answers with a page. */
  | 'html'
  /** The request is carried out, but a proxy answers with an error. */
  | 'html after'
  | { status: number; error: string }

export interface Exchange {
  /** Method and path without its variable part. */
  route: string
  path: string
  query: string[]
  body: Json
  status?: number
  answer?: unknown
}

export interface Sent {
  timestamp: number
  recipients: string[]
  message: string
  base64_attachments?: string[]
  quote_timestamp?: number
  quote_author?: string
}

const USER = 'b4f0fa6c-6d14-4a5c-8a47-000000000000'
const HEAD = { 'content-type': 'application/json; charset=utf-8' }

/** A signal-cli-rest-api with one account, and the people behind Signal. It behaves as version 0.98 in native mode. */
export async function startFake(number: string, now: () => number = Date.now) {
  const sent: Sent[] = []
  /** What people sent to the number. The first answer that holds an item removes it. */
  let queue: object[] = []
  const heard: Exchange[] = []
  const groups: ReturnType<typeof newGroup>[] = []
  const files = new Map<string, Buffer>()
  let faults: { route: string; fault: Fault }[] = []
  let last = 0
  const fake = { mode: 'native', token: '', isArray: false, accounts: [number] }

  const nextTime = () => {
    last = Math.max(now(), last + 1)
    return last
  }

  function send(asked: Json): [number, Json] {
    if (!asked.recipients?.length)
      return [400, { error: "Couldn't process request - please provide at least one recipient" }]
    if (!fake.accounts.includes(asked.number))
      return [400, { error: `User ${asked.number} is not registered.\n` }]
    const timestamp = nextTime()
    sent.push({ ...asked, timestamp })
    const answer = { timestamp: String(timestamp) }
    return [201, fake.isArray ? [answer] : answer]
  }

  function group(method: string, rest: string[], asked: Json): [number, Json] {
    if (rest.length === 0 && method === 'GET') return [200, groups]
    if (rest.length === 0) {
      const made = newGroup(groups.length + 1, asked.name, [number, ...asked.members])
      groups.push(made)
      return [201, { id: made.id }]
    }
    const found = groups.find(({ id }) => id === rest[0])
    if (!found) return [404, { error: 'No group with that id found' }]
    if (method === 'GET') return [200, found]
    if (rest[1] === 'members' && method === 'POST') found.members.push(...asked.members)
    if (rest[1] === 'members' && method === 'DELETE')
      found.members = found.members.filter((one) => !asked.members.includes(one))
    if (asked.name) found.name = asked.name
    return [204, undefined]
  }

  function answer(method: string, [version, what, ...rest]: string[], query: URLSearchParams, asked: Json) {
    const route = `${method} ${version}/${what}`
    if (route === 'GET v1/about')
      return [200, { versions: ['v1', 'v2'], build: 2, mode: fake.mode, version: '0.98', capabilities: {} }]
    if (route === 'GET v1/accounts') return [200, fake.accounts]
    if (route === 'POST v2/send') return send(asked)
    if (what === 'groups') return group(method, rest.slice(1), asked)
    if (route === 'GET v1/attachments') {
      const file = files.get(rest[0]!)
      return file ? [200, file] : [404, { error: 'No attachment with that name found' }]
    }
    if (route === 'GET v1/receive') {
      // A web socket is expected.
      if (fake.mode === 'json-rpc')
        return [400, { error: 'websocket: the client is not using the websocket protocol' }]
      if (!fake.accounts.includes(rest[0]!)) return [400, { error: `User ${rest[0]} is not registered.\n` }]
      const most = Number(query.get('max_messages')) || queue.length
      const items = queue.slice(0, most)
      queue = queue.slice(most)
      return [200, items]
    }
    return /^(PUT|DELETE) v1\/typing-indicator|POST v1\/receipts/.test(route) ? [204, undefined] : [404, {}]
  }

  async function serve(request: IncomingMessage, reply: ServerResponse) {
    const { method = '', headers } = request
    const { pathname, searchParams } = new URL(request.url!, 'http://signal')
    const path = pathname.slice(1).split('/').map(decodeURIComponent)
    const raw = await text(request)
    const body: Json = raw ? JSON.parse(raw) : undefined
    const route = `${method} /${path.slice(0, 2).join('/')}`
    const exchange: Exchange = { route, path: `${method} ${pathname}`, query: [...searchParams.keys()], body }
    heard.push(exchange)
    const end = (status: number, value: unknown) => {
      Object.assign(exchange, { status, answer: value })
      Buffer.isBuffer(value)
        ? reply.writeHead(status, { 'content-type': 'image/jpeg' }).end(value)
        : reply.writeHead(status, HEAD).end(JSON.stringify(value))
    }
    if (fake.token && headers.authorization !== `Bearer ${fake.token}`)
      return end(401, { error: 'Unauthorized' })
    const fault = faults.find((one) => one.route === route)?.fault
    if (fault === 'cut before') return request.socket.resetAndDestroy()
    if (fault === 'hang') return
    if (fault === 'html') return reply.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
    if (typeof fault === 'object') return end(fault.status, { error: fault.error })
    const [status, value] = answer(method, path, searchParams, body) as [number, unknown]
    if (fault === 'cut after') return request.socket.resetAndDestroy()
    if (fault === 'html after')
      return reply.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>')
    end(status, value)
  }

  let server = createServer(serve)
  const listen = (port: number) => new Promise<void>((done) => void server.listen(port, '127.0.0.1', done))
  await listen(0)
  const { port } = server.address() as AddressInfo

  /** Puts an item into the queue, as signal-cli writes it. */
  function deliver(from: string, content: object, timestamp = nextTime()) {
    const isHidden = !from.startsWith('+')
    const envelope = {
      source: from,
      sourceNumber: isHidden ? null : from,
      sourceUuid: isHidden ? from : USER.slice(0, -12) + from.slice(1).padStart(12, '0'),
      sourceName: '',
      sourceDevice: 1,
      timestamp,
      serverReceivedTimestamp: timestamp,
      serverDeliveredTimestamp: timestamp,
      ...content,
    }
    const item = { envelope, account: number }
    queue.push(item)
    return item
  }

  return {
    url: `http://127.0.0.1:${port}`,
    set: (changes: Partial<typeof fake>) => void Object.assign(fake, changes),
    sent,
    heard,
    groups,
    files,
    sentTo: (to: string) => sent.filter(({ recipients }) => recipients.includes(to)),
    waiting: () => queue.length,
    deliver,
    again: (item: object) => void queue.push(item),
    /** A message from somebody. */
    text(from: string, message: string, more: object = {}) {
      const timestamp = nextTime()
      return deliver(from, { dataMessage: { timestamp, message, expiresInSeconds: 0, ...more } }, timestamp)
    },
    receipt(from: string, kind: 'isDelivery' | 'isRead' | 'isViewed', ...timestamps: number[]) {
      const kinds = { isDelivery: false, isRead: false, isViewed: false, [kind]: true }
      return deliver(from, { receiptMessage: { when: now(), timestamps, ...kinds } })
    },
    fault: (route: string, fault: Fault) => void faults.push({ route, fault }),
    clear() {
      faults = []
    },
    async start() {
      server = createServer(serve)
      await listen(port)
    },
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function newGroup(n: number, name: string, members: string[]) {
  const internal = Buffer.alloc(32, n).toString('base64')
  return {
    id: `group.${Buffer.from(internal).toString('base64')}`,
    internal_id: internal,
    name,
    description: '',
    members,
    admins: members.slice(0, 1),
    pending_invites: [] as string[],
    pending_requests: [] as string[],
    blocked: false,
    member: true,
    invite_link: '',
    permissions: { add_members: 'every-member', edit_group: 'every-member', send_messages: 'every-member' },
  }
}
