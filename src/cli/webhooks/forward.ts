import { setTimeout as pause } from 'node:timers/promises'
import { VERSION } from '../../base/version.js'
import { type WebhookPost, webhookHeaders } from '../../core/webhooks/headers.js'
import { codeOf } from '../client.js'

/** The result of one attempt. */
export interface Outcome {
  attempt: number
  /** Null if no answer came. */
  status: number | null
  reason: string | null
  ms: number
  /** Delay until the next attempt; null if this was the last. */
  againMs: number | null
}

const TIMEOUT_MS = 45_000
const WAIT_MS = { first: 250, most: 10_000 } as const

/**
 * Posts one event until the receiver gives a final answer. Like the server, it retries after 5xx, 429 or no answer, but
 * without a limit. Only `signal` stops it.
 */
export async function forward(
  url: string,
  event: Omit<WebhookPost, 'attempt'>,
  secret: string,
  signal: AbortSignal,
  onOutcome: (outcome: Outcome) => void,
): Promise<'answered' | 'stopped'> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    const againMs = Math.min(WAIT_MS.first * 2 ** (attempt - 1), WAIT_MS.most)
    const startedAt = performance.now()
    const answer = await post(url, { ...event, attempt }, secret, signal)
    if (answer.status === null && signal.aborted) break
    const isAnswered = answer.status !== null && answer.status < 500 && answer.status !== 429
    const ms = Math.round(performance.now() - startedAt)
    onOutcome({ attempt, ...answer, ms, againMs: isAnswered ? null : againMs })
    if (isAnswered) return 'answered'
    await pause(againMs, undefined, { signal }).catch(() => {})
  }
  return 'stopped'
}

async function post(
  url: string,
  event: WebhookPost,
  secret: string,
  signal: AbortSignal,
): Promise<{ status: number | null; reason: string | null }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'user-agent': `Trunkline/${VERSION}`,
        ...webhookHeaders(event, [secret], secret, Date.now()),
      },
      body: event.body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    return { status: response.status, reason: null }
  } catch (error) {
    return { status: null, reason: codeOf(error) }
  }
}
