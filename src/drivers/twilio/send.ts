import { fieldsOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { Outbound } from '../contract.js'
import type { Api, ApiAnswer } from './api.js'
import { endsOf } from './channels.js'
import { OF_THE_ACCOUNT, RETRY_MS, TRY_NEXT, wordsOf } from './codes.js'
import { sidOf } from './statuses.js'

/** Sends one message. `statusUrl` is where Twilio reports about it; empty if it cannot call us. */
export async function send(
  api: Api,
  message: Outbound,
  number: string,
  statusUrl: string,
): Promise<SendResult> {
  const { content, mediaUrl } = message
  const { validity_s: validity } = api.settings
  const form = new URLSearchParams(endsOf(api.settings, message, number))
  if (content) form.set('Body', content)
  if (mediaUrl) form.set('MediaUrl', mediaUrl)
  if (statusUrl) form.set('StatusCallback', statusUrl)
  if (validity) form.set('ValidityPeriod', String(validity))
  try {
    return resultOf(await api.post('Messages.json', form))
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return error.left
      ? { outcome: 'unknown', code: 'no_answer', detail: error.message }
      : { outcome: 'never-left', code: 'unreachable', detail: `Twilio cannot be reached: ${error.message}` }
  }
}

/** The outcome of each answer, and no better one than Twilio's documentation allows. */
export function resultOf({ status, headers, json, code: number, fault }: ApiAnswer): SendResult {
  if (status >= 200 && status < 300) {
    const providerId = sidOf(fieldsOf(json).sid)
    if (providerId) return { outcome: 'accepted', providerId, status: 'ACCEPTED' }
    return { outcome: 'unknown', code: 'garbled', detail: 'The answer does not name the message' }
  }
  const code = number === undefined ? `http_${status}` : String(number)
  const detail = number === undefined ? `Twilio answered HTTP ${status}` : wordsOf(number, fault)
  if (status === 429 || (number !== undefined && number in RETRY_MS && status < 500)) {
    const retryAfterMs = RETRY_MS[number ?? 20429] ?? pauseOf(headers['retry-after'])
    return { outcome: 'never-left', code, detail, ...(retryAfterMs ? { retryAfterMs } : {}) }
  }
  // A message that is not accepted for the account's sake waits until somebody corrects the account.
  if (status === 401 || (status < 500 && OF_THE_ACCOUNT.has(number ?? 0)))
    return { outcome: 'never-left', code, detail }
  if (status >= 400 && status < 500 && number !== undefined)
    return { outcome: 'refused', code, detail, ...(TRY_NEXT.has(number) ? { tryNextService: true } : {}) }
  return { outcome: 'unknown', code, detail }
}

const MAX_PAUSE_MS = 600_000

function pauseOf(header: string | string[] | undefined): number | undefined {
  const seconds = Number(header)
  return seconds > 0 ? Math.min(MAX_PAUSE_MS, seconds * 1000) : undefined
}
