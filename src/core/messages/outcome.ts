import { MESSAGE_ERROR } from '../errors.js'
import type { Line } from '../lines/line.js'
import {
  type Message,
  type MessageError,
  mayAdvance,
  OUTCOME_UNKNOWN,
  type Service,
  type Status,
} from './message.js'
import { backoffMs, lookupDelayMs, MAX_ATTEMPTS } from './retry.js'
import { refusalError, unreachableError } from './send-errors.js'
import { fallback, wasDowngraded } from './service.js'

/** The result of a send. Only `never-left` may be retried without a lookup at the carrier. */
export type SendResult =
  | {
      outcome: 'accepted'
      providerId: string
      status: 'ACCEPTED' | 'SENT' | 'SUCCESS'
      /** The service used, if the carrier chose another one. */
      service?: Service
      /**
       * The parts of a send that the carrier split, in order, each with its own id and receipts. Empty for a part
       * that the carrier did not name.
       */
      partIds?: readonly string[]
    }
  | { outcome: 'refused'; code: string; detail: string; tryNextService?: boolean }
  | { outcome: 'never-left'; code: string; detail: string; retryAfterMs?: number }
  | { outcome: 'unknown'; code: string; detail: string; parts?: TakenParts }

/** The parts of a send in doubt that the carrier has for certain: their ids, and the number of all parts. */
export interface TakenParts {
  ids: readonly string[]
  of: number
}

/** The result of a lookup of an attempt at the carrier. */
export type Evidence =
  | { found: true; providerId: string; status: Status }
  /** The carrier has no such message. Trusted only after the line's settle time. */
  | { found: false }
  /** The carrier cannot tell; with `againMs`, not yet: the lookup may be repeated after that time, for a day. */
  | { found: undefined; againMs?: number }

/** A carrier's receipt for a send, by the carrier's id or by our ref. */
export interface Receipt {
  providerId?: string
  /** Other spellings of the id that the carrier may have used in its answer. */
  otherIds?: readonly string[]
  /** The recipient. Another spelling of an id counts only if the recipient matches. */
  to?: string
  ref?: string
  /**
   * Number of parts of the send that `ref` names, if there are several: the id and the status are those of one part,
   * whose place in the text is not known.
   */
  parts?: number
  /** The service used, if the carrier chose another one. */
  service?: Service
  status: 'ACCEPTED' | 'SENT' | 'DELIVERED' | 'SUCCESS' | 'ERROR' | 'DECLINED'
  at: number
  code?: string
  detail?: string
  /**
   * Of a failure that proves that the message did not reach the phone, because the recipient is not on this service: the
   * next service of the line may take it.
   */
  tryNextService?: boolean
  /** JSON of the driver's own: how to find the send, if its answer is never stored. Kept while the receipt waits. */
  evidence?: object
}

export interface AttemptProgress {
  n: number
  service: Service
  wireAt: number
  endedAt: number | null
  lookups: number
}

/**
 * Since when the outcome of an attempt is unknown. Uploads or the carrier's rate limit may have delayed the send, so it
 * may have left at any time until then.
 */
export function unknownSince({ wireAt, endedAt }: Pick<AttemptProgress, 'wireAt' | 'endedAt'>): number {
  return endedAt ?? wireAt
}

/** The message after an attempt ended with this result. */
export function afterResult(
  message: Message,
  attempt: AttemptProgress,
  result: SendResult,
  line: { services: readonly Service[]; groupMms?: boolean },
  now: number,
): Message {
  const ended: Message = { ...message, attempts: attempt.n }
  // A receipt of an earlier attempt has settled the message: this attempt's failure changes nothing.
  if (message.nextActionAt === null && result.outcome !== 'accepted') return ended
  switch (result.outcome) {
    case 'accepted':
      return afterAcceptance(ended, withService(attempt, result.service), result.status, line, now)
    case 'refused': {
      const next = result.tryNextService ? fallback(message, attempt.service, line) : undefined
      if (next) return { ...ended, service: next, nextActionAt: now }
      return failMessage(ended, now, refusalError(message, result))
    }
    case 'never-left':
      if (attempt.n < MAX_ATTEMPTS)
        return { ...ended, nextActionAt: now + (result.retryAfterMs ?? backoffMs(attempt.n)) }
      return failMessage(ended, now, unreachableError(attempt.n, result))
    case 'unknown':
      return {
        ...ended,
        // A send in doubt is pending, even if the carrier had accepted the message by another service.
        status: 'PENDING',
        updatedAt: later(message, now),
        nextActionAt: now + lookupDelayMs(0, 1000),
      }
  }
}

