import { fieldsOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { Evidence, SendResult } from '../../core/messages/outcome.js'
import type { AttemptRef, Outbound } from '../contract.js'
import type { DriverClock } from '../host.js'
import { isApp, type Phone, type PhoneAnswer } from './phone.js'
import { stateOf } from './states.js'

const QUEUE_FULL_MS = 60_000
const ASK_AGAIN_MS = 30_000
/** The app may delete its log after a day. */
const MEMORY_MS = 12 * 3_600_000

/**
 * Sends a text under the message's own handle. The app refuses a second text with a known id, so a repeated send is
 * the same send, even if the first one arrives late.
 */
export async function send(phone: Phone, { handle, to, content }: Outbound): Promise<SendResult> {
  const { sim, device_id: deviceId, receipts = true } = phone.settings
  try {
    const answer = await phone.call('POST', '/messages?skipPhoneValidation=true', {
      id: handle,
      textMessage: { text: content },
      phoneNumbers: [to],
      withDeliveryReport: receipts,
      ...(sim === undefined ? {} : { simNumber: sim }),
      ...(deviceId === undefined ? {} : { deviceId }),
    })
    return resultOf(answer, handle)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return error.left
      ? { outcome: 'unknown', code: 'no_answer', detail: error.message }
      : {
          outcome: 'never-left',
          code: 'unreachable',
          detail: `The phone cannot be reached: ${error.message}`,
        }
  }
}

function resultOf({ status, json, fault }: PhoneAnswer, handle: string): SendResult {
  const accepted: SendResult = { outcome: 'accepted', providerId: handle, status: 'ACCEPTED' }
  const [code, detail] = [`http_${status}`, fault || `The phone answered HTTP ${status}`]
  // An earlier try arrived.
  if (status === 409) return accepted
  if (status >= 200 && status < 300) {
    if (fieldsOf(json).id === handle) return accepted
    return { outcome: 'unknown', code: 'garbled', detail: 'The answer does not name the message' }
  }
  if (status === 400 || status === 413 || status === 422) return { outcome: 'refused', code, detail }
  // The queue of a private server is full, because its phone is offline.
  if (status === 503 || status === 429)
    return { outcome: 'never-left', code, detail, retryAfterMs: QUEUE_FULL_MS }
  if (status < 500) return { outcome: 'never-left', code, detail }
  return { outcome: 'unknown', code, detail }
}

/** The app's queue is the table that it is asked for, so a text that is not there was not taken. */
export async function lookup(
  phone: Phone,
  clock: DriverClock,
  { handle, wireAt }: Pick<AttemptRef, 'handle' | 'wireAt'>,
): Promise<Evidence> {
  if (handle === '') return { found: undefined }
  try {
    const { status, json } = await phone.call('GET', `/messages/${encodeURIComponent(handle)}`)
    const state = status === 200 && fieldsOf(json).id === handle ? stateOf(json) : undefined
    if (state) return { found: true, providerId: handle, status: state.status }
    if (status !== 404 || !(await isApp(phone))) return { found: undefined, againMs: ASK_AGAIN_MS }
    return clock.now() - wireAt < MEMORY_MS ? { found: false } : { found: undefined }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return { found: undefined, againMs: ASK_AGAIN_MS }
  }
}
