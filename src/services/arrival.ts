import { elapsedMs, type Moment } from '../base/time.js'
import { AppError } from '../core/errors.js'

/** When a request arrived at the earliest, and how long its client waits for the answer. */
export interface Arrival {
  at: Moment
  patienceMs: number
  /** The part of the request that is stored, if it is stored in parts. */
  stored?: string
}

/**
 * From this wait on, a proxy or the client may have sent the request again, to another process. Longer than a loaded
 * process takes for a send, because looking for the retry costs a query.
 */
const LATE_MS = 2000

/** Whether a retry of the request may have been accepted before it. */
export function isLate(arrival: Arrival | undefined): boolean {
  return arrival !== undefined && elapsedMs(arrival.at) >= Math.min(LATE_MS, arrival.patienceMs)
}

/**
 * Refuses a request that waited longer than its client waits, mostly in a process that was stopped: the client has
 * sent it again or given it up.
 */
export function requireFresh(arrival: Arrival | undefined): void {
  if (!arrival) return
  const waited = elapsedMs(arrival.at)
  if (waited < arrival.patienceMs) return
  const seconds = (ms: number) => `${Math.floor(ms / 1000)} s`
  const outcome = arrival.stored ? `only ${arrival.stored} were stored` : 'was not executed'
  throw new AppError(
    'unavailable',
    `The request waited ${seconds(waited)} for its turn, longer than its client waits (${seconds(arrival.patienceMs)}), and ${outcome}. Send it again.`,
    { retryAfterMs: 1000 },
  )
}
