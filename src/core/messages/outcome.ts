import { MESSAGE_ERROR } from '../errors.js'
import type { Line } from '../lines/line.js'
import { needsIMessage } from './extra.js'
import {
  type Message,
  type MessageError,
  mayAdvance,
  OUTCOME_UNKNOWN,
  type Service,
  type Status,
} from './message.js'
import { backoffMs, lookupDelayMs, MAX_ATTEMPTS } from './retry.js'
import { nextService, wasDowngraded } from './service.js'

/** What a driver knows after a send. Only `never-left` may be tried again without asking the carrier. */
export type SendResult =
  | {
      outcome: 'accepted'
      providerId: string
      status: 'ACCEPTED' | 'SENT' | 'SUCCESS'
      /** The service it really went by, when the carrier chose another. */
      service?: Service
      /** When the carrier took it in parts, each with an id and receipts of its own: all of them, in order. */
      partIds?: readonly string[]
    }
  | { outcome: 'refused'; code: string; detail: string; tryNextService?: boolean }
  | { outcome: 'never-left'; code: string; detail: string; retryAfterMs?: number }
  | { outcome: 'unknown'; code: string; detail: string }

/** What a carrier says when asked about an attempt. */
export type Evidence =
  | { found: true; providerId: string; status: Status }
  /** It has no such message. Believed only after the line's settle time. */
  | { found: false }
  /** It cannot say; with `againMs`, not yet: it may be asked again after that time, for a day. */
  | { found: undefined; againMs?: number }

/** A carrier's status news about a message it took, by its id or by our ref, whichever it gives. */
export interface Receipt {
  providerId?: string
  /** Other spellings that the carrier may have given the same id in its answer. */
  otherIds?: readonly string[]
  /** Whom the message went to. Another spelling of an id counts only if this agrees. */
  to?: string
  ref?: string
  /** The service it really went by, when the carrier chose another. */
  service?: Service
  status: 'ACCEPTED' | 'SENT' | 'DELIVERED' | 'SUCCESS' | 'ERROR' | 'DECLINED'
  at: number
  code?: string
  detail?: string
}

/** A send whose end is not known. */
export interface OpenSend {
  ref: string
  /** Null while the carrier's answer is missing. */
  providerId: string | null
  /** When the carrier took it in parts: the ids of all of them. */
  partIds?: readonly string[]
  to: string
  content: string
  service: Service
  wireAt: number
  isDelivered: boolean
}

export interface Try {
  n: number
  service: Service
  wireAt: number
  endedAt: number | null
  lookups: number
}

/**
 * Since when the outcome of an attempt is unknown. Files may have travelled for long before, or the carrier's
 * "slower" held it back: until then nothing says that it did not leave just now.
 */
export function unknownSince({ wireAt, endedAt }: Pick<Try, 'wireAt' | 'endedAt'>): number {
  return endedAt ?? wireAt
}

/** The message after an attempt ended with this result. */
export function afterResult(
  message: Message,
  attempt: Try,
  result: SendResult,
  line: { services: readonly Service[] },
  now: number,
): Message {
  const ended: Message = { ...message, attempts: attempt.n }
  // News of an earlier attempt settled the message meanwhile: this one's failure takes nothing back.
  if (message.nextActionAt === null && result.outcome !== 'accepted') return ended
  switch (result.outcome) {
    case 'accepted':
      return afterAcceptance(ended, by(attempt, result.service), result.status, line, now)
    case 'refused': {
      const mayFallBack = result.tryNextService && !needsIMessage(message.extra)
      const next = mayFallBack ? nextService(line.services, attempt.service) : undefined
      if (next) return { ...ended, service: next, nextActionAt: now }
      const stranded = result.tryNextService === true && needsIMessage(message.extra)
      return failed(ended, now, {
        code: MESSAGE_ERROR.failed,
        message: stranded
          ? 'The recipient is not on iMessage, and this kind of message never goes out as a text message'
          : 'The carrier refused the message',
        reason: stranded ? 'not_imessage' : 'refused',
        detail: `${result.code}: ${result.detail}`,
      })
    }
    case 'never-left':
      if (attempt.n < MAX_ATTEMPTS)
        return { ...ended, nextActionAt: now + (result.retryAfterMs ?? backoffMs(attempt.n)) }
      return unreachable(ended, attempt, `${result.code}: ${result.detail}`, now)
    case 'unknown':
      return {
        ...ended,
        status: mayAdvance(message, 'PENDING') ? 'PENDING' : message.status,
        updatedAt: later(message, now),
        nextActionAt: now + lookupDelayMs(0, 1000),
      }
  }
}