export function afterAcceptance(
  message: Message,
  attempt: AttemptProgress,
  status: Status,
  line: { services: readonly Service[] },
  now: number,
): Message {
  if (!mayAdvance(message, status)) return { ...message, nextActionAt: null }
  return {
    ...message,
    status,
    error: null,
    service: attempt.service,
    wasDowngraded: wasDowngraded(line.services, attempt.service),
    sentAt: attempt.wireAt,
    updatedAt: later(message, now),
    nextActionAt: null,
  }
}

/** How long lookups are repeated while the carrier cannot tell yet. */
const PATIENCE_MS = 24 * 3_600_000

type Verdict =
  /** The carrier has the message. */
  | { kind: 'accepted'; message: Message; providerId: string }
  /** The message never left and may be sent again. */
  | { kind: 'never-left'; message: Message }
  /** The outcome cannot be found out. The line's setting decides: an error, or a resend that may duplicate. */
  | { kind: 'given-up'; message: Message }
  /** Too early to decide. */
  | { kind: 'wait'; message: Message }

/** The message with an unknown outcome after a lookup, or after a failed lookup. */
export function afterEvidence(
  message: Message,
  attempt: AttemptProgress,
  evidence: Evidence,
  line: Pick<Line, 'onUnknown' | 'settleMs'> & { services: readonly Service[] },
  now: number,
): Verdict {
  if (evidence.found) {
    const { providerId, status } = evidence
    const known = isFailure(status)
      ? undelivered(message, status, null, now)
      : afterAcceptance(message, attempt, status, line, now)
    return { kind: 'accepted', message: known, providerId }
  }
  const since = unknownSince(attempt)
  const settledAt = since + line.settleMs
  const isPatient = evidence.found === undefined && evidence.againMs !== undefined
  if (isPatient && now < since + PATIENCE_MS)
    return { kind: 'wait', message: { ...message, nextActionAt: now + Math.max(1000, evidence.againMs!) } }
  if (now < settledAt) {
    const nextActionAt =
      evidence.found === false
        ? Math.min(settledAt, now + lookupDelayMs(attempt.lookups, line.settleMs))
        : settledAt
    return { kind: 'wait', message: { ...message, nextActionAt } }
  }
  if (evidence.found === false) {
    const after =
      attempt.n < MAX_ATTEMPTS
        ? { ...message, nextActionAt: now }
        : failMessage(message, now, unreachableError(attempt.n, null))
    return { kind: 'never-left', message: after }
  }
  if (line.onUnknown === 'resend' && attempt.n < MAX_ATTEMPTS) {
    return { kind: 'given-up', message: { ...message, nextActionAt: now } }
  }
  return {
    kind: 'given-up',
    message: failMessage(message, now, {
      code: MESSAGE_ERROR.outcomeUnknown,
      message: 'The carrier did not confirm whether it accepted the message, and it was not sent again',
      reason: OUTCOME_UNKNOWN,
      detail: null,
    }),
  }
}

/** The attempt with the service that was used. */
export function withService<T extends AttemptProgress>(attempt: T, service: Service | undefined): T {
  return service ? { ...attempt, service } : attempt
}

export function isFailure(status: Status): status is 'ERROR' | 'DECLINED' {
  return status === 'ERROR' || status === 'DECLINED'
}

/** The carrier accepted the message and reports that it failed. */
export function undelivered(
  message: Message,
  status: 'ERROR' | 'DECLINED',
  detail: string | null,
  now: number,
): Message {
  const reason = status === 'ERROR' ? 'undelivered' : 'declined'
  const error = {
    code: MESSAGE_ERROR.failed,
    message: 'The carrier could not deliver the message',
    reason,
    detail,
  }
  return { ...failMessage(message, now, error), status }
}

export function failMessage(message: Message, now: number, error: MessageError): Message {
  return {
    ...message,
    status: 'ERROR',
    error,
    updatedAt: later(message, now),
    nextActionAt: null,
    dueAt: null,
  }
}

/** Two states of a message never have equal times, because the time identifies the event. */
function later(message: Message, now: number): number {
  return Math.max(now, message.updatedAt + 1)
}
