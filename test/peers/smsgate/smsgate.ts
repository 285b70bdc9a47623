import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { createInbox } from './inbox.js'
import { createQueue, type QueuedText } from './queue.js'

/** What happens to requests instead of an answer. */
type Fault = 'cut before' | 'cut after' | 'hang' | 'hang after' | 'html' | 404 | 500 | 503

interface Options {
  username?: string
  password?: string
  now?: () => number
}

/**
 * An Android phone with SMSGate and its local server, as far as a line needs it: texts go out newest first unless told
 * otherwise, an id is taken once, and the phone calls only https addresses or its own loopback.
 */
export async function createSmsGate({ username = 'sms', password = 'secret', now = Date.now }: Options = {}) {
  const settings = {
    messages: { processing_order: 'LIFO', limit_period: 'Disabled' },
    webhooks: { internet_required: true, retry_count: 15 },
  }
  const webhooks = new Map<string, { id: string; url: string; event: string }>()
  const calls: Promise<unknown>[] = []
  let sims: object[] = [{ slotIndex: 0, simNumber: 1, phoneNumber: null, carrierName: 'Tello', iccid: null }]
  let faults: { route: string; fault: Fault }[] = []
  let isWeird = false
  let isRefusing = false
  let signingKey = 'abcdefgh'
  const heard: string[] = []
  const inbox = createInbox(now)
  const queue = createQueue({ now, order: () => settings.messages.processing_order, changed })

  const EVENT: Record<string, string> = {
    Sent: 'sms:sent',
    Delivered: 'sms:delivered',
    Failed: 'sms:failed',
    Cancelled: 'sms:cancelled',
  }
  function changed({ id, to, state, error, states }: QueuedText) {
    const event = EVENT[state]
    if (!event) return
    const times = { [`${state.toLowerCase()}At`]: states[state] }
    emit(event, { messageId: id, recipient: to, phoneNumber: to, simNumber: 1, reason: error, ...times })
  }

  function emit(event: string, payload: object) {
    for (const { id: webhookId, url, event: wanted } of webhooks.values())
      if (wanted === event)
        calls.push(post(url, { deviceId: 'phone-1', event, id: crypto.randomUUID(), webhookId, payload }))
  }

  async function post(url: string, json: object): Promise<number> {
    const body = gson(json)
    const timestamp = String(Math.floor(now() / 1000))
    const signature = createHmac('sha256', signingKey)
      .update(body + timestamp)
      .digest('hex')
    const headers = { 'content-type': 'application/json', 'x-timestamp': timestamp, 'x-signature': signature }
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    return answer?.status ?? 0
  }

  const routes: Record<string, (ask: Ask) => Reply> = {
    'GET /health': () => [200, { status: 'pass', version: '1.67.0', releaseId: 100, checks: {} }],
    'GET /settings': () => [200, settings],
    'PATCH /settings': ({ body }) => {
      Object.assign(settings.messages, body.messages)
      const { signing_key, ...rest } = body.webhooks ?? {}
      Object.assign(settings.webhooks, rest)
      signingKey = signing_key ?? signingKey
      return [200, settings]
    },
    'GET /device': () => [200, [{ id: 'phone-1', name: 'Google/oriole', simCards: sims }]],
    'GET /webhooks': () => [200, [...webhooks.values()].map((one) => ({ ...one, source: 'Local' }))],
    'POST /webhooks': ({ body }) => {
      if (!/^https:/.test(body.url) && new URL(body.url).host.split(':')[0] !== '127.0.0.1')
        return [400, { message: 'url must start with https:// or http://127.0.0.1' }]
      const webhook = { id: body.id ?? crypto.randomUUID(), url: body.url, event: body.event }
      webhooks.set(webhook.id, webhook)
      return [201, webhook]
    },
    'DELETE /webhooks/:id': ({ id }) => {
      webhooks.delete(id)
      return [204]
    },
    'POST /messages': ({ body }) => {
      const text = body.textMessage?.text ?? body.message
      if (!text) return [400, { message: 'Text message is empty' }]
      if (isRefusing || !body.phoneNumbers?.length) return [400, { message: 'Empty phone numbers list' }]
      const [to] = body.phoneNumbers
      const row = { id: body.id ?? crypto.randomUUID(), to, text, sim: body.simNumber ?? null }
      if (!queue.add({ ...row, wantsReport: body.withDeliveryReport ?? true }))
        return [409, { message: 'Message with such id already exists' }]
      return [202, shown(queue.rows.get(row.id)!)]
    },
    'GET /messages/:id': ({ id }) => {
      const row = queue.rows.get(id)
      return row ? [200, shown(row)] : [404]
    },
    'GET /inbox': ({ query }) => {
      const { total, page } = inbox.list(query)
      const rows = isWeird ? page.map((row) => ({ ...row, createdAt: weird(row.createdAt) })) : page
      return [200, rows, { 'x-total-count': String(total) }]
    },
    'GET /inbox/:id/attachments/:part': ({ id, part }) => {
      const file = inbox.rows.get(id)?.attachments.find(({ partId }) => String(partId) === part)
      return file ? [200, file.bytes] : [404]
    },
  }

  const shown = ({ id, to, text, state, error, states }: QueuedText) => ({
    id,
    deviceId: 'phone-1',
    state,
    isHashed: false,
    isEncrypted: false,
    textMessage: { text },
    recipients: [{ phoneNumber: to, state, error }],
    states,
  })

  async function onRequest(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url!, 'http://phone')
    const [, first, id = '', ...more] = url.pathname.split('/').map(decodeURIComponent)
    const name = first === 'message' || first === 'webhook' ? `${first}s` : first
    const route = `${request.method} /${name}${id ? '/:id' : ''}${more.length > 0 ? `/${more[0]}/:part` : ''}`
    heard.push(route)
    const text = await textOf(request)
    const at = faults.findIndex((one) => one.route === route)
    const fault = at < 0 ? undefined : faults[at]!.fault
    const key = Buffer.from(`${username}:${password}`).toString('base64')
    const isAllowed = name === 'health' || request.headers.authorization === `Basic ${key}`
    if (fault === 'cut before') return void response.socket?.resetAndDestroy()
    if (fault === 'hang') return
    if (fault === 'html')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
    if (typeof fault === 'number') return void response.writeHead(fault).end('{"message":"Injected"}')
    const handle = routes[route]
    const ask = { body: text ? JSON.parse(text) : {}, query: url.searchParams, id, part: more[1] ?? '' }
    const [status, body, headers]: Reply = !isAllowed ? [401] : handle ? handle(ask) : [404]
    if (fault === 'hang after') return
    if (fault === 'cut after') return void response.socket?.resetAndDestroy()
    const bytes = Buffer.isBuffer(body) ? body : gson(body)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes)
  }

  let server = createServer((request, response) => void onRequest(request, response))
  const listen = (port: number) =>
    new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', () => resolve()))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
      server.closeAllConnections()
    })

  return {
    url: `http://127.0.0.1:${port}`,
    username,
    password,
    queue,
    inbox,
    settings,
    webhooks,
    heard,
    /** Calls of the phone so far, answered or not. */
    called: () => Promise.all(calls.splice(0)),
    emit,
    setSims(next: object[]) {
      sims = next
    },
    /** Every request of a route meets this fault, until `clear`. */
    fault: (route: string, fault: Fault) => void faults.push({ route, fault }),
    clear() {
      faults = []
    },
    /** Every text is refused. */
    refuse(does: boolean) {
      isRefusing = does
    },
    /** The dates of an old phone west of Greenwich. */
    beWeird() {
      isWeird = true
    },
    stop,
    async start() {
      server = createServer((request, response) => void onRequest(request, response))
      await listen(port)
    },
    close: stop,
  }
}

export type SmsGate = Awaited<ReturnType<typeof createSmsGate>>

interface Ask {
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, as the app takes it
  body: any
  query: URLSearchParams
  id: string
  part: string
}
type Reply = [status: number, body?: unknown, headers?: Record<string, string>]

/** JSON as the app writes it: without what is null. */
export const gson = (json: unknown) => JSON.stringify(json, (_, value) => value ?? undefined)

function weird(time: string): string {
  return new Date(Date.parse(time) - 8 * 3_600_000).toISOString().replace('Z', '+-8:00')
}
