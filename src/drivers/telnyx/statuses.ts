import { type Fields, fieldsOf, listOf, textOf } from '../../core/fields.js'
import type { Progress } from '../../core/lines/progress.js'
import type { Service } from '../../core/messages/message.js'
import { failureIn } from './api.js'
import { wordsOf } from './codes.js'

const STATUSES: Readonly<Record<string, Progress['status']>> = {
  queued: 'ACCEPTED',
  scheduled: 'ACCEPTED',
  sending: 'ACCEPTED',
  sent: 'SENT',
  delivery_unconfirmed: 'SENT',
  // A member of a group whose carrier reports nothing.
  unknown: 'SENT',
  delivered: 'DELIVERED',
  read: 'DELIVERED',
  sending_failed: 'ERROR',
  delivery_failed: 'ERROR',
  expired: 'ERROR',
  cancelled: 'DECLINED',
}

/**
 * The status of a message of ours; undefined if Telnyx names none that is known. A message to several people is
 * delivered, or failed, once all of them have it, or none.
 */
export function progressIn(message: Fields, recipients = 1): Progress | undefined {
  const progress = statusIn(message, recipients)
  const service = serviceIn(message)
  return progress && { ...progress, ...(service ? { service } : {}) }
}

/** The service of a message, which Telnyx changes when it falls back from RCS. */
export function serviceIn({ type }: Fields): Service | undefined {
  if (type === 'RCS') return type
  return type === 'SMS' || type === 'MMS' ? 'SMS' : undefined
}

function statusIn(message: Fields, recipients: number): Progress | undefined {
  const names = listOf(message.to).map((one) => textOf(fieldsOf(one).status))
  const known = names.map((name) => (Object.hasOwn(STATUSES, name) ? STATUSES[name]! : undefined))
  const [own] = names
  const isEqual = known.length >= recipients && known.every((one) => one === known[0])
  if (!isEqual && known.some((one) => one === 'SENT' || one === 'DELIVERED')) return { status: 'SENT' }
  if (!isEqual) return undefined
  const [status] = known
  if (status === 'DECLINED') return { status, code: own!, detail: 'The message was cancelled at Telnyx' }
  if (status === 'ERROR') {
    const failure = failureIn(message.errors)
    return { status, code: String(failure?.code ?? own), detail: wordsOf(failure?.code) }
  }
  return status && { status, ...(own === 'delivery_unconfirmed' ? { isLast: true } : {}) }
}

/** Ids of messages and events. */
export function idOf(value: unknown): string | undefined {
  const text = textOf(value)
  return /^[0-9a-zA-Z-]{8,64}$/.test(text) ? text : undefined
}

/** A time that Telnyx writes, unless it is none or lies in the future. */
export function timeOf(value: unknown, now: number): number {
  const at = Date.parse(textOf(value))
  return at > 0 && at < now ? at : now
}

export function phoneOf(value: unknown): string {
  return textOf(value) || textOf(fieldsOf(value).phone_number)
}
