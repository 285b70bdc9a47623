import { createHash } from 'node:crypto'
import type { WebhookSchedule } from './webhook.js'

/** What came of posting an event: an answer, or none. */
export type PostOutcome =
  | { status: number; retryAfterMs?: number }
  /** Nobody answered, or what came was no answer. */
  | { status: null }

export type Judgement =
  | { verdict: 'delivered' }
  | { verdict: 'retry'; afterMs: number }
  /** Nothing will change by asking again, or it was asked often enough. */
  | { verdict: 'failed' }
  /** The receiver says that it is gone for good. */
  | { verdict: 'gone' }

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Waiting times before each further try. The long one follows the Standard Webhooks table: about three days. */
export const RETRY_DELAYS: Readonly<Record<WebhookSchedule, readonly number[]>> = {
  standard: [5 * SECOND, 30 * SECOND, 2 * MINUTE],
  extended: [
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ],
}

/** `tries` counts this one. `seed` makes the jitter differ from delivery to delivery, and the same in each run. */
export function judge(
  outcome: PostOutcome,
  tries: number,
  schedule: WebhookSchedule,
  seed: string,
): Judgement {
  const { status } = outcome
  if (status !== null) {
    if (status >= 200 && status < 300) return { verdict: 'delivered' }
    if (status === 410) return { verdict: 'gone' }
    // 429 asks to come back later. Every other refusal, and a redirect, would only be repeated.
    if (status < 500 && status !== 429) return { verdict: 'failed' }
  }
  const base = RETRY_DELAYS[schedule][tries - 1]
  if (base === undefined) return { verdict: 'failed' }
  const asked = status === 429 || status === 503 ? outcome.retryAfterMs : undefined
  // A receiver may slow us down, but neither rush us nor put us off for ever.
  if (asked !== undefined) return { verdict: 'retry', afterMs: Math.min(Math.max(asked, base), 2 * base) }
  return { verdict: 'retry', afterMs: Math.round(base * (0.8 + 0.4 * fraction(`${seed}:${tries}`))) }
}

/** Seconds, or a date, as a receiver may say it. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * SECOND
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** A number from 0 to 1 that depends on the text alone. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32
}
