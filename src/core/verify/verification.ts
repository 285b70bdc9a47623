import { hash } from 'node:crypto'
import type { NewEvent } from '../events/event.js'

/**
 * Verification by text: the user sees a code and texts it from their phone to a line, which proves that they own the
 * number.
 */
export interface VerifyService {
  sid: string
  accountId: string
  friendlyName: string
  codeLength: number
  ttlSeconds: number
  /** Whether codes go to the account's own lines instead of its shared line. */
  useCustomerLines: boolean
  createdAt: number
}

export const CODE_LENGTH = { min: 4, max: 8, default: 6 } as const
export const TTL_SECONDS = { min: 60, max: 3600, default: 300 } as const

export const VERIFICATION_STATUSES = ['pending', 'approved', 'expired', 'canceled'] as const
export type VerificationStatus = (typeof VERIFICATION_STATUSES)[number]

export const THEMES = ['light', 'dark', 'auto'] as const
export type Theme = (typeof THEMES)[number]

/** The widget's session of a verification. */
export interface HostedWidget {
  sessionId: string
  /** The only site that may embed the widget. */
  parentOrigin: string
  brandName: string
  /** Six hexadecimal digits; null uses the widget's default. */
  accentColor: string | null
  theme: Theme
}

export interface Verification {
  sid: string
  serviceSid: string
  accountId: string
  /** The number that must send the code. */
  to: string
  lineId: string
  /** The number that the code goes to. */
  poolNumber: string
  code: string
  status: VerificationStatus
  createdAt: number
  updatedAt: number
  expiresAt: number
  completedAt: number | null
  hosted: HostedWidget | null
}

export function codeOf(number: number, length: number): string {
  return String(number).padStart(length, '0')
}

/** The code in a text that consists of a code only. */
export function codeIn(text: string): string | undefined {
  const trimmed = text.trim()
  return /^[0-9]{4,8}$/.test(trimmed) ? trimmed : undefined
}

/** A link that opens the phone's message app with recipient and text. Phones expect `?` or `&`; all accept `?&`. */
export function smsLink({ poolNumber, code }: Pick<Verification, 'poolNumber' | 'code'>): string {
  return `sms:${poolNumber}?&body=${code}`
}

export function accountSid(accountId: string): string {
  return `AC${hash('sha256', accountId, 'hex').slice(0, 32)}`
}

/** Chooses a line for a number: always the same one while the list of lines is unchanged. */
export function pick<T>(choices: readonly T[], by: string): T | undefined {
  return choices[Number.parseInt(hash('sha256', by, 'hex').slice(0, 8), 16) % choices.length]
}

/** The event of a verification's end. A verification ends once, so there is one event. */
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
