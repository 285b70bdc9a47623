import { type Message, mayAdvance, SERVICES, type Service, type Status } from './message.js'
import {
  type AttemptProgress,
  afterAcceptance,
  isFailure,
  type Receipt,
  undelivered,
  withService,
} from './outcome.js'
import { fallback, wasDowngraded } from './service.js'

/** The message after a receipt, or undefined if the receipt changes nothing. */
export function afterReceipt(
  message: Message,
  attempt: AttemptProgress,
  receipt: Receipt,
  line: { services: readonly Service[] },
  now: number,
): Message | undefined {
  const sent = withService(attempt, receipt.service)
  if (hasFallenBack(message, attempt) && receipt.status !== 'DELIVERED') return undefined
  if (!mayAdvance(message, receipt.status)) {
    if (!receipt.service || sent.service === message.service || isFailure(message.status)) return undefined
    const { service } = sent
    return { ...message, service, wasDowngraded: wasDowngraded(line.services, service) }
  }
  const known: Message = { ...message, attempts: Math.max(message.attempts, attempt.n) }
  if (isFailure(receipt.status)) {
    const next = receipt.tryNextService ? fallbackOf(message, attempt, line) : undefined
    if (next)
      return {
        ...known,
        service: next,
        wasDowngraded: wasDowngraded(line.services, next),
        nextActionAt: now,
      }
    const detail = receipt.code ? `${receipt.code}: ${receipt.detail ?? ''}` : (receipt.detail ?? null)
    return undelivered(known, receipt.status, detail, now)
  }
  return afterAcceptance(known, sent, receipt.status, line, now)
}

/**
 * The next service of a message that the carrier accepted and could not deliver. A message whose failure was reported
 * stays failed, and the text of a deleted message may be gone.
 */
function fallbackOf(
  message: Message,
  attempt: AttemptProgress,
  line: { services: readonly Service[] },
): Service | undefined {
  if (message.status === 'ERROR' || message.deletedAt !== null) return undefined
  return fallback(message, attempt.service, line)
}

/**
 * Whether the message has gone on from this attempt to a later service. What the carrier still reports about the
 * attempt changes nothing, except that it was delivered after all.
 */
export function hasFallenBack(message: Message, { n, service }: Pick<AttemptProgress, 'n' | 'service'>) {
  const isOver = n < message.attempts || (n === message.attempts && message.nextActionAt !== null)
  return isOver && SERVICES.indexOf(message.service) > SERVICES.indexOf(service)
}

/**
 * The states between two known states of a message. A delivered message was sent, even if the receipt for "sent" comes
 * later or never; a send without an answer that has a receipt was accepted. So the sequence of events does not depend
 * on the order of receipts.
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
