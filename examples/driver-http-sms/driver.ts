import { createHmac, timingSafeEqual } from 'node:crypto'
// Types only: what is built is one file that needs nothing but Node and can be put anywhere.
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

/** The gateway's words for what became of a message. */
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
  // The gateway says that a look-up knows a message at most ten seconds after it was taken.
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

  // Tells the gateway where to call us, again and again: that is also how we learn whether it is there.
  async function check() {
    const url = host.callbackUrl()
    try {
      const { status } = await ask('PUT', `/v1/numbers/${encodeURIComponent(line.number)}/callback`, { url })
      if (status === 200 && url) host.state('ONLINE')
      else if (status === 200) host.state('DEGRADED', 'The gateway cannot call us: set TRUNKLINE_PUBLIC_URL')
      else if (status === 401) host.state('OFFLINE', 'The gateway does not know the API key')
      else host.state('DEGRADED', `The gateway answered ${status}`)
    } catch (error) {
      host.state('OFFLINE', (error as Error).message)
    }
    // The host's clock, never setTimeout: tests turn it forward.
    if (!isClosed) cancel = host.clock.after(CHECK_MS, check)
  }
  // Not awaited: other lines wait until connect() has answered. How it goes is a state.
  void check()

  return {
    async send({ ref, to, content }): Promise<SendResult> {
      try {
        const message = { from: line.number, to, text: content, reference: ref }
        const { status, headers, json } = await ask('POST', '/v1/messages', message)
        const [code, detail] = [String(json.code ?? status), String(json.message ?? 'No reason given')]
        if (status === 202 && typeof json.id === 'string')
          return { outcome: 'accepted', providerId: json.id, status: 'ACCEPTED' }
        // The gateway's documentation: after these, nothing was taken.
        if (status === 401) host.state('OFFLINE', 'The gateway does not know the API key')
        if (status === 401 || status === 429 || status === 503) {
          const seconds = Number(headers['retry-after'])
          return { outcome: 'never-left', code, detail, ...(seconds > 0 && { retryAfterMs: seconds * 1000 }) }
        }
        if (status >= 400 && status < 500) return { outcome: 'refused', code, detail }
        // Anything else, a 500 above all, may come after the message was taken.
        return { outcome: 'unknown', code, detail }
      } catch (error) {
        // No answer. It may go again by itself only if Trunkline says that nothing left.
        const outcome = (error as Partial<NoAnswer>).left === false ? 'never-left' : 'unknown'
        return { outcome, code: 'no_answer', detail: (error as Error).message }
      }
    },

    async lookup({ ref }) {
      const { status, json } = await ask('GET', `/v1/messages?reference=${encodeURIComponent(ref)}`)
      // Not an answer to the question: asked again later, and never taken for a no.
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
        // Only when this has resolved is the message on disk, and only then do we thank with a 200.
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
      // Also then: it would only bring the same again.
      return { status: 200 }
    },

    async close() {
      isClosed = true
      cancel()
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the gateway says what it likes; every use looks first
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

/** Whatever it is, an object comes out: a proxy's error page has no fields. */
function parse(bytes: Buffer): Json {
  try {
    const value = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Over the bytes as they came, and in a time that tells nothing. */
function isSigned({ body, headers }: CallbackRequest, secret: string): boolean {
  const right = createHmac('sha256', secret).update(Buffer.from(body, 'base64')).digest()
  const given = Buffer.from(headers['x-signature'] ?? '', 'hex')
  return given.length === right.length && timingSafeEqual(given, right)
}
