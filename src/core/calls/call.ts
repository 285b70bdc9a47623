import type { Account } from '../accounts/account.js'
import { AppError } from '../errors.js'
import type { NewEvent } from '../events/event.js'

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

/** The event of a call's end, with everything that is told about it. */
export function callEvent(
  call: Call,
  account: Pick<Account, 'id' | 'email'>,
  companyId: string,
  contactId: string | null,
): NewEvent {
  const at = call.endedAt!
  const inbound = call.direction === 'inbound'
  return {
    accountId: account.id,
    type: inbound ? 'call.inbound' : 'call.outbound',
    subject: call.id,
    at,
    data: {
      callId: call.id,
      direction: call.direction,
      status: call.outcome,
      duration: call.answeredAt === null ? null : Math.floor((at - call.answeredAt) / 1000),
      // Programs know two for each direction; a simulated line behaves as the one that is in both.
      provider: 'twilio',
      companyId,
      createdAt: call.createdAt,
      ...(inbound ? inboundData(call, account.email) : outboundData(call, contactId)),
    },
  }
}

function inboundData(call: Call, accountEmail: string) {
  return {
    // Made of the call's own id, so that the same call can never have two.
    eventId: `inbound_call_${call.id}`,
    accountEmail,
    fromNumber: call.caller,
    toNumber: call.lineNumber,
    forwardedTo: call.forwardedTo,
    answered: call.outcome === 'COMPLETED',
    endedAt: call.endedAt,
  }
}

function outboundData(call: Call, contactId: string | null) {
  const reached = call.voicemail ? 'voicemail' : 'connected'
  return {
    fromNumber: call.lineNumber,
    toNumber: call.forwardedTo,
    contactId,
    recordingUrl: null,
    transcript: null,
    metadata: {},
    disposition: call.answeredAt === null ? 'not_answered' : reached,
    origin: 'DASHBOARD',
    sentBy: call.sentBy,
  }
}
