import { fieldsOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { Outbound } from '../contract.js'
import type { Api, ApiAnswer } from './api.js'
import { RETRY_MS, TOO_MANY, TRY_NEXT, UNKNOWN, wordsOf } from './codes.js'
import { groupFault } from './groups.js'
import { idOf } from './statuses.js'

/** Sends one message. `webhookUrl` is where Telnyx reports about it; empty if it cannot call us. */
export async function send(
  api: Api,
  { ref, to, group, content, mediaUrl }: Outbound,
  from: string,
  webhookUrl: string,
): Promise<SendResult> {
  const fault = group && groupFault(group)
  if (fault) return { outcome: 'refused', code: 'group', detail: fault }
  const body = {
    from,
    to: group ? group.members : to,
    ...(content ? { text: content } : {}),
    ...(mediaUrl ? { media_urls: [mediaUrl] } : {}),
    ...(webhookUrl ? { webhook_url: webhookUrl, use_profile_webhooks: false } : {}),
  }
  const result = await submit(api, group ? '/messages/group_mms' : '/messages', ref, body)
  return group && result.outcome === 'accepted' ? { ...result, service: 'SMS' } : result
}

export async function submit(api: Api, path: string, ref: string, body: object): Promise<SendResult> {
  try {
    // Telnyx does not promise to heed the key here, so nothing relies on it.
    return resultOf(await api.post(path, body, { 'idempotency-key': ref }))
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return error.left
      ? { outcome: 'unknown', code: 'no_answer', detail: error.message }
      : { outcome: 'never-left', code: 'unreachable', detail: `Telnyx cannot be reached: ${error.message}` }
  }
}

/** The outcome of each answer, and no better one than Telnyx's documentation allows. */
export function resultOf({ status, headers, json, code: number, fault }: ApiAnswer): SendResult {
  if (status >= 200 && status < 300) {
    const providerId = idOf(fieldsOf(fieldsOf(json).data).id)
    if (providerId) return { outcome: 'accepted', providerId, status: 'ACCEPTED' }
    return { outcome: 'unknown', code: 'garbled', detail: 'The answer does not name the message' }
  }
  const code = number === undefined ? `http_${status}` : String(number)
  const detail = number === undefined ? `Telnyx answered HTTP ${status}` : wordsOf(number, fault)
  if (status < 400 || status > 499 || UNKNOWN.has(number ?? 0)) return { outcome: 'unknown', code, detail }
  if (status === 429 || RETRY_MS.has(number ?? 0)) {
    const retryAfterMs = RETRY_MS.get(number ?? TOO_MANY) ?? pauseOf(headers)
    return { outcome: 'never-left', code, detail, ...(retryAfterMs ? { retryAfterMs } : {}) }
  }
  // A message that is not accepted because of the key waits until somebody corrects the key.
  if (status === 401) return { outcome: 'never-left', code, detail }
  if (number === undefined) return { outcome: 'unknown', code, detail }
  return { outcome: 'refused', code, detail, ...(TRY_NEXT.has(number) ? { tryNextService: true } : {}) }
}

const MAX_PAUSE_MS = 600_000

function pauseOf(headers: ApiAnswer['headers']): number | undefined {
  const seconds = Number(headers['retry-after'] ?? headers['x-ratelimit-reset'])
  return seconds > 0 ? Math.min(MAX_PAUSE_MS, seconds * 1000) : undefined
}
