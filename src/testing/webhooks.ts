import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signature } from '../core/webhooks/signature.js'
import { WEBHOOK_TYPES, type WebhookType } from '../core/webhooks/types.js'
import { milliseconds } from './duration.js'
import type { Ask, Json } from './request.js'

export type { WebhookType }

/** A webhook that arrived, with a signature that is right. */
export interface Webhook {
  /** Why it was posted, like `receive` or `outbound`. */
  type: WebhookType
  /** The same at every try. */
  id: string
  /** The event it tells of, like `message.received`. */
  event: string
  /** Which try it was; the first is 1. */
  attempt: number
  body: Json
  headers: Readonly<Record<string, string>>
}

export interface Webhooks {
  /** Where the receiver listens, once it does. */
  readonly url: string | null
  /** What it signs with, for a receiver of your own beside this one. */
  readonly secret: string
  /** Those that were taken, oldest first. */
  readonly received: readonly Webhook[]
  /** Those that were refused because of `fail`, oldest first. */
  readonly failed: readonly Webhook[]
  /** Opens the receiver and has these posted to it (all kinds, unless some are named) from now on. */
  listen(...types: WebhookType[]): Promise<void>
  /** Has them posted to a URL of your own, signed with `secret`. */
  forward(url: string, ...types: WebhookType[]): Promise<void>
  /** The oldest one of this kind, or for which this is true, as soon as there is one. Real time; default 5 seconds. */
  waitFor(
    which: WebhookType | ((webhook: Webhook) => boolean),
    options?: { timeout?: string | number },
  ): Promise<Webhook>
  /** Answers so many (all, unless it says) of one kind (any, unless it says) with an error from now on. 0: none any more. */
  fail(options?: { type?: WebhookType; times?: number; status?: number }): void
  /** Forgets what it has received so far. */
  clear(): void
}

/** The receiver; `close` is the world's own business. */
export function createWebhooks(ask: Ask): Webhooks & { close(): Promise<void> } {
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const received: Webhook[] = []
  const failed: Webhook[] = []
  const waiting = new Set<() => void>()
  let server: Server | undefined
  let url: string | null = null
  let failures: { type?: WebhookType; left: number; status: number } = { left: 0, status: 500 }

  async function open(): Promise<string> {
    if (url !== null) return url
    const opened = createServer((request, reply) => {
      bodyOf(request).then(
        (text) => reply.writeHead(take(request, text)).end(),
        () => reply.destroy(),
      )
    })
    server = opened
    await new Promise<void>((resolve, reject) => {
      opened.once('error', reject).listen(0, '127.0.0.1', resolve)
    })
    url = `http://127.0.0.1:${(opened.address() as AddressInfo).port}`
    return url
  }

  /** The status that a post is answered with. */
  function take(request: IncomingMessage, text: string): number {
    const headers = request.headers as Record<string, string>
    if (!isSigned(headers, text, secret)) return 401
    const webhook: Webhook = {
      type: request.url!.slice(1) as WebhookType,
      id: headers['webhook-id']!,
      event: headers['x-trunkline-event']!,
      attempt: Number(headers['x-trunkline-attempt']),
      body: JSON.parse(text),
      headers,
    }
    const fails = failures.left > 0 && (failures.type ?? webhook.type) === webhook.type
    if (fails) failures.left--
    ;(fails ? failed : received).push(webhook)
    for (const look of [...waiting]) look()
    return fails ? failures.status : 200
  }

  async function register(urlOf: (type: WebhookType) => string, types: readonly WebhookType[]) {
    for (const type of types.length > 0 ? types : WEBHOOK_TYPES)
      await ask('POST', '/api/account/webhooks', { type, webhooks: [{ url: urlOf(type), secret }] })
  }

  return {
    get url() {
      return url
    },
    secret,
    received,
    failed,
    async listen(...types) {
      const base = await open()
      await register((type) => `${base}/${type}`, types)
    },
    forward: (to, ...types) => register(() => to, types),
    async waitFor(which, { timeout = 5000 } = {}) {
      if (url === null)
        throw new Error('Nothing is posted here yet: call webhooks.listen() before what it should tell of.')
      const fits = typeof which === 'function' ? which : ({ type }: Webhook) => type === which
      const found = () => received.find(fits)
      const there = found()
      if (there) return there
      return new Promise<Webhook>((resolve, reject) => {
        const end = () => {
          clearTimeout(timer)
          waiting.delete(look)
        }
        const look = () => {
          const webhook = found()
          if (!webhook) return
          end()
          resolve(webhook)
        }
        const timer = setTimeout(() => {
          end()
          reject(new Error(nothingCame(which, timeout, received)))
        }, milliseconds(timeout))
        waiting.add(look)
      })
    },
    fail({ type, times = Number.POSITIVE_INFINITY, status = 500 } = {}) {
      failures = { type, left: times, status }
    },
    clear() {
      received.length = 0
      failed.length = 0
    },
    async close() {
      server?.closeAllConnections()
      await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Whether it is signed as the receiver of an account must demand it. */
function isSigned(headers: Record<string, string>, text: string, secret: string): boolean {
  const {
    'webhook-id': id = '',
    'webhook-timestamp': timestamp = '',
    'webhook-signature': given = '',
  } = headers
  const expected = Buffer.from(signature([secret], id, Number(timestamp), text))
  return given.split(' ').some((one) => {
    const bytes = Buffer.from(one)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}

function nothingCame(which: unknown, timeout: string | number, received: readonly Webhook[]): string {
  const wish = typeof which === 'string' ? `of the kind ${which}` : 'like that'
  const kinds = received.map(({ type, event }) => `${type} (${event})`).join(', ')
  return `No webhook ${wish} came in ${timeout}. ${kinds ? `These did: ${kinds}.` : 'None came.'}`
}
