import { AppError } from '../errors.js'

/** How a call ended. */
export type CallOutcome = 'COMPLETED' | 'NO_ANSWER' | 'BUSY' | 'FAILED' | 'CANCELLED'

/**
 * Somebody calls a line, and the call goes on to a phone of the account's choice; or a user of the account calls a
 * phone from a line.
 */
export interface Call {
  id: string
  network: string
  direction: 'inbound' | 'outbound'
  lineId: string
  lineNumber: string
  /** Whose call it is; null when it was turned away before that was known. */
  accountId: string | null
  /** Of an outbound call, the line's number. */
  caller: string
  /** The phone that rings. */
  forwardedTo: string | null
  /** Turned away: it never reached the account, which hears nothing of it. */
  state: 'ringing' | 'answered' | 'ended' | 'turned_away'
  /** Set when it has ended. */
  outcome: CallOutcome | null
  /** It was a machine that answered. */
  voicemail: boolean
  /** The user who placed an outbound call. */
  sentBy: string | null
  createdAt: number
  answeredAt: number | null
  endedAt: number | null
  /** When it stops ringing. */
  dueAt: number | null
}

/** How long a phone rings before the call is given up. */
export const RING_MS = 30_000

export function ended(call: Call, outcome: CallOutcome, now: number): Call {
  return { ...call, state: 'ended', outcome, endedAt: now, dueAt: null }
}

export function turnedAway(call: Call, now: number): Call {
  return { ...call, state: 'turned_away', endedAt: now, dueAt: null }
}

/** What people do with a call, seen from one of its two phones. */
export type CallAction = 'answer' | 'voicemail' | 'decline' | 'hangup'
export type CallSide = 'caller' | 'forwarded'

/** The call after that. What its state or the side does not allow is a conflict that says why. */
export function afterAction(call: Call, side: CallSide, action: CallAction, now: number): Call {
  const rings = call.state === 'ringing' && call.dueAt! > now
  if (action === 'hangup' && call.state === 'answered') return ended(call, 'COMPLETED', now)
  if (action === 'hangup' && rings && side === 'caller') return ended(call, 'CANCELLED', now)
  const voicemail = action === 'voicemail'
  if ((action === 'answer' || voicemail) && rings && side === 'forwarded')
    return { ...call, state: 'answered', voicemail, answeredAt: now, dueAt: null }
  if (action === 'decline' && rings && side === 'forwarded') return ended(call, 'BUSY', now)
  if (rings && side === 'caller')
    throw new AppError('conflict', 'The call is ringing: the caller can only hang up')
  if (rings) throw new AppError('conflict', 'The call is ringing: answer it or decline it')
  if (call.state === 'answered')
    throw new AppError('conflict', 'The call has been answered: it can only be hung up')
  throw new AppError('conflict', 'The call is over')
}
