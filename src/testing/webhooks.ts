import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signature } from '../core/webhooks/signature.js'
import { WEBHOOK_TYPES, type WebhookType } from '../core/webhooks/types.js'
import { type Duration, milliseconds } from './duration.js'
import type { Ask, Json } from './request.js'

export type { WebhookType }

/** A received webhook with a valid signature. */
export interface Webhook {
  /** Like `receive` or `outbound`. */
  type: WebhookType
  /** Equal for all attempts. */
  id: string
  /** Type of its event, like `message.received`. */
  event: string
  /** The first attempt is 1. */
  attempt: number
  body: Json
  headers: Readonly<Record<string, string>>
}

export interface Webhooks {
  /** URL of the receiver; null before `listen()`. */
  readonly url: string | null
  /** The signing secret, for a receiver of your own. */
  readonly secret: string
  /** Accepted webhooks, oldest first. */
  readonly received: readonly Webhook[]
  /** Webhooks that `fail` refused, oldest first. */
  readonly failed: readonly Webhook[]
  /** Opens the receiver and registers it for these types; default all types. */
  listen(...types: WebhookType[]): Promise<void>
  /** Registers a URL of your own for these types, signed with `secret`. */
  forward(url: string, ...types: WebhookType[]): Promise<void>
  /** Waits for the oldest webhook of this type, or for which the function is true. Real time; default 5 seconds. */
  waitFor(
    which: WebhookType | ((webhook: Webhook) => boolean),
    options?: { timeout?: Duration },
  ): Promise<Webhook>
  /** Answers the next `times` webhooks (default all) of a type (default any) with an error; 0 stops it. */
  fail(options?: { type?: WebhookType; times?: number; status?: number }): void
  /** Empties `received` and `failed`. */
  clear(): void
}

/** The receiver. The world calls `close`. */
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

  /** Stores a webhook and returns the status of the answer. */
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
    async waitFor(which, { timeout = '5s' } = {}) {
      if (url === null)
        throw new Error(
          'No webhook is registered yet. Call webhooks.listen() before the action that causes the webhook.',
        )
      const matches = typeof which === 'function' ? which : ({ type }: Webhook) => type === which
      const found = () => received.find(matches)
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
          reject(new Error(noWebhook(which, timeout, received)))
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

function noWebhook(which: unknown, timeout: Duration, received: readonly Webhook[]): string {
  const wanted = typeof which === 'string' ? `of the type ${which}` : 'that matches'
  const kinds = received.map(({ type, event }) => `${type} (${event})`).join(', ')
  return `No webhook ${wanted} arrived within ${timeout}. ${kinds ? `Received: ${kinds}.` : 'None was received.'}`
}