export function afterAcceptance(
  message: Message,
  attempt: Try,
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

/** A carrier that says "not yet" is asked again for so long. */
const PATIENCE_MS = 24 * 3_600_000

export type Verdict =
  /** The carrier has it. */
  | { kind: 'accepted'; message: Message; providerId: string }
  /** It provably never went out: it may be sent again. */
  | { kind: 'never-left'; message: Message }
  /** Nobody can say and the line's rule decides: hold it as an error, or risk a second copy. */
  | { kind: 'given-up'; message: Message }
  /** Too early to tell. */
  | { kind: 'wait'; message: Message }

/** The message of unknown outcome after the carrier was asked (or could not be). */
export function afterEvidence(
  message: Message,
  attempt: Try,
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
      attempt.n < MAX_ATTEMPTS ? { ...message, nextActionAt: now } : unreachable(message, attempt, null, now)
    return { kind: 'never-left', message: after }
  }
  if (line.onUnknown === 'resend' && attempt.n < MAX_ATTEMPTS) {
    return { kind: 'given-up', message: { ...message, nextActionAt: now } }
  }
  return {
    kind: 'given-up',
    message: failed(message, now, {
      code: MESSAGE_ERROR.outcomeUnknown,
      message: 'The carrier did not say whether it took the message, and it was not sent again',
      reason: OUTCOME_UNKNOWN,
      detail: null,
    }),
  }
}

/** The message after a receipt, or undefined when the receipt tells nothing new. */
export function afterReceipt(
  message: Message,
  attempt: Try,
  receipt: Receipt,
  line: { services: readonly Service[] },
  now: number,
): Message | undefined {
  const sent = by(attempt, receipt.service)
  if (!mayAdvance(message, receipt.status)) {
    if (!receipt.service || sent.service === message.service || isFailure(message.status)) return undefined
    const { service } = sent
    return { ...message, service, wasDowngraded: wasDowngraded(line.services, service) }
  }
  const known: Message = { ...message, attempts: Math.max(message.attempts, attempt.n) }
  if (isFailure(receipt.status)) {
    const detail = receipt.code ? `${receipt.code}: ${receipt.detail ?? ''}` : (receipt.detail ?? null)
    return undelivered(known, receipt.status, detail, now)
  }
  return afterAcceptance(known, sent, receipt.status, line, now)
}

/** The attempt by the service it really took. */
export function by<T extends Try>(attempt: T, service: Service | undefined): T {
  return service ? { ...attempt, service } : attempt
}

/**
 * The states a message passes between two that we know of. A carrier that says "delivered" has sent it, whether
 * or not its word for that comes later or never; one that answered no send and reports on it has accepted it. So
 * the sequence that others hear does not depend on the order in which we were told.
 */
export function passedBetween(
  before: Message,
  after: Message,
  wasAnswered: boolean,
): { via: Message[]; after: Message } {
  const steps: Status[] = []
  if (!wasAnswered && mayAdvance(before, 'ACCEPTED') && after.status !== 'ACCEPTED') steps.push('ACCEPTED')
  if ((after.status === 'DELIVERED' || after.status === 'SUCCESS') && mayAdvance(before, 'SENT'))
    steps.push('SENT')
  const via = steps.map(
    (status, i): Message => ({ ...after, status, error: null, updatedAt: after.updatedAt + i }),
  )
  return { via, after: { ...after, updatedAt: after.updatedAt + steps.length } }
}

function isFailure(status: Status): status is 'ERROR' | 'DECLINED' {
  return status === 'ERROR' || status === 'DECLINED'
}

/** The carrier took it and says that it will not arrive. */
function undelivered(
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
  return { ...failed(message, now, error), status }
}

function unreachable(message: Message, attempt: Try, detail: string | null, now: number): Message {
  return failed(message, now, {
    code: MESSAGE_ERROR.failed,
    message: `The line could not be reached in ${attempt.n} attempts`,
    reason: 'line_unreachable',
    detail,
  })
}

export function failed(message: Message, now: number, error: MessageError): Message {
  return {
    ...message,
    status: 'ERROR',
    error,
    updatedAt: later(message, now),
    nextActionAt: null,
    dueAt: null,
  }
}

/** No two states of a message share a moment: events are told apart by it. */
function later(message: Message, now: number): number {
  return Math.max(now, message.updatedAt + 1)
}
