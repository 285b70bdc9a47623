import { type Asked, type Reply, serveCarrier } from '../carrier-server.js'
import { createCalls } from './calls.js'
import { createMessages, type MessageStatus, type StoredMessage } from './messages.js'
import { createRcs } from './rcs.js'
import { createWebhooks } from './webhooks.js'

interface Options {
  number: string
  key?: string
  now?: () => number
}

/** How far the network takes a message by itself, or the number of the error with which each one fails. */
type Temper = 'queued' | 'sent' | 'delivered' | { error: number }

/**
 * Telnyx, as far as a line needs it, written from its API reference: queued messages are in no list, webhooks are
 * tried three times and then kept in a log, the webhook of a profile serves all its numbers.
 */
export async function createTelnyx({ number, key = 'KEY-canary', now = Date.now }: Options) {
  const profile = {
    id: '4001a1b2-0000-4000-8000-00000000a1b2',
    record_type: 'messaging_profile',
    enabled: true,
    webhook_url: null as string | null,
    webhook_failover_url: null as string | null,
    webhook_api_version: '1',
    whitelisted_destinations: ['US'],
    redaction_enabled: false,
    redaction_level: 2,
    ai_assistant_id: null as string | null,
  }
  const feature = { domestic_two_way: true, international_inbound: true, international_outbound: true }
  const phone = {
    id: '1293384261075731499',
    record_type: 'messaging_settings',
    phone_number: number,
    messaging_profile_id: profile.id as string | null,
    features: { sms: feature as object | null, mms: feature as object | null },
  }
  const messages = createMessages(now, profile.id)
  const webhooks = createWebhooks(now)
  const optOuts: { from: string; to: string; keyword: string; createdAt: number }[] = []
  const files = new Map<string, { type: string; bytes: Buffer }>()
  let apiKey = key
  let temper: Temper = 'sent'
  let refusal: number | undefined

  /** A new status, with its webhook. */
  function set(row: StoredMessage, status: MessageStatus, errorCode: number | null = null) {
    row.status = status
    row.errorCode = errorCode
    const type = status === 'sent' ? 'message.sent' : status === 'read' ? 'message.read' : 'message.finalized'
    const urls = row.webhookUrl
      ? [row.webhookUrl, row.useProfile ? profile.webhook_url : null]
      : [profile.webhook_url]
    webhooks.call(urls, type, messages.shown(row))
  }

  function proceed(row: StoredMessage) {
    if (typeof temper === 'object') return set(row, 'delivery_failed', temper.error)
    if (temper === 'queued') return
    set(row, 'sent')
    if (temper === 'delivered') set(row, 'delivered')
  }

  const failure = (status: number, code: number, detail: string): Reply => [
    status,
    { errors: [{ code: String(code), title: 'Refused', detail, meta: { url: 'https://telnyx.com' } }] },
  ]

  const calls = createCalls({ number, webhooks, failure, now })
  const profileId = profile.id
  const rcs = createRcs({ number, profileId, messages, failure, refusal: () => refusal, proceed })

  interface SendBody {
    from?: string
    to?: string | string[]
    text?: string
    media_urls?: string[]
    webhook_url?: string
    use_profile_webhooks?: boolean
  }

  /** The error number for a send, as far as a line can cause it. */
  function wrongWith({
    from,
    to: given = '',
    text,
    media_urls: media,
    webhook_url: url,
  }: SendBody): number | undefined {
    const to = [given].flat()
    if (refusal) return refusal
    if (to.length > 8) return 40304
    if (!to.every((one) => /^\+[1-9]\d{6,14}$/.test(one))) return 10016
    if (from !== number) return 40305
    if (!profile.enabled) return 40312
    if (phone.messaging_profile_id === null) return 40313
    if (optOuts.some((one) => to.includes(one.to))) return 40300
    if (!text && !media?.length) return 40316
    if (media?.length && phone.features.mms === null) return 40319
    if (url !== undefined && (url.length > 2000 || !/^https?:\/\/[^_/]+(\/|$)/.test(url))) return 10003
    return undefined
  }

  function takeSend({ body, headers }: Asked): Reply {
    const given: SendBody = JSON.parse(body)
    const code = wrongWith(given)
    if (code) return failure(code === 10011 ? 429 : 400, code, `Refused for '${given.to}'`)
    const row = messages.add({
      direction: 'outbound',
      from: number,
      to: [given.to!].flat(),
      text: given.text ?? '',
      media: (given.media_urls ?? []).map((url) => ({ url, content_type: 'image/jpeg' })),
      webhookUrl: given.webhook_url ?? null,
      useProfile: given.use_profile_webhooks ?? true,
      idempotencyKey: String(headers['idempotency-key'] ?? ''),
    })
    const answer: Reply = [200, { data: messages.shown(row) }]
    proceed(row)
    return answer
  }

  const routes: Record<string, (asked: Asked, id: string) => Reply> = {
    ...rcs.routes,
    'POST /messages': takeSend,
    'POST /messages/group_mms': takeSend,
    'GET /messages/:id': (_, id) => {
      const row = messages.find(id)
      return row ? [200, { data: messages.shown(row) }] : failure(404, 10005, 'not found')
    },
    'GET /detail_records': ({ query }) => paged(messages.records(query), query),
    'GET /webhook_deliveries': ({ query }) => paged(webhooks.list(query), query),
    'GET /messaging_optouts': ({ query }) => {
      const from = query.get('created_at[gte]') ?? ''
      const rows = optOuts.map(({ createdAt, ...one }) => ({
        ...one,
        messaging_profile_id: profile.id,
        created_at: new Date(createdAt).toISOString(),
      }))
      const isAsked = query.get('filter[messaging_profile_id]') === profile.id
      return paged(isAsked ? rows.filter((one) => one.created_at >= from) : [], query)
    },
    'GET /phone_numbers/messaging': ({ query }) =>
      paged(query.get('filter[phone_number]') === phone.phone_number ? [phone] : [], query),
    'GET /phone_numbers/voice': ({ query }) =>
      paged(`+${query.get('filter[phone_number]')}` === calls.phone.phone_number ? [calls.phone] : [], query),
    'GET /call_control_applications/:id': (_, id) =>
      id === calls.application.id ? [200, { data: calls.application }] : failure(404, 10005, 'not found'),
    'PATCH /call_control_applications/:id': ({ body }) => {
      const given = JSON.parse(body)
      if (!given.application_name || !given.webhook_event_url) return failure(422, 10015, 'missing')
      Object.assign(calls.application, given)
      return [200, { data: calls.application }]
    },
    'POST /calls/:id/actions': ({ path, body }) => {
      const [, id, name] = /^\/v2\/calls\/([^/]+)\/actions\/(\w+)$/.exec(path)!
      return calls.command(decodeURIComponent(id!), name!, JSON.parse(body))
    },
    'GET /messaging_profiles/:id': (_, id) =>
      id === profile.id ? [200, { data: profile }] : failure(404, 10005, 'not found'),
    'PATCH /messaging_profiles/:id': ({ body }) => {
      Object.assign(profile, JSON.parse(body))
      return [200, { data: profile }]
    },
  }

  function routeOf({ method, path }: Asked): string {
    const own = path
      .replace('/v2', '')
      .replace(/^\/messaging\/rcs\/(capabilities|agents)\/.*$/, '/messaging/rcs/$1')
    if (method === 'POST')
      return `POST ${own.replace(/^\/calls\/[^/]+\/actions\/\w+$/, '/calls/:id/actions')}`
    return `${method} ${own.replace(/^\/(messages|messaging_profiles|call_control_applications)\/[\w-]+$/, '/$1/:id')}`
  }

  function answer({ path, headers, ...rest }: Asked, route: string): Reply {
    const file = files.get(path)
    // Files are at another server, which must not see the key.
    if (file) return headers.authorization ? [400, {}] : [200, file.bytes, { 'content-type': file.type }]
    if (headers.authorization !== `Bearer ${apiKey}`) return failure(401, 10009, 'Authentication failed')
    const handle = routes[route]
    return handle
      ? handle({ path, headers, ...rest }, path.slice(path.lastIndexOf('/') + 1))
      : failure(404, 10005, 'not found')
  }

  const server = await serveCarrier({
    routeOf,
    answer,
    failure: ({ code }) =>
      code ? { errors: [{ code: String(code), title: 'Injected', detail: 'Injected' }] } : '',
    now,
  })

  return {
    ...server,
    url: `${server.url}/v2`,
    key,
    profile,
    phone,
    messages,
    webhooks,
    calls,
    rcs,
    optOuts,
    set,
    /** Texts that a person gets, in order. */
    sent: () => messages.rows.filter(({ direction }) => direction === 'outbound'),
    /** A message to the number, with its webhook. */
    text(from: string, text: string, fields: Partial<StoredMessage> = {}): StoredMessage {
      const row = messages.add({ direction: 'inbound', from, to: [number], text, ...fields })
      this.deliver(row)
      return row
    },
    /** A message to the RCS agent, with its webhook. */
    rcsText(from: string, body: object): StoredMessage {
      const to = [rcs.agent.agent_id]
      const row = messages.add({ direction: 'inbound', from, to, text: '', type: 'RCS', body })
      this.deliver(row)
      return row
    },
    deliver: (row: StoredMessage) =>
      webhooks.call(
        row.type === 'RCS' ? [rcs.agent.webhook_url] : [profile.webhook_url, profile.webhook_failover_url],
        'message.received',
        messages.shown(row),
      ),
    file(type: string, bytes: Buffer | string) {
      const path = `/store/${files.size}`
      files.set(path, { type, bytes: Buffer.from(bytes) })
      return { url: `${server.url}${path}`, content_type: type }
    },
    become(next: Temper) {
      temper = next
    },
    /** Every send is refused with this number; undefined ends that. */
    refuseWith(code: number | undefined) {
      refusal = code
    },
    changeKey(next: string) {
      apiKey = next
    },
    close: server.stop,
  }
}

export type Telnyx = Awaited<ReturnType<typeof createTelnyx>>

const LARGEST_PAGE = 250

function paged(rows: object[], query: URLSearchParams): Reply {
  const size = Math.min(LARGEST_PAGE, Number(query.get('page[size]') ?? 20))
  const page = Number(query.get('page[number]') ?? 1)
  const meta = { page_number: page, page_size: size, total_pages: Math.ceil(rows.length / size) }
  return [
    200,
    { data: rows.slice((page - 1) * size, page * size), meta: { ...meta, total_results: rows.length } },
  ]
}
