import { hash } from 'node:crypto'

/** Where a span of a message belongs: its trace, and the span above it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** The caller's span; null if the caller has none. */
  callerId: string | null
  isSampled: boolean
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * The W3C trace context of a header, in the form in which messages keep it; null if the header is none. A later
 * version may have more fields, which are left out.
 */
export function readTraceparent(header: unknown): string | null {
  if (typeof header !== 'string' || header.length > 200) return null
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header.trim()) ?? []
  if (!traceId || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId!)) return null
  return `00-${traceId}-${spanId}-${flags}`
}

export function traceparentOf({ traceId, isSampled }: TraceContext, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/**
 * The trace of a message. Without a caller's trace it follows from the handle, so that every process knows it without
 * storing anything. `ratio` is the share of such traces that are exported; a caller decides for its own.
 */
export function traceOf({ handle, trace }: TracedMessage, ratio: number): TraceContext {
  if (trace !== null) {
    const [, traceId = '', callerId = '', flags = ''] = trace.split('-')
    return { traceId, callerId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
  }
  const digits = handle.replaceAll('-', '').toLowerCase()
  const traceId = /^[0-9a-f]{32}$/.test(digits) ? digits : hash('sha256', handle, 'hex').slice(0, 32)
  return { traceId, callerId: null, isSampled: Number.parseInt(traceId.slice(-8), 16) / 2 ** 32 < ratio }
}

export interface TracedMessage {
  handle: string
  /** The caller's trace context; null if it sent none. */
  trace: string | null
}

/** A span's id from what it is about, so that another process can name it as the span above its own. */
export function spanIdOf(...about: (string | number)[]): string {
  return hash('sha256', about.join(' '), 'hex').slice(0, 16)
}
