import { type Call, type CallOutcome, endCall } from './call.js'

/**
 * A carrier's report of a call to a line. Each report tells everything that is known so far, so reports may repeat, get
 * lost and come in any order.
 */
export interface CallNews {
  /** The carrier's id of the call, the same in all its reports. */
  providerId: string
  /** The caller. */
  from: string
  startedAt: number
  /** When somebody answered; absent if nobody has, or if this report cannot tell. */
  answeredAt?: number
  /** Absent while the call goes on. An answered call ends as COMPLETED. */
  end?: { outcome: CallOutcome; at: number }
  /** For a call whose route the host was not asked for: the phone that the carrier connected it to. */
  forwardedTo?: string
}

/** Where a carrier sends a call. */
export interface CallRoute {
  /** Null: reject the call, or it is over. */
  forwardTo: string | null
}

/** Longest call in milliseconds. Carriers are told to end a call then. */
export const LONGEST_CALL_MS = 4 * 3_600_000
/** A call that has lasted this long has ended; its reports got lost. */
export const LOST_CALL_MS = LONGEST_CALL_MS + 300_000

/** The call after a report; the same object if the report tells nothing new. Times that cannot be are corrected. */
export function afterNews(call: Call, { answeredAt, end }: CallNews, now: number): Call {
  if (call.state === 'ended' || call.state === 'turned_away') return call
  const between = (least: number, at: number) => Math.max(least, Math.min(at, now))
  const answer = answeredAt ?? call.answeredAt ?? (end?.outcome === 'COMPLETED' ? end.at : undefined)
  if (end && answer === undefined) return endCall(call, end.outcome, between(call.createdAt, end.at))
  if (answer === undefined || (!end && call.state === 'answered')) return call
  const answered: Call = {
    ...call,
    state: 'answered',
    answeredAt: between(call.createdAt, answer),
    dueAt: null,
  }
  return end ? endCall(answered, 'COMPLETED', between(answered.answeredAt!, end.at)) : answered
}

export function routeOf({ state, forwardedTo }: Call): CallRoute {
  return { forwardTo: state === 'ringing' || state === 'answered' ? forwardedTo : null }
}

/** Ends a call whose end nobody will report any more. */
export function cutOff(call: Call, now: number): Call {
  return endCall(call, call.state === 'answered' ? 'COMPLETED' : 'FAILED', now)
}
