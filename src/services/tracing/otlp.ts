import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../base/log.js'
import { VERSION } from '../../base/version.js'
import type { TraceSettings } from '../../core/tracing/settings.js'

type Attribute = string | number | boolean

export interface Span {
  traceId: string
  spanId: string
  parentId: string | null
  name: string
  kind: keyof typeof KINDS
  /** Milliseconds since 1970. */
  from: number
  to: number
  attributes: Record<string, Attribute>
  isError?: boolean
}

const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
const ERROR = 2

export interface Exporter {
  add(span: Span): void
  /** Sends what waits, once. */
  stop(): Promise<void>
}

const EVERY_MS = 2000
const AT_ONCE = 512
/** Spans that wait for a receiver; beyond it new ones are dropped. */
const MOST_WAITING = 8192
/** A receiver that hangs must not hold the end of the process. */
const STOP_MS = 2000

/**
 * Sends spans as OTLP over HTTP in JSON. Spans tell what happened and decide nothing: a receiver that is away or slow
 * costs this process a bounded list, and what does not fit is dropped and counted.
 */
export function createExporter(
  { url, headers, resource, timeoutMs }: TraceSettings,
  log: Log,
  count: (result: 'exported' | 'dropped', n: number) => void,
): Exporter {
  let waiting: Span[] = []
  let sending: Promise<void> | undefined
  let isAway = false
  const timer = setInterval(() => void flush(), EVERY_MS).unref()

  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    return sending
  }

  async function sendAll() {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, AT_ONCE)
      const isTaken = await send(spans)
      // Kept for the next try: a receiver that restarts loses nothing.
      if (isTaken === 'later') return
      waiting = waiting.slice(spans.length)
      count(isTaken === 'yes' ? 'exported' : 'dropped', spans.length)
    }
  }

  async function send(spans: readonly Span[]): Promise<'yes' | 'no' | 'later'> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(requestOf(spans, resource)),
        signal: AbortSignal.timeout(timeoutMs),
      })
      await answer.body?.cancel()
      if (answer.ok) {
        isAway = false
        return 'yes'
      }
      complain(`it answered ${answer.status}`)
      return [429, 502, 503, 504].includes(answer.status) ? 'later' : 'no'
    } catch {
      complain('it does not answer')
      return 'later'
    }
  }

  /** Once for each time that the receiver goes away. */
  function complain(why: string) {
    if (!isAway) log.warn({ why }, 'the receiver of traces does not take them; trying again')
    isAway = true
  }

  return {
    add(span) {
      if (waiting.length >= MOST_WAITING) return count('dropped', 1)
      waiting.push(span)
      if (waiting.length === AT_ONCE) void flush()
    },
    async stop() {
      clearInterval(timer)
      await Promise.race([flush(), delay(STOP_MS, undefined, { ref: false })])
      count('dropped', waiting.length)
      waiting = []
    },
  }
}

function requestOf(spans: readonly Span[], resource: Readonly<Record<string, string>>) {
  const scope = { name: 'trunkline', version: VERSION }
  return {
    resourceSpans: [
      { resource: { attributes: listed(resource) }, scopeSpans: [{ scope, spans: spans.map(wireOf) }] },
    ],
  }
}

function wireOf({ traceId, spanId, parentId, name, kind, from, to, attributes, isError }: Span) {
  return {
    traceId,
    spanId,
    ...(parentId === null ? {} : { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(Math.max(from, to)),
    attributes: listed(attributes),
    ...(isError ? { status: { code: ERROR } } : {}),
  }
}

const nanos = (ms: number) => (BigInt(Math.round(ms)) * 1_000_000n).toString()

function listed(attributes: Readonly<Record<string, Attribute>>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: Attribute) {
  if (typeof value === 'string') return { stringValue: value }
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(Math.round(value)) }
}
