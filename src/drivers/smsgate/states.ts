import { fieldsOf, listOf, textOf } from '../../core/fields.js'
import type { Receipt } from '../../core/messages/outcome.js'

/** State of a message on the phone. */
export interface PhoneState {
  status: 'ACCEPTED' | 'SENT' | 'DELIVERED' | 'ERROR'
  /** Of a failure. */
  code?: string
  detail?: string
}

/**
 * Processed means that Android has the text and says no more, sometimes for ever. Android reports the delivery of each
 * part of a long text, and the app counts the first.
 */
const STATUSES: Record<string, PhoneState['status']> = {
  Pending: 'ACCEPTED',
  Processed: 'ACCEPTED',
  Cancelling: 'ACCEPTED',
  Sent: 'SENT',
  Delivered: 'DELIVERED',
  Failed: 'ERROR',
  Cancelled: 'ERROR',
}

/** Reads a message of the app; undefined if it is none. */
export function stateOf(json: unknown): PhoneState | undefined {
  const { state, recipients } = fieldsOf(json)
  const status = STATUSES[textOf(state)]
  if (!status) return undefined
  if (status !== 'ERROR') return { status }
  if (state === 'Cancelled')
    return { status, code: 'cancelled', detail: 'The message was cancelled on the phone' }
  const reason = textOf(fieldsOf(listOf(recipients)[0]).error)
  return { status, ...failureOf(reason) }
}

export function receiptOf(id: string, state: PhoneState, at: number): Receipt {
  return { providerId: id, at, ...state }
}

interface Failure {
  code: string
  detail: string
}

/** Reasons of Android and of the app, and what they mean to the person with the phone. */
const REASONS: readonly [pattern: RegExp, code: string, detail: string][] = [
  [
    /LIMIT_EXCEEDED|RATE_LIMITED/,
    'rate_limited',
    'Android limits how many texts an app may send; lower the pace',
  ],
  [/RADIO_OFF/, 'radio_off', 'The phone is in flight mode'],
  [/NO_SERVICE/, 'no_service', 'The phone has no network'],
  [/SIM_ABSENT/, 'no_sim', 'The phone has no SIM card'],
  [/NO_DEFAULT_SMS_APP/, 'no_sms_app', 'The phone has no app for texts; choose one in its settings'],
  [/SHORT_CODE/, 'short_code', 'Android does not let the app text this short number'],
  [/NETWORK_REJECT/, 'network_reject', 'The network refused the text'],
  [/TTL expired/, 'expired', 'The text was too old when its turn came'],
  [
    /GENERIC_FAILURE/,
    'generic_failure',
    'Android gives no reason; the SIM may have no credit, or the carrier takes no delivery reports',
  ],
]

const MAX_REASON_CHARS = 200

function failureOf(reason: string): Failure {
  for (const [pattern, code, detail] of REASONS) if (pattern.test(reason)) return { code, detail }
  return { code: 'failed', detail: reason.slice(0, MAX_REASON_CHARS) || 'The phone gives no reason' }
}

/** Reasons that concern every message of the phone. */
const OF_THE_PHONE = new Set(['rate_limited', 'radio_off', 'no_service', 'no_sim', 'no_sms_app'])

export function isOfThePhone({ code = '' }: PhoneState): boolean {
  return OF_THE_PHONE.has(code)
}
