import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createInbox, type InboxRow } from './inbox.js'
import { createQueue, type QueuedText } from './queue.js'
import { gson } from './smsgate.js'

interface Options {
  /** Where the server listens at the moment; the phone's own address of it is an https one. */
  base(): string
  now?: () => number
  /** As its SIMs are told at registration. */
  sims?: object[]
  /** An inbox that is read again is told of in full, as by versions before 1.66.1. */
  repeatsInbox?: boolean
  /** Gets every body that the phone sends and reads, and the names of events. */
  watch?: (what: string, json: unknown) => void
}

/** How long the phone waits before it opens its stream again or repeats a call. Real time. */
const AGAIN_MS = 20

/**
 * An Android phone with SMSGate that uses a private server: it registers with a code, keeps an event stream, pulls
 * texts when told, keeps ids, repeats reports until they are taken, and posts signed events to the webhooks it reads.
 */
export function createDiallingPhone({
  base,
  now = Date.now,
  sims = [SIM],
  repeatsInbox = false,
  watch = () => {},
}: Options) {
  let token = ''
  let signingKey = 'abcdefgh'
  let webhooks: { id: string; url: string; event: string }[] = []
  let order = 'LIFO'
  let settings: Record<string, Record<string, unknown>> = {}
  let stream: AbortController | undefined
  let isOn = false
  let isGone = false
  let losesReports = false
  let losesPulls = false
  const work = new Set<Promise<unknown>>()
  /** Answers of the server by call, such as `GET /message 200`. */
  const heard: string[] = []
  const events: { name: string; at: number }[] = []
  const inbox = createInbox(now)
  const queue = createQueue({ now, order: () => order, changed })
  /** Received messages that the app knows. */
  const processed = new Set<InboxRow>()

  function run<T>(promise: Promise<T>): Promise<T> {
    work.add(promise)
    void promise.catch(() => {}).finally(() => work.delete(promise))
    return promise
  }

  async function call(method: string, path: string, json?: unknown, authorization = `Bearer ${token}`) {
    const response = await fetch(`${base()}/mobile/v1${path}`, {
      method,
      headers: { authorization, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(json === undefined ? {} : { body: gson(json) }),
    })
    heard.push(`${method} ${path.split('?')[0]} ${response.status}`)
    const text = await response.text()
    const body = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
    const name = `${method} ${path.split('?')[0]}`
    if (json !== undefined) watch(`${name} asks`, JSON.parse(gson(json)))
    if (text !== '') watch(`${name} answers`, body)
    return { status: response.status, body }
  }

  /** The app tries for hours, also after it was started again. */
  async function again(attempt: () => Promise<boolean>) {
    while (!isGone && !(await attempt().catch(() => false))) await sleep(AGAIN_MS)
  }

  /** The app does not tell that a text is new in its queue. */
  function changed(row: QueuedText) {
    if (row.state !== 'Pending') void report(row)
  }
  function report(row: QueuedText) {
    const { id, to, state, error, states } = row
    const json = [{ id, state, recipients: [{ phoneNumber: to, state, error }], states: { ...states } }]
    return run(
      again(async () => losesReports || (isOn && (await call('PATCH', '/message', json)).status === 204)),
    )
  }

  async function pull() {
    const { status, body } = await call('GET', '/message?order=fifo')
    if (status !== 200 || losesPulls) return
    for (const { id, textMessage, phoneNumbers, simNumber, withDeliveryReport } of body) {
      const known = queue.rows.get(id)
      if (known) void report(known)
      else
        queue.add({
          id,
          to: phoneNumbers[0],
          text: textMessage.text,
          sim: simNumber ?? null,
          wantsReport: withDeliveryReport ?? true,
        })
    }
  }

  const ON_EVENT: Record<string, (data: string) => Promise<unknown>> = {
    MessageEnqueued: pull,
    async WebhooksUpdated() {
      webhooks = (await call('GET', '/webhooks')).body
    },
    async SettingsUpdated() {
      settings = (await call('GET', '/settings')).body
      order = String(settings.messages?.processing_order ?? order)
      signingKey = String(settings.webhooks?.signing_key ?? signingKey)
    },
    async MessagesExportRequested(data) {
      const { since, until, messageTypes } = JSON.parse(data)
      const types = String(messageTypes).split(',')
      const isAsked = ({ at, type }: InboxRow) =>
        at >= Date.parse(since) && at <= Date.parse(until) && types.includes(type.split('_')[0]!)
      const rows = [...inbox.rows.values()].filter(isAsked).sort((a, b) => a.at - b.at)
      for (const row of rows) if (repeatsInbox || !processed.has(row)) await hand(row)
    },
  }

  async function follow() {
    while (isOn) {
      stream = new AbortController()
      await listen(stream.signal).catch(() => {})
      if (isOn) await sleep(AGAIN_MS)
    }
  }

  async function listen(signal: AbortSignal) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${base()}/mobile/v1/events`, { headers, signal })
    heard.push(`GET /events ${response.status}`)
    if (response.status !== 200) return
    void run(pull()).catch(() => {})
    let text = ''
    for await (const bytes of response.body!) {
      text += Buffer.from(bytes).toString()
      const frames = text.split('\n\n')
      text = frames.pop()!
      for (const frame of frames) {
        const name = /^event: (.*)$/m.exec(frame)?.[1]
        if (!name) continue
        events.push({ name, at: performance.now() })
        watch('event', name)
        const data = /^data: (.*)$/m.exec(frame)?.[1] ?? ''
        void run(ON_EVENT[name]!(data)).catch(() => {})
      }
    }
  }

  async function post(event: string, payload: object, key = signingKey, clock = now()): Promise<number> {
    const webhook = webhooks.find((one) => one.event === event)
    if (!webhook) return 0
    const { id: webhookId, url } = webhook
    const body = gson({ deviceId: token.split('.')[0], event, id: 'e1', webhookId, payload })
    watch(event, JSON.parse(body))
    const timestamp = String(Math.floor(clock / 1000))
    const signature = createHmac('sha256', key)
      .update(body + timestamp)
      .digest('hex')
    const headers = { 'content-type': 'application/json', 'x-timestamp': timestamp, 'x-signature': signature }
    const response = await fetch(base() + new URL(url).pathname, { method: 'POST', headers, body })
    heard.push(`POST ${event} ${response.status}`)
    return response.status
  }

  const payloadOf = (row: InboxRow) => ({
    messageId: row.id,
    sender: row.sender,
    recipient: row.recipient,
    simNumber: row.simNumber,
    phoneNumber: row.sender,
    receivedAt: new Date(row.at).toISOString(),
  })

  function hand(row: InboxRow) {
    processed.add(row)
    return run(again(() => tell(row)))
  }

  async function tell(row: InboxRow): Promise<boolean> {
    const status = await (row.type === 'SMS'
      ? post('sms:received', { ...payloadOf(row), message: row.contentPreview })
      : post('mms:downloaded', { ...payloadOf(row), ...contentOf(row) }))
    return status >= 200 && status < 300
  }

  return {
    queue,
    inbox,
    heard,
    events,
    get token() {
      return token
    },
    get settings() {
      return settings
    },
    get webhooks() {
      return webhooks
    },
    call,
    pull: () => run(pull()),
    /** Reports the state of a text once more. */
    report,
    /** Registers with a code, and goes online. */
    async register(code: string) {
      const device = { name: 'Google/oriole', pushToken: null, simCards: sims }
      const { status, body } = await call('POST', '/device', device, `Code ${code}`)
      if (status === 201) {
        token = body.token
        this.online()
      }
      return status
    },
    online() {
      if (isOn) return
      isOn = true
      void follow()
    },
    /** Loses its network. */
    offline() {
      isOn = false
      stream?.abort()
    },
    /** Loses its network for a moment. */
    cut: () => stream?.abort(),
    /** The server does not get its reports, or it does not get the answers to its pulls. */
    lose(what: { reports?: boolean; pulls?: boolean }) {
      losesReports = what.reports ?? false
      losesPulls = what.pulls ?? false
    },
    /** A text arrives; resolves with the server's answer once it is 2xx. */
    async text(sender: string, text: string, options: { at?: number; sim?: number | null } = {}) {
      const row = inbox.text(sender, text, options)
      await hand(row)
      return row
    },
    /** A text arrives while the app does not run. */
    miss: (sender: string, text: string) => inbox.text(sender, text),
    /** The phone has fetched an MMS. */
    async mms(sender: string, text: string, files: InboxRow['attachments']) {
      const row = inbox.mms(sender, text, files)
      await hand(row)
      return row
    },
    /** Tells of a received message once more; whether the server took it. */
    tell,
    /** Posts an event once, as it is; returns the status. */
    post,
    payloadOf,
    /** Resolves when nothing is under way. */
    async rest() {
      while (work.size > 0) await Promise.allSettled([...work])
    },
    async close() {
      isGone = true
      this.offline()
      await this.rest()
    },
  }
}

export type DiallingPhone = ReturnType<typeof createDiallingPhone>

const SIM = { slotIndex: 0, simNumber: 1, phoneNumber: '********0180', carrierName: '****ello', iccid: null }

const contentOf = ({ contentPreview, attachments }: InboxRow) => ({
  body: contentPreview,
  subject: null,
  attachments: attachments.map(({ bytes, ...file }) => ({
    ...file,
    size: bytes.length,
    data: bytes.toString('base64'),
  })),
})
