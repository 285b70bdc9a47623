import { AppError } from '../errors.js'

/** How a call ended. */
export type CallOutcome = 'COMPLETED' | 'NO_ANSWER' | 'BUSY' | 'FAILED' | 'CANCELLED'

/**
 * An inbound call to a line, which is forwarded to a phone that the account chooses; or an outbound call from a line
 * by a user of the account.
 */
export interface Call {
  id: string
  /** Id of the account whose phone or line made the call; the line's network for a call at a carrier. */
  network: string
  /** The carrier's id of the call; null for a simulated call. */
  providerId: string | null
  direction: 'inbound' | 'outbound'
  lineId: string
  lineNumber: string
  /** Owner of the call; null if the call was turned away before the owner was known. */
  accountId: string | null
  /** For an outbound call, the line's number; empty for a call at a carrier that belongs to no account. */
  caller: string
  /** The phone that rings; null for an inbound call that was turned away or taken in the console. */
  forwardedTo: string | null
  /** `turned_away`: the call never reached the account and causes no event. */
  state: 'ringing' | 'answered' | 'ended' | 'turned_away'
  /** Null until the call has ended. */
  outcome: CallOutcome | null
  /** Whether an answering machine took the call. */
  voicemail: boolean
  /** The user who placed an outbound call. */
  sentBy: string | null
  createdAt: number
  answeredAt: number | null
  endedAt: number | null
  /** When the phone stops ringing; for a call at a carrier, when the call counts as lost. */
  dueAt: number | null
}

/** How long a phone rings before the call ends. */
export const RING_MS = 30_000

export function endCall(call: Call, outcome: CallOutcome, now: number): Call {
  return { ...call, state: 'ended', outcome, endedAt: now, dueAt: null }
}

export function turnAwayCall(call: Call, now: number): Call {
  return { ...call, state: 'turned_away', endedAt: now, dueAt: null }
}

/** An action on a call by one of its two sides. */
export type CallAction = 'answer' | 'voicemail' | 'decline' | 'hangup'
export type CallSide = 'caller' | 'forwarded'

/** The call after the action. An action that the state or side does not allow is a conflict that says why. */
export function afterAction(call: Call, side: CallSide, action: CallAction, now: number): Call {
  const rings = call.state === 'ringing' && call.dueAt! > now
  if (action === 'hangup' && call.state === 'answered') return endCall(call, 'COMPLETED', now)
  if (action === 'hangup' && rings && side === 'caller') return endCall(call, 'CANCELLED', now)
  const voicemail = action === 'voicemail'
  if ((action === 'answer' || voicemail) && rings && side === 'forwarded')
    return { ...call, state: 'answered', voicemail, answeredAt: now, dueAt: null }
  if (action === 'decline' && rings && side === 'forwarded') return endCall(call, 'BUSY', now)
  if (rings && side === 'caller')
    throw new AppError('conflict', 'The call is ringing: the caller can only hang up')
  if (rings) throw new AppError('conflict', 'The call is ringing: answer it or decline it')
  if (call.state === 'answered')
    throw new AppError('conflict', 'The call has been answered: it can only be hung up')
  throw new AppError('conflict', 'The call is over')
}

/**
 * An inbound call after a user of the account acted on it in the console. It rings there beside the phone that it is
 * forwarded to; whoever answers or declines it first has it, so a call taken in the console is not forwarded.
 */
export function afterConsoleAction(
  call: Call,
  action: Extract<CallAction, 'answer' | 'decline' | 'hangup'>,
  now: number,
): Call {
  if (call.state === 'answered' && call.forwardedTo !== null)
    throw new AppError('conflict', `The call was answered at ${call.forwardedTo}`)
  return { ...afterAction(call, 'forwarded', action, now), forwardedTo: null }
}
