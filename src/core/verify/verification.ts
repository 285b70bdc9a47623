import { hash } from 'node:crypto'
import type { NewEvent } from '../events/event.js'

/**
 * Inverted one-time codes: we show a code, and the person proves that a number is theirs by texting the code
 * from it to one of our lines.
 */
export interface VerifyService {
  sid: string
  accountId: string
  friendlyName: string
  codeLength: number
  ttlSeconds: number
  /** Codes go to the account's own lines instead of its shared one. */
  useCustomerLines: boolean
  createdAt: number
}

export const CODE_LENGTH = { min: 4, max: 8, default: 6 } as const
export const TTL_SECONDS = { min: 60, max: 3600, default: 300 } as const

export const VERIFICATION_STATUSES = ['pending', 'approved', 'expired', 'canceled'] as const
export type VerificationStatus = (typeof VERIFICATION_STATUSES)[number]
export type Ending = Exclude<VerificationStatus, 'pending'>

export const THEMES = ['light', 'dark', 'auto'] as const
export type Theme = (typeof THEMES)[number]

/** The widget's session of a verification. */
export interface Hosted {
  sessionId: string
  /** The only site that may show it. */
  parentOrigin: string
  brandName: string
  /** Six hexadecimal digits; null: the widget's own. */
  accentColor: string | null
  theme: Theme
}

export interface Verification {
  sid: string
  serviceSid: string
  accountId: string
  /** Who must text. */
  to: string
  lineId: string
  /** Where to. */
  poolNumber: string
  code: string
  status: VerificationStatus
  createdAt: number
  updatedAt: number
  expiresAt: number
  completedAt: number | null
  hosted: Hosted | null
}

export function codeOf(number: number, length: number): string {
  return String(number).padStart(length, '0')
}

/** The code in a text, if it is nothing but one. */
export function codeIn(text: string): string | undefined {
  const trimmed = text.trim()
  return /^[0-9]{4,8}$/.test(trimmed) ? trimmed : undefined
}

/** Opens the phone's message app with everything filled in. Phones differ over `?` and `&`; both read `?&`. */
export function smsLink({ poolNumber, code }: Pick<Verification, 'poolNumber' | 'code'>): string {
  return `sms:${poolNumber}?&body=${code}`
}

export function accountSid(accountId: string): string {
  return `AC${hash('sha256', accountId, 'hex').slice(0, 32)}`
}

/** A person is always sent to the same one of several lines, as long as these stay the same. */
export function pick<T>(choices: readonly T[], by: string): T | undefined {
  return choices[Number.parseInt(hash('sha256', by, 'hex').slice(0, 8), 16) % choices.length]
}

/** What the log holds of a verification's end. There is one end, so there is one event. */
export function verificationEvent(verification: Verification): NewEvent {
  const { sid, accountId, serviceSid, status, updatedAt } = verification
  if (status === 'pending') throw new Error('A pending verification has not ended')
  return {
    accountId,
    type: `verification.${status}`,
    subject: sid,
    at: updatedAt,
    data: { status, serviceSid },
  }
}
