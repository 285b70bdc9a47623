import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'

const ATTEMPTS = 3
const LIMIT_MS = 2000

interface Delivery {
  id: string
  record_type: 'webhook_delivery'
  status: 'delivered' | 'failed'
  started_at: string
  finished_at: string
  webhook: object
  attempts: object[]
}

export function newKey(): { privateKey: KeyObject; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64'),
  }
}

/**
 * Webhooks of a fake Telnyx: signed, tried three times with two seconds each, then only in the log. They can get lost,
 * be repeated and come out of order.
 */
export function createWebhooks(now: () => number) {
  const key = newKey()
  const log: Delivery[] = []
  const calls: Promise<number>[] = []
  let signingKey = key.privateKey
  let held: (() => void)[] | undefined
  let loggedAt: number | undefined
  let mode: 'once' | 'lost' | 'twice' | 'vanished' = 'once'

  async function post(url: string, event: object, attempt: number): Promise<number> {
    const body = JSON.stringify({ data: event, meta: { attempt, delivered_to: url } })
    const stamp = String(Math.floor(now() / 1000))
    const signature = sign(null, Buffer.from(`${stamp}|${body}`), signingKey).toString('base64')
    const headers = {
      'content-type': 'application/json',
      'telnyx-timestamp': stamp,
      'telnyx-signature-ed25519': signature,
    }
    const signal = AbortSignal.timeout(LIMIT_MS)
    const answer = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => undefined)
    return answer?.status ?? 0
  }

  /** Status of the last attempt. */
  async function deliver(urls: string[], event: object, isLost: boolean): Promise<number> {
    const startedAt = new Date(loggedAt ?? now()).toISOString()
    const attempts: object[] = []
    let status = 0
    for (const url of urls)
      for (let n = 1; n <= ATTEMPTS && (status < 200 || status > 299); n++) {
        status = isLost ? 0 : await post(url, event, n)
        attempts.unshift({
          status: status < 300 && status >= 200 ? 'delivered' : 'failed',
          http: { request: { url } },
        })
      }
    log.unshift({
      id: randomUUID(),
      record_type: 'webhook_delivery',
      status: status >= 200 && status < 300 ? 'delivered' : 'failed',
      started_at: startedAt,
      finished_at: new Date(now()).toISOString(),
      webhook: event,
      attempts,
    })
    return status
  }

  return {
    publicKey: key.publicKey,
    log,
    /** Tries the addresses in turn. An event without an address is not even logged. */
    call(urls: (string | null)[], type: string, payload: object): object {
      const event = {
        record_type: 'event',
        id: randomUUID(),
        event_type: type,
        occurred_at: new Date(loggedAt ?? now()).toISOString(),
        payload,
      }
      this.send(urls, event)
      return event
    },
    send(urls: (string | null)[], event: object) {
      const targets = urls.filter((url): url is string => !!url)
      if (targets.length === 0 || mode === 'vanished') return
      const isLost = mode === 'lost'
      const go = () => void calls.push(deliver(targets, event, isLost))
      for (let times = mode === 'twice' ? 2 : 1; times > 0; times--) held ? held.push(go) : go()
    },
    /** `vanished` events are not logged either. */
    become(next: typeof mode) {
      mode = next
    },
    /** Time of the events from now on, instead of the clock's. */
    logAt(at: number | undefined) {
      loggedAt = at
    },
    signWith(next: KeyObject) {
      signingKey = next
    },
    restoreKey() {
      signingKey = key.privateKey
    },
    /** Keeps calls back until `release`, which makes them in reverse. */
    hold() {
      held = []
    },
    release() {
      const waiting = held ?? []
      held = undefined
      for (const go of waiting.reverse()) go()
    },
    /** The answers to the calls so far. */
    called: () => Promise.all(calls.splice(0)),
    /** The answers to all calls, with those that follow from them. */
    async quiet(): Promise<number[]> {
      const statuses: number[] = []
      while (calls.length > 0) statuses.push(...(await Promise.all(calls.splice(0))))
      return statuses
    },
    list(query: URLSearchParams): Delivery[] {
      const [types, status, contains, from, to] = [
        'filter[event_type]',
        'filter[status][eq]',
        'filter[webhook][contains]',
        'filter[started_at][gte]',
        'filter[started_at][lte]',
      ].map((name) => query.get(name))
      return log.filter(
        (one) =>
          (!types || types.split(',').includes((one.webhook as { event_type: string }).event_type)) &&
          (!status || one.status === status) &&
          (!contains || JSON.stringify(one.webhook).includes(contains)) &&
          (!from || one.started_at >= from) &&
          (!to || one.started_at <= to),
      )
    },
  }
}
