import { createHmac, timingSafeEqual } from 'node:crypto'
// Types only, so that the build is a single file that needs nothing but Node.
import type {
  CallbackRequest,
  Connection,
  Driver,
  DriverHost,
  Line,
  NoAnswer,
  Receipt,
  SendResult,
} from 'trunkline/driver'

interface Settings {
  base_url: string
  api_key: string
  callback_secret: string
}

const TIMEOUT_MS = 20_000
const CHECK_MS = 60_000

/** Maps the gateway's statuses. */
const STATUSES: Record<string, Receipt['status']> = {
  queued: 'ACCEPTED',
  sent: 'SENT',
  delivered: 'DELIVERED',
  failed: 'ERROR',
}

export const driver: Driver = {
  kind: 'http-sms',
  title: 'HTTP SMS gateway',
  config: {
    type: 'object',
    properties: {
      base_url: { type: 'string', pattern: '^https?://', description: 'Address of the gateway' },
      api_key: { type: 'string', minLength: 1, secret: true, description: 'Key of your account there' },
      callback_secret: {
        type: 'string',
        minLength: 16,
        secret: true,
        description: 'What the gateway signs its callbacks with',
      },
    },
    required: ['base_url', 'api_key', 'callback_secret'],
    additionalProperties: false,
  },
  capabilities: () => ({
    services: ['SMS'],
    media: false,
    sendStyles: false,
    replies: false,
    groups: false,
    carousel: false,
    appCards: false,
    location: false,
    reactions: false,
    typing: false,
    readReceipts: false,
    profile: false,
  }),
  // The gateway documents that lookups find a message within ten seconds.
  defaults: { settleMs: 10_000 },
  connect: async (line, host) => connect(line, host),
  async probe({ config }, host) {
    const what = 'The gateway knows the key'
    try {
      const { status, json } = await asker(config, host)('GET', '/v1/account')
      if (status === 200) return [{ ok: true, what: `${what}, of the account "${json.name}"` }]
      const advice = status === 401 ? 'Copy the API key again.' : 'Check the address: is it the gateway?'
      return [{ ok: false, what: `The gateway answered ${status}`, advice }]
    } catch (error) {
      return [{ ok: false, what: (error as Error).message, advice: 'Check the address.' }]
    }
  },
}

function connect(line: Line, host: DriverHost): Connection {
  const ask = asker(line.config, host)
  const { callback_secret: secret } = line.config as unknown as Settings
  let isClosed = false
  let cancel = () => {}

  // Registers the callback URL every minute, which also shows whether the gateway is up.
  async function check() {
    const url = host.callbackUrl()
    try {
      const { status } = await ask('PUT', `/v1/numbers/${encodeURIComponent(line.number)}/callback`, { url })
      if (status === 200 && url) host.state('ONLINE')
      else if (status === 200) host.state('DEGRADED', 'The gateway cannot call us: set TRUNKLINE_PUBLIC_URL')
      else if (status === 401) host.state('OFFLINE', 'The gateway rejects the API key')
      else host.state('DEGRADED', `The gateway answered ${status}`)
    } catch (error) {
      host.state('OFFLINE', (error as Error).message)
    }
    // The host's clock, never setTimeout: tests move it.
    if (!isClosed) cancel = host.clock.after(CHECK_MS, check)
  }
  // Not awaited, because other lines wait for connect() to return. Progress is reported through host.state().
  void check()

  return {
    async send({ ref, to, content }): Promise<SendResult> {
      try {
        const message = { from: line.number, to, text: content, reference: ref }
        const { status, headers, json } = await ask('POST', '/v1/messages', message)
        const [code, detail] = [String(json.code ?? status), String(json.message ?? 'No reason given')]
        if (status === 202 && typeof json.id === 'string')
          return { outcome: 'accepted', providerId: json.id, status: 'ACCEPTED' }
        // The gateway documents that it accepted nothing after these statuses.
        if (status === 401) host.state('OFFLINE', 'The gateway rejects the API key')
        if (status === 401 || status === 429 || status === 503) {
          const seconds = Number(headers['retry-after'])
          return { outcome: 'never-left', code, detail, ...(seconds > 0 && { retryAfterMs: seconds * 1000 }) }
        }
        if (status >= 400 && status < 500) return { outcome: 'refused', code, detail }
        // Any other status, such as a 500, may come after the gateway accepted the message.
        return { outcome: 'unknown', code, detail }
      } catch (error) {
        // No answer. Retrying is safe only if the host says that the request never left.
        const outcome = (error as Partial<NoAnswer>).left === false ? 'never-left' : 'unknown'
        return { outcome, code: 'no_answer', detail: (error as Error).message }
      }
    },

    async lookup({ ref }) {
      const { status, json } = await ask('GET', `/v1/messages?reference=${encodeURIComponent(ref)}`)
      // An error is not evidence: ask again later.
      if (status !== 200 || !Array.isArray(json.messages)) return { found: undefined, againMs: 30_000 }
      const [message] = json.messages
      if (!message) return { found: false }
      return { found: true, providerId: String(message.id), status: STATUSES[message.status] ?? 'ACCEPTED' }
    },

    async callback(request) {
      if (!isSigned(request, secret)) return { status: 403 }
      const news = parse(Buffer.from(request.body, 'base64'))
      const id = typeof news.id === 'string' ? news.id : undefined
      const at = Date.parse(String(news.at)) || host.clock.now()
      if (news.event === 'message' && id && typeof news.from === 'string') {
        const content = String(news.text ?? '')
        // Once this resolves, the message is stored; only then acknowledge it with a 200.
        await host.receive({ providerId: id, from: news.from, service: 'SMS', content, sentAt: at })
      } else if (news.event === 'status' && id && STATUSES[String(news.status)]) {
        const { reference: ref, code, message } = news
        await host.receipt({
          providerId: id,
          ...(typeof ref === 'string' && { ref }),
          status: STATUSES[String(news.status)]!,
          at,
          ...(code !== undefined && { code: String(code), detail: String(message ?? '') }),
        })
      } else host.log.warn({ line: line.id }, 'the gateway called with something that means nothing')
      // Acknowledge unknown events as well, because the gateway would only repeat them.
      return { status: 200 }
    },

    async close() {
      isClosed = true
      cancel()
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is unknown; every use checks it
type Json = Record<string, any>

function asker(config: Record<string, unknown>, host: Pick<DriverHost, 'http'>) {
  const { base_url, api_key } = config as unknown as Settings
  const http = host.http(base_url)
  return async (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => {
    const { body: bytes, ...answer } = await http.request({
      method,
      path,
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      timeoutMs: TIMEOUT_MS,
    })
    return { ...answer, json: parse(bytes) }
  }
}

/** Returns an object in any case: a proxy's error page has no fields. */
function parse(bytes: Buffer): Json {
  try {
    const value = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Checks the signature over the raw bytes, in constant time. */
function isSigned({ body, headers }: CallbackRequest, secret: string): boolean {
  const right = createHmac('sha256', secret).update(Buffer.from(body, 'base64')).digest()
  const given = Buffer.from(headers['x-signature'] ?? '', 'hex')
  return given.length === right.length && timingSafeEqual(given, right)
}
