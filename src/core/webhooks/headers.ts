import { signature } from './signature.js'

/** An event for a receiver. */
export interface WebhookPost {
  webhookId: string
  eventType: string
  sequence: number
  /** Counts from 1. */
  attempt: number
  body: string
}

export const SECRET_HEADER = 'sb-signing-secret'

/**
 * `now` is real time, not simulated time, because receivers compare it with their clock. The names with `x-` are for
 * receivers behind proxies that drop the others. All secrets sign; `shown` is sent itself.
 */
export function webhookHeaders(
  post: WebhookPost,
  secrets: readonly string[],
  shown: string | null,
  now: number,
): Record<string, string> {
  const id = post.webhookId
  const timestamp = Math.floor(now / 1000)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'x-webhook-id': id,
    'x-webhook-timestamp': String(timestamp),
    'x-trunkline-event': post.eventType,
    'x-trunkline-sequence': String(post.sequence),
    'x-trunkline-attempt': String(post.attempt),
  }
  if (secrets.length === 0) return headers
  const signed = signature(secrets, id, timestamp, post.body)
  headers['webhook-signature'] = signed
  headers['x-webhook-signature'] = signed
  if (shown !== null) headers[SECRET_HEADER] = shown
  return headers
}
