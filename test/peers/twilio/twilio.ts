import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { createCalls } from './calls.js'
import { createRcs, createWhatsApp } from './channels.js'
import { createMessages, type MessageStatus, newSid, type StoredMessage } from './messages.js'
import { createWebhooks } from './webhooks.js'

/** What happens to requests instead of an answer. */
type Fault =
  | 'cut before'
  | 'cut after'
  | 'hang'
  | 'hang after'
  | 'html'
  | { status: number; code?: number; after?: string }

interface Options {
  number: string
  token?: string
  now?: () => number
}

/** How far the network takes a message by itself, or the number of the error with which each one fails. */
type Temper = 'queued' | 'sent' | 'delivered' | { error: number }

/**
 * Twilio, as far as a line needs it, written from its API specification: no callback for the first status, days
 * instead of times in filters, no sending day while a message waits, files behind a redirect.
 */
export async function createTwilio({ number, token = 'canary-token', now = Date.now }: Options) {
  const account = `AC${'a1'.repeat(16)}`
  const service = `MG${'b2'.repeat(16)}`
  const phone = {
    sid: `PN${'c3'.repeat(16)}`,
    phone_number: number,
    capabilities: { sms: true, mms: true, voice: true, fax: false } as Record<string, boolean>,
    sms_url: '',
    sms_method: 'POST',
    sms_application_sid: '',
    voice_url: '',
    voice_method: 'POST',
    status_callback: '',
    voice_application_sid: '',
    trunk_sid: null as string | null,
  }
  const pool = {
    inbound_request_url: null as string | null,
    use_inbound_webhook_on_number: false,
    numbers: [phone.sid],
  }
  const keys = new Map([[account, token]])
  const messages = createMessages(now)
  const webhooks = createWebhooks(() => signingToken)
  const calls = createCalls({ account, number, phone, webhooks, now })
  const rcs = createRcs(number, service)
  const whatsapp = createWhatsApp(number, messages.rows, now)
  const optedOut = new Set<string>()
  const heard: string[] = []
  const stored = new Map<string, StoredMessage['files'][number]>()
  let signingToken = token
  let temper: Temper = 'sent'
  let refusal: number | undefined
  let faults: { route: string; fault: Fault }[] = []

  /** A new status, with its callback. */
  function set(row: StoredMessage, status: MessageStatus, errorCode: number | null = null) {
    row.status = status
    row.errorCode = errorCode
    if (status !== 'queued' && status !== 'sending') row.sentAt ??= row.createdAt
    webhooks.call(row.callback, {
      AccountSid: account,
      ApiVersion: '2010-04-01',
      From: row.from,
      To: row.to,
      MessageSid: row.sid,
      SmsSid: row.sid,
      MessageStatus: status,
      SmsStatus: status,
      ...(errorCode === null ? {} : { ErrorCode: String(errorCode) }),
    })
  }

  function proceed(row: StoredMessage) {
    const late = rcs.lateError(row) ?? whatsapp.lateError(row)
    if (late) return set(row, 'undelivered', late)
    if (temper !== 'queued') rcs.choose(row)
    if (typeof temper === 'object') return set(row, 'undelivered', temper.error)
    if (temper === 'queued') return
    set(row, 'sent')
    if (temper === 'delivered') set(row, 'delivered')
  }

  /** The error number for a send, as far as a line can cause it. */
  function wrongWith(form: URLSearchParams): number | undefined {
    const [to, from, body, callback] = ['To', 'From', 'Body', 'StatusCallback'].map(
      (name) => form.get(name) ?? '',
    )
    if (refusal) return refusal
    for (const { wrongWith } of [rcs, whatsapp]) {
      const wrong = wrongWith(form)
      if (wrong !== true) return wrong
    }
    if (!/^\+[1-9]\d{6,14}$/.test(to!)) return 21211
    if (form.has('MessagingServiceSid') && form.get('MessagingServiceSid') !== service) return 21705
    if (from !== number) return 21606
    if (optedOut.has(to!)) return 21610
    if (body!.length > 1600) return 21617
    if (body === '' && !form.has('MediaUrl')) return 21619
    if (form.has('MediaUrl') && !phone.capabilities.mms) return 21621
    if (callback !== '' && !/^https?:\/\/[^_/]+(\/|$)/.test(callback!)) return 21609
    return undefined
  }

  const failure = (status: number, code: number, message: string): Reply => [
    status,
    { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
  ]

  const routes: Record<string, (ask: Ask) => Reply> = {
    'POST Messages': ({ form }) => {
      const code = wrongWith(form)
      if (code) return failure(400, code, `Refused for '${form.get('To')}'`)
      const [to, body] = [form.get('To')!, form.get('Body') ?? '']
      const row = messages.add({
        direction: 'outbound-api',
        from: form.has('FallbackFrom') ? '' : form.get('From')!,
        to,
        body,
        service: form.get('MessagingServiceSid'),
        status: form.has('MessagingServiceSid') ? 'accepted' : 'queued',
        mediaUrls: form.getAll('MediaUrl'),
        callback: form.get('StatusCallback') ?? '',
      })
      const answer: Reply = [201, messages.shown(row, account)]
      proceed(row)
      return answer
    },
    'GET Messages': ({ query }) => {
      const { page, next } = messages.list(query)
      if (next) query.set('PageToken', next)
      return [
        200,
        {
          messages: page.map((row) => messages.shown(row, account)),
          next_page_uri: next ? `/2010-04-01/Accounts/${account}/Messages.json?${query}` : null,
          page_size: page.length,
        },
      ]
    },
    'GET Messages/:sid': ({ sid }) => {
      const row = messages.find(sid)
      return row ? [200, messages.shown(row, account)] : failure(404, 20404, 'not found')
    },
    'GET Messages/:sid/Media': ({ sid, file }) => {
      const files = messages.find(sid)?.files ?? []
      if (file === '')
        return [200, { media_list: files.map((one) => ({ sid: one.sid, content_type: one.contentType })) }]
      const found = files.find((one) => one.sid === file)
      if (!found) return failure(404, 20404, 'not found')
      stored.set(found.sid, found)
      return [307, '', { location: `${url()}/store/${found.sid}` }]
    },
    'GET Calls': ({ query }) => {
      const { page, next } = calls.list(query)
      if (next) query.set('Page', next)
      const link = next ? `/2010-04-01/Accounts/${account}/Calls.json?${query}` : null
      return [200, { calls: page.map(calls.shown), next_page_uri: link, page_size: page.length }]
    },
    'GET IncomingPhoneNumbers': ({ query }) => {
      const isAsked = query.get('PhoneNumber') === phone.phone_number
      return [200, { incoming_phone_numbers: isAsked ? [phone] : [], next_page_uri: null }]
    },
    'POST IncomingPhoneNumbers/:sid': ({ form }) => {
      const names = 'SmsUrl SmsApplicationSid VoiceUrl VoiceApplicationSid StatusCallback TrunkSid'.split(' ')
      for (const name of names) {
        const field = name.replace(/(?!^)[A-Z]/g, '_$&').toLowerCase()
        if (form.has(name)) Object.assign(phone, { [field]: form.get(name) })
      }
      return [200, phone]
    },
  }

  /** The API of Messaging Services. */
  function serve(method: string, path: string, form: URLSearchParams): Reply {
    if (path === '/v2/Channels/Senders') return [200, { senders: rcs.senders }]
    if (path === `/v1/Services/${service}/ChannelSenders`)
      return [200, { senders: rcs.pool.map((sender) => ({ sender })) }]
    const [, sid, , member] = /^\/v1\/Services\/(\w+)(\/PhoneNumbers\/(\w+))?$/.exec(path) ?? []
    if (sid !== service || (member && !pool.numbers.includes(member))) return failure(404, 20404, 'not found')
    if (method === 'POST')
      pool.use_inbound_webhook_on_number = form.get('UseInboundWebhookOnNumber') === 'true'
    return [200, { sid, ...pool }]
  }

  async function onRequest(request: IncomingMessage, response: ServerResponse) {
    const { pathname, searchParams: query } = new URL(request.url!, 'http://twilio')
    const form = new URLSearchParams(await textOf(request))
    const end = ([status, body, headers = {}]: Reply) => {
      const text = Buffer.isBuffer(body) ? body : JSON.stringify(body)
      const date = new Date(now()).toUTCString()
      response.writeHead(status, { 'content-type': 'application/json', date, ...headers }).end(text)
    }
    const file = stored.get(pathname.slice('/store/'.length))
    // The store refuses requests with credentials, like the real one.
    if (file)
      return end(
        request.headers.authorization ? [400, {}] : [200, file.bytes, { 'content-type': file.contentType }],
      )
    const [, resource = '', sid = '', part = '', member = ''] =
      /^\/2010-04-01\/Accounts\/AC\w+\/(\w+)(?:\/(\w+))?(?:\/(Media)(?:\/(\w+))?)?(?:\.json)?$/.exec(
        pathname,
      ) ?? []
    const isService = /^\/v[12]\//.test(pathname)
    const name = isService ? 'Services' : `${resource}${sid && '/:sid'}${part && '/Media'}`
    const route = `${request.method} ${name}`
    heard.push(route)
    const fault = faults.find((one) => one.route === route)?.fault
    if (fault === 'cut before') return void response.socket?.resetAndDestroy()
    if (fault === 'hang') return
    if (fault === 'html')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
    if (typeof fault === 'object') {
      const headers: Record<string, string> = fault.after ? { 'retry-after': fault.after } : {}
      return end([
        fault.status,
        fault.code ? { code: fault.code, message: 'Injected', status: fault.status } : '',
        headers,
      ])
    }
    const [, key = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? []
    const [user = '', password = ''] = Buffer.from(key, 'base64').toString().split(':')
    const isOwn = isService || pathname.includes(`/${account}/`)
    const handle = routes[route]
    const reply: Reply =
      keys.get(user) !== password || !isOwn
        ? failure(401, 20003, 'Authenticate')
        : isService
          ? serve(request.method!, pathname, form)
          : handle
            ? handle({ form, query, sid, file: member })
            : failure(404, 20404, 'not found')
    if (fault === 'hang after') return
    if (fault === 'cut after') return void response.socket?.resetAndDestroy()
    end(reply)
  }

  let server = createServer((request, response) => void onRequest(request, response))
  const listen = (at: number) =>
    new Promise<void>((resolve) => void server.listen(at, '127.0.0.1', () => resolve()))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = () => `http://127.0.0.1:${port}`
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
      server.closeAllConnections()
    })

  return {
    url: url(),
    account,
    token,
    service,
    phone,
    pool,
    keys,
    messages,
    calls,
    webhooks,
    rcs,
    whatsapp,
    optedOut,
    heard,
    set,
    /** Texts that a person gets, in order. */
    sent: () => messages.rows.filter(({ direction }) => direction === 'outbound-api'),
    /** A message to the number, with its webhook. */
    text(
      from: string,
      body: string,
      options: Partial<StoredMessage> & { params?: Record<string, string>; to?: string } = {},
    ): StoredMessage {
      const { params = {}, to = number, ...fields } = options
      const row = messages.add({ direction: 'inbound', from, to, body, ...fields })
      this.deliver(row, params)
      return row
    },
    deliver(row: StoredMessage, params: Record<string, string> = {}) {
      const media = row.files.flatMap(({ sid, contentType }, i) => [
        [
          `MediaUrl${i}`,
          `https://api.twilio.com/2010-04-01/Accounts/${account}/Messages/${row.sid}/Media/${sid}`,
        ],
        [`MediaContentType${i}`, contentType],
      ])
      const ofService = row.service !== null && !pool.use_inbound_webhook_on_number
      const target = ofService ? pool.inbound_request_url : phone.sms_application_sid ? '' : phone.sms_url
      webhooks.call(target ?? '', {
        AccountSid: account,
        ApiVersion: '2010-04-01',
        MessageSid: row.sid,
        SmsSid: row.sid,
        SmsMessageSid: row.sid,
        SmsStatus: 'received',
        From: row.from,
        To: row.to,
        Body: row.body,
        NumMedia: String(row.files.length),
        NumSegments: '1',
        FromCity: '',
        ...Object.fromEntries(media),
        ...params,
      })
    },
    file: (contentType: string, bytes: Buffer | string) => ({
      sid: newSid('ME'),
      contentType,
      bytes: Buffer.from(bytes),
    }),
    become(next: Temper) {
      temper = next
    },
    /** Every send is refused with this number; undefined ends that. */
    refuseWith(code: number | undefined) {
      refusal = code
    },
    signWith(next: string) {
      signingToken = next
    },
    /** Every request of a route meets this fault, until `clear`. */
    fault: (route: string, fault: Fault) => void faults.push({ route, fault }),
    clear() {
      faults = []
    },
    stop,
    async start() {
      server = createServer((request, response) => void onRequest(request, response))
      await listen(port)
    },
    close: stop,
  }
}

export type Twilio = Awaited<ReturnType<typeof createTwilio>>

interface Ask {
  form: URLSearchParams
  query: URLSearchParams
  sid: string
  file: string
}
type Reply = [status: number, body: unknown, headers?: Record<string, string>]
