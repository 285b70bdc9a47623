import { createHash } from 'node:crypto'
import type { WebhookSchedule } from './webhook.js'

/** The result of an attempt: an answer, or none. */
export type PostOutcome =
  | { status: number; retryAfterMs?: number }
  /** The receiver gave no valid answer. */
  | { status: null }

type Judgement =
  | { verdict: 'delivered' }
  | { verdict: 'retry'; afterMs: number }
  /** The answer is final, or the retries are used up. */
  | { verdict: 'failed'; why: string }
  /** The receiver answered 410 Gone. */
  | { verdict: 'gone' }

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays before each retry. The long schedule follows Standard Webhooks: about three days. */
const RETRY_DELAYS: Readonly<Record<WebhookSchedule, readonly number[]>> = {
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

/** Refusals that HTTP itself calls temporary: the request may be repeated. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 421, 425, 429])

/** `tries` includes this attempt. `seed` makes the jitter differ between deliveries and repeatable. */
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
    // The interface names 4xx as final, and nothing else but 410. The extended schedule is ours: it retries refusals,
    // too, as Standard Webhooks does.
    const isRefusal = status >= 400 && status < 500 && !TEMPORARY.has(status)
    if (isRefusal && schedule === 'standard')
      return {
        verdict: 'failed',
        why: 'A refusal is not retried. Fix the receiver, then replay the delivery.',
      }
  }
  const delays = RETRY_DELAYS[schedule]
  const base = delays[tries - 1]
  if (base === undefined) return { verdict: 'failed', why: `All ${delays.length} retries failed.` }
  const asked = status === 429 || status === 503 ? outcome.retryAfterMs : undefined
  // Retry-After may delay the next attempt, but neither hasten it nor postpone it without limit.
  if (asked !== undefined) return { verdict: 'retry', afterMs: Math.min(Math.max(asked, base), 2 * base) }
  return { verdict: 'retry', afterMs: Math.round(base * (0.8 + 0.4 * fraction(`${seed}:${tries}`))) }
}

/** Why an attempt failed and, if the delivery ended with it, why it ended. `failure` says why there is no answer. */
export function explain(
  { status }: PostOutcome,
  judgement: Judgement,
  failure: string | null,
): string | null {
  if (judgement.verdict === 'delivered') return null
  const isRedirect = status !== null && status >= 300 && status < 400
  const answer = `The receiver answered ${status}${isRedirect ? ', a redirect, which is not followed' : ''}`
  const attempt = `${(status === null ? (failure ?? 'The receiver did not answer') : answer).replace(/\.$/, '')}.`
  return judgement.verdict === 'failed' ? `${attempt} ${judgement.why}` : attempt
}

/** Parses Retry-After: seconds or a date. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * SECOND
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** A number from 0 to 1 derived from the text. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32
}
